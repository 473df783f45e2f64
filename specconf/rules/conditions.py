"""Conditions of constraints: parsed once from the database, evaluated against facts in Kleene logic.

The language is that of docs/database.md. Comparing wrong types is unknown with the reason, never an exception.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol, TypeAlias

from msgspec import Struct

from specconf.compat.view import View
from specconf.errors import DatabaseError
from specconf.facts import Fact, Facts, Known, Missing, OneOf
from specconf.kleene import Ternary, agreed, ternary_any, ternary_not
from specconf.words import JsonValue


class Truth(Struct, frozen=True):
    """A three-valued answer; an unknown one names the facts that are missing."""

    value: Ternary
    missing: frozenset[str] = frozenset()


_PLAIN = {True: Truth(True), False: Truth(False)}


class Condition(Protocol):
    """Anything that can be asked for its truth."""

    def truth(self, facts: Facts, view: View) -> Truth:
        """The answer for these facts at this release."""
        ...

    def leaves(self) -> Iterable[Condition]:
        """The tests it is made of, itself if it is one."""
        ...


Predicate: TypeAlias = Callable[[Facts, View], Truth]


class _Several(Struct, frozen=True):
    """Parts combined by one law of Kleene logic; `absorbs` is the answer that needs no other part."""

    parts: tuple[Condition, ...]

    def leaves(self) -> Iterable[Condition]:
        """The leaves of all parts."""
        for part in self.parts:
            yield from part.leaves()

    def _combined(self, facts: Facts, view: View, absorbs: bool) -> Truth:
        missing: frozenset[str] | None = None
        for part in self.parts:
            answer = part.truth(facts, view)
            if answer.value is absorbs:
                return _PLAIN[absorbs]
            if answer.value is None:
                missing = answer.missing if missing is None else missing | answer.missing
        return _PLAIN[not absorbs] if missing is None else Truth(None, missing)


class All(_Several, frozen=True):
    """Every part holds."""

    parts: tuple[Condition, ...]

    def truth(self, facts: Facts, view: View) -> Truth:
        """False as soon as one part is false."""
        return self._combined(facts, view, False)


class AnyOf(_Several, frozen=True):
    """At least one part holds."""

    parts: tuple[Condition, ...]

    def truth(self, facts: Facts, view: View) -> Truth:
        """True as soon as one part is true."""
        return self._combined(facts, view, True)


class Not(Struct, frozen=True):
    """The part does not hold."""

    part: Condition

    def truth(self, facts: Facts, view: View) -> Truth:
        """The opposite of the part's answer."""
        answer = self.part.truth(facts, view)
        return Truth(ternary_not(answer.value), answer.missing)

    def leaves(self) -> Iterable[Condition]:
        """The leaves of the part."""
        return self.part.leaves()


class Deferred:
    """A part that is parsed when it is first asked: most rules are decided by their first conjunct."""

    __slots__ = ("_condition", "_data", "_groups", "_predicates")

    def __init__(self, data: Any, groups: Mapping[str, Any], predicates: Mapping[str, Predicate]) -> None:
        self._data, self._groups, self._predicates = data, groups, predicates
        self._condition: Condition | None = None

    @property
    def condition(self) -> Condition:
        """The part itself; DatabaseError when it is none."""
        if self._condition is None:
            self._condition = parse_condition(self._data, groups=self._groups, predicates=self._predicates)
        return self._condition

    def truth(self, facts: Facts, view: View) -> Truth:
        """The part's answer."""
        return self.condition.truth(facts, view)

    def leaves(self) -> Iterable[Condition]:
        """The leaves of the part."""
        return self.condition.leaves()


class Named(Struct, frozen=True):
    """A predicate in Python, for what the language cannot say."""

    name: str
    predicate: Predicate

    def truth(self, facts: Facts, view: View) -> Truth:
        """The predicate's answer."""
        return self.predicate(facts, view)

    def leaves(self) -> Iterable[Condition]:
        """Itself."""
        yield self


