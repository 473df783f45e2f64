"""Consistency of the curated rules with each other: what no single row can show.

Two overrides of one path at one stage and step need an explicit `after:`, unless their conditions exclude each other.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from specconf.compat.database import Database
from specconf.compat.releases import Ranges
from specconf.compat.rows import Constraint
from specconf.rules.checker import condition_of
from specconf.rules.conditions import All, Condition, Deferred, Not, Test
from specconf.words import JsonValue, same


def unordered_overrides(database: Database) -> Iterator[tuple[Constraint, Constraint]]:
    """Pairs of overrides that may both be met in one release and whose order only the file would decide."""
    overrides = [c for c in database.constraints if c.sets and c.evaluated]
    before = {c.id: set(c.after) for c in database.constraints}
    for first, second in combinations(overrides, 2):
        same_place = first.stage == second.stage and first.step == second.step
        if not same_place or not set(first.sets) & set(second.sets) or not _meet(first.ranges, second.ranges):
            continue
        if _comes_before(first.id, second.id, before) or _comes_before(second.id, first.id, before):
            continue
        if not exclusive(condition_of(first), condition_of(second)):
            yield first, second


def _comes_before(earlier: str, later: str, before: dict[str, set[str]]) -> bool:
    seen, waiting = set[str](), [later]
    while waiting:
        for name in before.get(waiting.pop(), ()):
            if name == earlier:
                return True
            if name not in seen:
                seen.add(name)
                waiting.append(name)
    return False


def _meet(left: Ranges, right: Ranges) -> bool:
    runs = [[*ranges.holds_in, *ranges.unknown_in] for ranges in (left, right)]
    return any(a < d and c < b for a, b in runs[0] for c, d in runs[1])


def exclusive(left: Condition, right: Condition) -> bool:
    """Whether two conditions can be seen to exclude each other: a conjunct of one denies a conjunct of the other."""
    return any(_deny(a, b) or _deny(b, a) for a in _conjuncts(left) for b in _conjuncts(right))


def _conjuncts(condition: Condition) -> list[Condition]:
    if isinstance(condition, Deferred):
        return _conjuncts(condition.condition)
    return [c for part in condition.parts for c in _conjuncts(part)] if isinstance(condition, All) else [condition]


def _deny(left: Condition, right: Condition) -> bool:
    if isinstance(left, Not):
        return left.part == right
    if not isinstance(left, Test) or not isinstance(right, Test) or left.path != right.path:
        return False
    if {left.op, right.op} == {"set", "unset"} or {left.op, right.op} == {"in_table", "not_in_table"}:
        return left.op in {"set", "unset"} or left.right == right.right
    allowed, other = _allowed(left), _allowed(right)
    if allowed is not None and other is not None:
        return not any(same(a, b) for a in allowed for b in other)
    if allowed is not None and right.op == "ne":
        return all(same(a, right.right) for a in allowed)
    if allowed is not None and right.op in {"gt", "ge", "lt", "le"}:
        return all(not _within(a, right.op, right.right) for a in allowed)
    bounds = {left.op: left.right, right.op: right.right}
    return _apart(bounds)


def _allowed(test: Test) -> list[JsonValue] | None:
    if test.op == "eq" and not isinstance(test.right, dict):
        return [test.right]
    return list(test.right) if test.op == "in" and isinstance(test.right, list) else None


def _within(value: JsonValue, op: str, bound: object) -> bool:
    """Whether a value may satisfy a bound; values and bounds that are no numbers may."""
    if value is None:
        return False
    if isinstance(value, bool) or not isinstance(value, int | float) or not isinstance(bound, int | float):
        return True
    return {"gt": value > bound, "ge": value >= bound, "lt": value < bound, "le": value <= bound}[op]


def _apart(bounds: dict[str, object]) -> bool:
    low = bounds.get("gt", bounds.get("ge"))
    high = bounds.get("lt", bounds.get("le"))
    if not isinstance(low, int | float) or not isinstance(high, int | float):
        return False
    return low > high or (low == high and not {"ge", "le"} <= set(bounds))
