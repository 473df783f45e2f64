"""Values of another type that an engine reads as the member's own."""

from __future__ import annotations

from typing import Any

import pytest

from specconf.rules.values import coerced, wrong_value
from tests import fakes


@pytest.mark.parametrize(
    ("value", "kind", "read"),
    [
        ("3", "int", 3),
        (3.0, "int", 3),
        (3.5, "int", 3.5),
        ("x", "int", "x"),
        (True, "int", 1),
        ("0.5", "float", 0.5),
        (1, "float", 1.0),
        (1, "bool", True),
        (2, "bool", 2),
        ("Yes", "bool", True),
        ("off", "bool", False),
        ("maybe", "bool", "maybe"),
        (3, "str", 3),
        (None, "int", None),
        ([1], "int", [1]),
    ],
)
def test_lax_reading(value: Any, kind: str, read: Any) -> None:
    found = coerced(value, kind)
    assert found == read
    assert type(found) is type(read)


@pytest.mark.parametrize(
    ("value", "said"),
    [("w13", "w13x, w1, w3, w0, w2, w4"), ("zzz", "w0, w1, w2, w3, w4, w5")],
)  # fmt: skip
def test_of_many_choices_those_that_come_close_are_first(value: str, said: str) -> None:
    choices = [f"w{i}" if i != 13 else "w13x" for i in range(20)]
    view = fakes.database([fakes.option("kind", "--kind", type="str", choices=choices)]).at("2.0")
    (option,) = view.by_path["kind"]
    assert wrong_value(option, value) == f"one of 20 values such as {said}"
