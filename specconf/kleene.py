"""Three-valued (Kleene) logic: true, false, or None for unknown."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

Ternary: TypeAlias = "bool | None"


def ternary_all(values: Iterable[Ternary]) -> Ternary:
    """False if any is false, else unknown if any is unknown, else true (true when there are none)."""
    result: Ternary = True
    for value in values:
        if value is False:
            return False
        if value is None:
            result = None
    return result


def ternary_any(values: Iterable[Ternary]) -> Ternary:
    """True if any is true, else unknown if any is unknown, else false (false when there are none)."""
    result: Ternary = False
    for value in values:
        if value is True:
            return True
        if value is None:
            result = None
    return result


def ternary_not(value: Ternary) -> Ternary:
    """The opposite; unknown stays unknown."""
    return None if value is None else not value


def agreed(values: Iterable[Ternary]) -> Ternary:
    """The value all share, else unknown. Needs at least one value."""
    seen = set(values)
    if not seen:
        raise ValueError("agreement needs at least one value")
    return seen.pop() if len(seen) == 1 else None
