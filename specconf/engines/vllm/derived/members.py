"""Members of options that are objects whose members are not harvested."""

from __future__ import annotations

from specconf.facts import Fact, Facts, Known


def member(facts: Facts, option: str, *keys: str) -> Fact:
    """A member of an option that is an object whose members are not harvested; None where it is not written."""
    asked = facts.get(f"asked.{option}")
    for key in keys:
        if not isinstance(asked, Known):
            return asked
        asked = Known(asked.value.get(key) if isinstance(asked.value, dict) else None)
    return asked
