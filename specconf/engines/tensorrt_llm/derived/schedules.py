"""What stands in `draft_len_schedule`: its smallest key, and the draft lengths at its ends.

The keys are lower or upper bounds of the batch by release, which the path of the setting says.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from specconf.facts import Derivation, Fact, Facts, Known, Missing

_PATHS = tuple(f"option.speculative_config.draft_len_schedule@{kind}" for kind in ("upper", "lower"))
_Rows = list[tuple[int, int]]


def _rows(facts: Facts) -> _Rows | Fact:
    """Batch size and draft length, by batch size; Known(None) where no schedule is written."""
    found = next((fact for fact in map(facts.get, _PATHS) if isinstance(fact, Known) and fact.value is not None), None)
    if found is None:
        return facts.get(_PATHS[0])
    unreadable = Missing("rows of draft_len_schedule", "it is not a mapping of whole numbers")
    if not isinstance(found.value, dict) or not found.value:
        return unreadable
    rows: _Rows = []
    for key, length in found.value.items():
        if not key.lstrip("-").isdecimal() or not isinstance(length, int) or isinstance(length, bool):
            return unreadable
        rows.append((int(key), length))
    return sorted(rows)


def _of(number: Callable[[_Rows], int], about: str) -> Derivation:
    """A number of the rows as a fact."""

    def fact(facts: Facts) -> Fact:
        rows = _rows(facts)
        return Known(number(rows)) if isinstance(rows, list) else rows

    fact.__doc__ = about
    return fact


DERIVATIONS: Mapping[str, Derivation] = {
    "schedule_first_batch": _of(lambda rows: rows[0][0], "The smallest batch size of the schedule."),
    "schedule_first": _of(lambda rows: rows[0][1], "The draft length at the smallest batch size."),
    "schedule_last": _of(lambda rows: rows[-1][1], "The draft length at the largest batch size."),
    "schedule_longest": _of(lambda rows: max(k for _, k in rows), "The longest draft length of the schedule."),
    "schedule_shortest": _of(lambda rows: min(k for _, k in rows), "The shortest draft length of the schedule."),
}
