"""Lists of the speculative config that the engine checks entry by entry: draft lengths by batch size, acceptance rates."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

from specconf.engines.vllm.derived.speculation import CONFIG
from specconf.facts import Derivation, Fact, Facts, Known, Missing
from specconf.words import JsonValue


def schedule_fault(facts: Facts) -> Fact:
    """What is wrong with the rows of num_speculative_tokens_per_batch_size; None where nothing is."""
    path = f"{CONFIG}.num_speculative_tokens_per_batch_size"
    asked = facts.get(f"option.{path}")
    if not isinstance(asked, Known) or asked.value is None:
        return asked
    if not isinstance(asked.value, list) or not asked.value:
        return Missing(f"rows of {path}", "it is not a list of rows")
    rows: list[tuple[int, int, int]] = []
    for entry in asked.value:
        row = _row(entry)
        if row is None:
            return Missing(f"rows of {path}", f"{entry} is not three whole numbers")
        rows.append(row)
    return Known(_fault_of_one(rows) or _fault_of_all(sorted(rows, key=lambda row: row[0])))


def _row(entry: JsonValue) -> tuple[int, int, int] | None:
    """A row of three whole numbers; anything else is for the parser to refuse."""
    if not isinstance(entry, list) or len(entry) != 3:
        return None
    numbers = [number for number in entry if isinstance(number, int) and not isinstance(number, bool)]
    return (numbers[0], numbers[1], numbers[2]) if len(numbers) == 3 else None


def _fault_of_one(rows: list[tuple[int, int, int]]) -> str | None:
    for start, end, length in rows:
        if start <= 0 or end <= 0:
            return f"the range {start} to {end} is not positive"
        if start > end:
            return f"the range {start} to {end} ends before it starts"
        if length < 0:
            return f"{length} is no number of draft tokens"
    return None


def _fault_of_all(rows: list[tuple[int, int, int]]) -> str | None:
    for (_, end, _), (start, _, _) in itertools.pairwise(rows):
        if start <= end:
            return f"the range that starts at {start} overlaps the one before it"
    return None if rows[0][0] == 1 else f"the first range starts at {rows[0][0]}, not at 1"


def synthetic_rates_fault(facts: Facts) -> Fact:
    """What is wrong with synthetic_acceptance_rates; None where nothing is, or where they are not written."""
    rates = facts.get(f"asked.{CONFIG}.synthetic_acceptance_rates")
    if not isinstance(rates, Known) or rates.value is None:
        return rates
    if not isinstance(rates.value, list):
        return Missing("numbers of synthetic_acceptance_rates")
    numbers = [float(r) for r in rates.value if isinstance(r, int | float) and not isinstance(r, bool)]
    if len(numbers) != len(rates.value):
        return Missing("numbers of synthetic_acceptance_rates")
    if not all(0 <= rate <= 1 for rate in numbers):
        return Known("a rate is not between 0 and 1")
    if any(later > earlier for earlier, later in itertools.pairwise(numbers)):
        return Known("a rate is higher than the one before it")
    length = facts.get(f"option.{CONFIG}.num_speculative_tokens")
    if not isinstance(length, Known):
        return length
    if not isinstance(length.value, int):
        return Missing("num_speculative_tokens")
    return Known(None if len(numbers) == length.value else f"there are {len(numbers)} rates")


DERIVATIONS: Mapping[str, Derivation] = {
    "schedule_fault": schedule_fault,
    "synthetic_rates_fault": synthetic_rates_fault,
}