class Test(Struct, frozen=True, eq=False):
    """One fact against one right side. Tests that read alike are one object: many rules ask the same first."""

    path: str
    op: str
    right: Any

    def truth(self, facts: Facts, view: View) -> Truth:
        """The answer of this one test, worked out once for the options in force."""
        return facts.answer(self, self._truth, facts, view)

    def _truth(self, facts: Facts, view: View) -> Truth:
        if self.op in {"set", "unset"}:
            written = facts.written(self.path)
            answer = written if self.op == "set" else ternary_not(written)
            return Truth(answer, frozenset() if answer is not None else frozenset({self.path}))
        left = facts.get(self.path)
        if isinstance(left, Missing):
            return Truth(None, frozenset({left.needs}))
        if self.op in {"in_table", "not_in_table"}:
            return self._table_truth(left, view)
        if type(left) is Known and not isinstance(self.right, dict):  # nearly all tests: one value against a constant
            answer = _compare(self.op, left.value, self.right)
            return _PLAIN[answer] if answer is not None else Truth(None, frozenset({self.path}))
        right = evaluate(self.right, facts)
        if isinstance(right, Missing):
            return Truth(None, frozenset({right.needs}))
        answers = [_compare(self.op, a, b) for a in left.values for b in right.values]
        answer = agreed(answers)
        return Truth(answer, frozenset() if answer is not None else frozenset({self.path}))

    def _table_truth(self, left: Known | OneOf, view: View) -> Truth:
        """Whether a value is in a table; of a list, whether any member is."""
        answer = agreed(
            ternary_any(view.lookup(self.right, item)[1] for item in (value if isinstance(value, list) else [value]))
            for value in left.values
        )
        if self.op == "not_in_table":
            answer = ternary_not(answer)
        return Truth(answer, frozenset() if answer is not None else frozenset({f"table {self.right}"}))

    def leaves(self) -> Iterable[Condition]:
        """Itself."""
        yield self


_ORDER: dict[str, Callable[[Any, Any], bool]] = {
    "gt": operator.gt,
    "ge": operator.ge,
    "lt": operator.lt,
    "le": operator.le,
}
_ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "floordiv": operator.floordiv,
}
_OPERATORS = {"eq", "ne", "in", "matches", "any_in", "in_table", "not_in_table", *_ORDER}


def _is_number(value: JsonValue) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _compare(op: str, left: JsonValue, right: Any) -> Ternary:
    """One comparison; None when the types do not fit each other."""
    if op == "eq":
        return _equal(left, right)
    if op == "ne":
        return ternary_not(_equal(left, right))
    if op == "in":
        return _among(left, right) if isinstance(right, list) else None
    if op == "any_in":
        if not isinstance(left, list) or not isinstance(right, list):
            return None
        return ternary_any(_among(item, right) for item in left)
    if op == "matches":
        return re.search(right, left) is not None if isinstance(left, str) and isinstance(right, str) else None
    if _is_number(left) and _is_number(right):
        return _ORDER[op](left, right)
    return None


def _among(left: JsonValue, right: list[JsonValue]) -> Ternary:
    """Whether a list holds a value. Items of other kinds are passed over where one of its own kind stands beside them."""
    answers = {_equal(left, item) for item in right}
    if True in answers:
        return True
    return False if False in answers or not right else None


def _equal(left: JsonValue, right: JsonValue) -> Ternary:
    """Equality; values of different kinds (text against a number) are not comparable, None is unequal to all but None."""
    if left is None or right is None:
        return left is right
    if type(left) is type(right):
        return left == right
    if _kind(left) != _kind(right):
        return None
    return left == right


def _kind(value: JsonValue) -> str:
    if isinstance(value, bool):
        return "bool"
    return "number" if isinstance(value, int | float) else type(value).__name__


