"""GPUs by name."""

from __future__ import annotations

import pytest

from specconf.hardware import memory, reported_memory


@pytest.mark.parametrize(
    ("gpu", "sizes"),
    [("H100", (81559,)), ("nvidia-h200", (143771,)), ("A100", (40960, 81920)), ("rtx_4090", (24564,)), ("Voodoo2", ())],
)
def test_what_the_driver_reports(gpu: str, sizes: tuple[int, ...]) -> None:
    assert reported_memory(gpu) == sizes


@pytest.mark.parametrize("gpu", ["T4", "A100", "A10G", "L4", "L40S", "H100", "H200", "H20", "B200", "RTX 5090"])
def test_the_smallest_card_is_about_what_is_sold(gpu: str) -> None:
    """A card reports a little less than its name's gigabytes, or a little more where those are rounded down."""
    nominal = memory(gpu)
    assert nominal is not None
    assert reported_memory(gpu)[0] / 1024 == pytest.approx(nominal, rel=0.1)
