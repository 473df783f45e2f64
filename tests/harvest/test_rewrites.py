"""Files that set `architectures` themselves, in the ways that engines write it, and the names that they speak of."""

from __future__ import annotations

from textwrap import dedent

import pytest

from specconf.harvest.archive import from_texts
from specconf.harvest.rewrites import TABLE, rewrite_rows

CLASS = """
class AlphaConfig(Base):
    model_type = "alpha"

    def __init__(self, **values):
        {change}
"""


def values_of(text: str, file: str = "engine/configs/alpha.py") -> dict[str, int]:
    rows = rewrite_rows(from_texts({file: dedent(text)}), "1.0", ("engine/configs/",))
    assert all(row["table"] == TABLE and row["where"] == file for row in rows)
    return {row["value"]: row["evidence"][0]["line"] for row in rows}


@pytest.mark.parametrize(
    "change",
    [
        'self.architectures = ["Beta"]',
        'values["architectures"] = ["Beta"]',
        'values["architectures"][0] = "Beta"',
        'values.update({"architectures": ["Beta"]})',
        'super().__init__(architectures=["Beta"], **values)',
    ],
)
def test_a_class_that_sets_them(change: str) -> None:
    assert values_of(CLASS.format(change=change)) == {"alpha": 3}


def test_what_comparisons_speak_of() -> None:
    text = """
    def normalised(config):
        if config.get("architectures") == ["Gamma"] or config["model_type"] in ("delta", "epsilon"):
            config["architectures"] = ["Beta"]
        if config.other == "zeta":
            pass
    """
    assert values_of(text) == {"Gamma": 3, "delta": 3, "epsilon": 3}


@pytest.mark.parametrize("change", ["found = values['architectures']", "pass"])
def test_a_file_that_only_reads_them_rewrites_nothing(change: str) -> None:
    assert values_of(CLASS.format(change=change)) == {}


def test_other_folders_are_not_read() -> None:
    assert values_of(CLASS.format(change="self.architectures = []"), "engine/models/alpha.py") == {}
