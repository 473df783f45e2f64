"""The condition language: truth with known, missing and several values; wrong types are unknown, never an exception."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specconf.compat.database import Database
from specconf.compat.view import View
from specconf.errors import DatabaseError
from specconf.facts import Context, Facts, Known, Missing
from specconf.rules.conditions import parse_condition
from specconf.settings import Origin, SettingsBuilder, Written
from specconf.words import Candidates, Unresolved, Value, Word

ALL = [[[0, 1]], []]
RAW = {
    "engine": "vllm",
    "releases": [["1.0", None]],
    "options": [],
    "scopes": [],
    "methods": [],
    "mapping": [],
    "steps": [],
    "constraints": [],
    "tables": {
        "closed": {"closed": True, "rows": [{"value": "a", "r": ALL, "e": "source"}]},
        "open": {"closed": False, "rows": [{"value": "a", "r": ALL, "e": "source"}]},
    },
}
VIEW: View = Database(RAW).at("1.0")


class _Model:
    def __init__(self, **known: Any) -> None:
        self.known = known

    def fact(self, path: str) -> Any:
        return Known(self.known[path]) if path in self.known else Missing(f"target {path}")


def facts(
    settings: dict[str, Value], *, defaults: dict[str, Any] | None = None, more: bool = False, **model: Any
) -> Facts:
    builder = SettingsBuilder("vllm")
    for path, value in settings.items():
        builder.write(path, Written(value, Origin.ARGV))
    if more:
        builder.unresolved(Word(None, raw="$EXTRA", may_be_many=True))
    known = defaults or {}
    return Facts(
        builder.build(),
        Context(_Model(**model), _Model(), {"hardware.gpu": "H100"}, frozenset({"lora"})),
        default=lambda path: Known(known[path]) if path in known else Missing(f"default of {path}"),
        derivations={"one": lambda _: Known(1)},
    )


def truth(condition: Any, given: Facts) -> bool | None:
    return parse_condition(condition).truth(given, VIEW).value


@pytest.mark.parametrize(
    ("condition", "answer"),
    [
        ({"option.k": {"eq": 5}}, True),
        ({"option.k": {"eq": 4}}, False),
        ({"option.k": {"gt": 4}}, True),
        ({"option.k": {"gt": "4"}}, None),
        ({"option.flag": {"eq": True}}, True),
        ({"option.flag": {"eq": 1}}, None),
        ({"option.name": {"eq": 5}}, None),
        ({"option.name": {"ne": 5}}, None),
        ({"option.name": {"eq": None}}, False),
        ({"option.name": {"in": ["eagle", 5]}}, True),
        ({"option.k": {"in": {"fact": "option.name"}}}, None),
        ({"option.list": {"any_in": {"fact": "option.k"}}}, None),
        ({"option.k": {"lt": {"mul": [10**400, 1.5]}}}, None),
        ({"option.name": {"matches": "^ea"}}, True),
        ({"option.k": {"matches": "5"}}, None),
        ({"option.k": {"in": [1, 5]}}, True),
        ({"option.list": {"any_in": [2, 9]}}, True),
        ({"option.k": {"any_in": [5]}}, None),
        ({"option.k": "set"}, True),
        ({"option.other": "set"}, False),
        ({"option.other": "unset"}, True),
        ({"option.group": "set"}, True),
        ({"option.other": {"ne": 3}}, None),
        ({"option.defaulted": {"ne": 3}}, True),
        ({"asked.defaulted": {"eq": None}}, True),
        ({"option.k": {"eq": {"add": [{"fact": "option.steps"}, 1]}}}, True),
        ({"option.k": {"eq": {"floordiv": [10, 2]}}}, True),
        ({"option.k": {"eq": {"mul": [{"fact": "option.name"}, 2]}}}, None),
        ({"env.FLAG": {"eq": "1"}}, True),
        ({"target.vocab_size": {"eq": 7}}, True),
        ({"target.hidden_size": {"eq": 7}}, None),
        ({"derived.one": {"eq": 1}}, True),
        ({"feature.lora": {"eq": True}}, True),
        ({"feature.tools": {"eq": True}}, False),
        ({"hardware.gpu": {"eq": "H100"}}, True),
        ({"workload.sampling": {"eq": "greedy"}}, None),
        ({"option.name": {"in_table": "closed"}}, False),
        ({"option.name": {"in_table": "open"}}, None),
        ({"option.name": {"not_in_table": "closed"}}, True),
        ({"all": [{"option.k": {"eq": 4}}, {"option.missing": {"eq": 1}}]}, False),
        ({"all": [{"option.k": {"eq": 5}}, {"option.missing": {"eq": 1}}]}, None),
        ({"any": [{"option.k": {"eq": 5}}, {"option.missing": {"eq": 1}}]}, True),
        ({"not": {"option.k": {"eq": 5}}}, False),
        ({"option.k": {"gt": 1, "lt": 5}}, False),
    ],
)
def test_truth(condition: Any, answer: bool | None) -> None:
    given = facts(
        {"k": 5, "steps": 4, "flag": True, "name": "eagle", "list": [1, 2], "group.member": 1, "env.FLAG": "1"},
        defaults={"defaulted": 4},
        vocab_size=7,
    )
    assert truth(condition, given) is answer


def test_an_unknown_answer_names_what_is_missing() -> None:
    condition = parse_condition({"all": [{"target.hidden_size": {"eq": 7}}, {"option.x": {"gt": 1}}]})
    assert condition.truth(facts({}), VIEW).missing == {"target hidden_size", "default of x"}


def test_candidates_decide_where_all_agree() -> None:
    given = facts({"k": Candidates((4, 5))})
    assert truth({"option.k": {"gt": 3}}, given) is True
    assert truth({"option.k": {"gt": 4}}, given) is None
    assert truth({"option.k": {"gt": 9}}, given) is False


def test_an_unresolved_value_is_written_but_unknown() -> None:
    given = facts({"k": Unresolved("$K")})
    assert truth({"option.k": "set"}, given) is True
    assert truth({"option.k": {"eq": 5}}, given) is None


def test_an_unresolved_word_makes_only_absent_options_unknown() -> None:
    given = facts({"k": 5}, defaults={"other": 1}, more=True)
    assert truth({"option.k": {"eq": 5}}, given) is True
    assert truth({"option.other": "unset"}, given) is None
    assert truth({"option.other": {"eq": 1}}, given) is None


@pytest.mark.parametrize(
    "broken",
    [
        None,
        {},
        [],
        {"k": {"eq": 1}},
        {"option.k": {"equals": 1}},
        {"option.k": "sett"},
        {"predicate": "absent"},
        {"option.k": {"in": {"group": "absent"}}},
        {"option.k": {"in": 5}},
        {"option.k": {"matches": "("}},
        {"option.k": {"matches": 5}},
        {"option.k": {"eq": {"plus": [1, 2]}}},
        {"option.k": {"eq": {"add": [1]}}},
    ],
)
def test_a_broken_condition_is_a_fault_of_the_data(broken: Any) -> None:
    with pytest.raises(DatabaseError):
        parse_condition(broken)


json_values = st.none() | st.booleans() | st.integers() | st.text(max_size=3) | st.lists(st.integers(), max_size=2)
operators = st.sampled_from(["eq", "ne", "gt", "ge", "lt", "le", "in", "any_in", "matches"])


@given(json_values, operators, json_values)
def test_no_comparison_ever_raises(left: Any, op: str, right: Any) -> None:
    """Whatever a fact turns out to be, on either side."""
    given = facts({"k": left, "right": right if not isinstance(right, str) else "a"})
    assert truth({"option.k": {op: {"fact": "option.right"}}}, given) in (True, False, None)


@given(json_values, json_values)
def test_ne_is_the_opposite_of_eq(left: Any, right: Any) -> None:
    given = facts({"k": left})
    equal = truth({"option.k": {"eq": {"const": right}}}, given)
    assert truth({"option.k": {"ne": {"const": right}}}, given) is (None if equal is None else not equal)


@given(json_values, json_values)
def test_values_of_different_kinds_are_not_compared(left: Any, right: Any) -> None:
    kinds = {"bool": bool, "number": (int, float), "text": str, "list": list}
    names = [next((n for n, k in kinds.items() if isinstance(v, k)), None) for v in (left, right)]
    equal = truth({"option.k": {"eq": {"const": right}}}, facts({"k": left}))
    if None in names:
        assert equal is (left is None and right is None)
    else:
        assert (equal is None) is (names[0] != names[1])