def evaluate(expression: Any, facts: Facts) -> Fact:
    """A right side: a constant, `{fact: path}`, or arithmetic on those."""
    if not isinstance(expression, Mapping):
        return Known(expression)
    ((op, operand),) = expression.items()
    if op == "fact":
        return facts.get(operand)
    if op == "const":
        return Known(operand)
    left, right = (evaluate(part, facts) for part in operand)
    if isinstance(left, Missing):
        return left
    if isinstance(right, Missing):
        return right
    results = {_arithmetic(op, a, b) for a in left.values for b in right.values if op in _ARITHMETIC}
    if None in results:
        return Missing(f"numbers for {op}", "wrong types")
    return Known(results.pop()) if len(results) == 1 else OneOf(tuple(sorted(r for r in results if r is not None)))


def _arithmetic(op: str, left: JsonValue, right: JsonValue) -> int | float | None:
    if not (_is_number(left) and _is_number(right)) or (op == "floordiv" and right == 0):
        return None
    try:
        result: int | float = _ARITHMETIC[op](left, right)
    except OverflowError:  # a whole number too large to become a float
        return None
    return result


def parse_condition(
    data: Any, *, groups: Mapping[str, Any] | None = None, predicates: Mapping[str, Predicate] | None = None
) -> Condition:
    """A condition from its written form; DatabaseError when it is not one."""
    if not isinstance(data, Mapping) or not data:
        raise DatabaseError(f"not a condition: {data!r}")
    parts = [_parse_entry(key, value, groups or {}, predicates or {}) for key, value in data.items()]
    return parts[0] if len(parts) == 1 else All(tuple(parts))


def _parse_entry(key: str, value: Any, groups: Mapping[str, Any], predicates: Mapping[str, Predicate]) -> Condition:
    if key in {"all", "any"}:
        inner = tuple(Deferred(part, groups, predicates) for part in value)
        return All(inner) if key == "all" else AnyOf(inner)
    if key == "not":
        return Not(parse_condition(value, groups=groups, predicates=predicates))
    if key == "predicate":
        if value not in predicates:
            raise DatabaseError(f"no predicate is called {value!r}")
        return Named(value, predicates[value])
    return _parse_test(key, value, groups)


def _parse_test(path: str, test: Any, groups: Mapping[str, Any]) -> Condition:
    if "." not in path:
        raise DatabaseError(f"not a fact: {path!r}")
    if test in ("set", "unset"):
        return _test(path, str(test), None)
    if not isinstance(test, Mapping) or not test:
        raise DatabaseError(f"{path}: not a test: {test!r}")
    tests: list[Condition] = []
    for op, written in test.items():
        if op not in _OPERATORS:
            raise DatabaseError(f"{path}: no operator is called {op!r}")
        right = _with_groups(written, groups)
        _check_right(path, op, right)
        tests.append(_test(path, op, right))
    return tests[0] if len(tests) == 1 else All(tuple(tests))


_TESTS: dict[tuple[str, str, str], Test] = {}


def _test(path: str, op: str, right: Any) -> Test:
    return _TESTS.setdefault((path, op, repr(right)), Test(path, op, right))


def _check_right(path: str, op: str, right: Any) -> None:
    """A right side that its operator could never use is a fault of the data, found when it is read."""
    if isinstance(right, Mapping):
        ((kind, operand),) = right.items()
        if kind not in {"fact", "const", *_ARITHMETIC}:
            raise DatabaseError(f"{path}: not a right side: {right!r}")
        if kind in _ARITHMETIC and not (isinstance(operand, list) and len(operand) == 2):
            raise DatabaseError(f"{path}: {kind} takes two operands: {right!r}")
    elif op in {"in", "any_in"} and not isinstance(right, list):
        raise DatabaseError(f"{path}: {op} takes a list, not {right!r}")
    elif op == "matches":
        try:
            re.compile(right)
        except (re.error, TypeError) as error:
            raise DatabaseError(f"{path}: not a pattern: {right!r} ({error})") from None


def _with_groups(right: Any, groups: Mapping[str, Any]) -> Any:
    if isinstance(right, Mapping) and set(right) == {"group"}:
        if right["group"] not in groups:
            raise DatabaseError(f"no group is called {right['group']!r}")
        return groups[right["group"]]
    return right
