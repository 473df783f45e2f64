"""Values of another type that an engine reads as the member's own."""

from __future__ import annotations

from typing import Any

import pytest

from specconf.rules.values import coerced


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
