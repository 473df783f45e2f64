"""Members of options that are objects whose members are not harvested, and whole numbers among facts."""

from __future__ import annotations

from specconf.facts import Fact, Facts, Known, Missing


def member(facts: Facts, option: str, *keys: str) -> Fact:
    """A member of an option that is an object whose members are not harvested; None where it is not written."""
    asked = facts.get(f"asked.{option}")
    for key in keys:
        if not isinstance(asked, Known):
            return asked
        asked = Known(asked.value.get(key) if isinstance(asked.value, dict) else None)
    return asked


def whole_number(fact: Fact, needs: str) -> int | Missing:
    """The whole number that a fact is; else what would have to be known."""
    if isinstance(fact, Known) and isinstance(fact.value, int) and not isinstance(fact.value, bool):
        return fact.value
    return fact if isinstance(fact, Missing) else Missing(needs)
