"""Overrides whose order only the file would decide, and when two conditions exclude each other."""

from __future__ import annotations

from typing import Any

import pytest

from specconf.compat.database import load_database
from specconf.compat.names import ENGINE_NAMES
from specconf.rules.conditions import parse_condition
from specconf.rules.orderlint import exclusive, unordered_overrides
from tests import fakes


@pytest.mark.parametrize("engine", ENGINE_NAMES)
def test_no_two_overrides_of_one_path_are_without_an_order(engine: str) -> None:
    assert [(a.id, b.id) for a, b in unordered_overrides(load_database(engine))] == []


def _pair(**second: Any) -> list[tuple[str, str]]:
    first = fakes.constraint("v/1", {"option.a": {"eq": 1}}, set={"x": 1})
    other = fakes.constraint("v/2", second.pop("when", {"option.b": {"eq": 1}}), set={"x": 2}, **second)
    return [(a.id, b.id) for a, b in unordered_overrides(fakes.database([], [first, other]))]


def test_the_linter_finds_them() -> None:
    assert _pair() == [("v/1", "v/2")]
    assert _pair(after=["v/1"]) == []
    assert _pair(stage="worker") == []
    assert _pair(when={"option.a": {"eq": 2}}) == []
    assert _pair(r=[[[1, 2]], []]) == [("v/1", "v/2")]


def test_overrides_of_different_releases_need_no_order() -> None:
    first = fakes.constraint("v/1", {"option.a": {"eq": 1}}, set={"x": 1}, r=[[[0, 1]], []])
    second = fakes.constraint("v/2", {"option.b": {"eq": 1}}, set={"x": 2}, r=[[[1, 2]], []])
    assert not list(unordered_overrides(fakes.database([], [first, second])))


@pytest.mark.parametrize(
    ("left", "right", "answer"),
    [
        ({"option.a": {"eq": 1}}, {"option.a": {"eq": 2}}, True),
        ({"option.a": {"eq": 1}}, {"option.a": {"eq": 1}}, False),
        ({"option.a": {"in": [1, 2]}}, {"option.a": {"in": [2, 3]}}, False),
        ({"option.a": {"eq": 1}}, {"option.a": {"ne": 1}}, True),
        ({"option.a": {"eq": 1}}, {"option.a": {"gt": 1}}, True),
        ({"option.a": {"eq": 1}}, {"option.a": {"ge": 1}}, False),
        ({"option.a": {"gt": 1}}, {"option.a": {"le": 1}}, True),
        ({"option.a": {"ge": 1}}, {"option.a": {"le": 1}}, False),
        ({"option.a": "set"}, {"option.a": "unset"}, True),
        ({"option.a": {"eq": None}}, {"option.a": {"gt": 0}}, True),
        ({"option.a": {"in_table": "t"}}, {"option.a": {"not_in_table": "t"}}, True),
        ({"option.a": {"eq": 1}}, {"not": {"option.a": {"eq": 1}}}, True),
        ({"all": [{"option.b": "set"}, {"option.a": {"eq": 1}}]}, {"option.a": {"eq": 2}}, True),
        ({"any": [{"option.b": "set"}, {"option.a": {"eq": 1}}]}, {"option.a": {"eq": 2}}, False),
        ({"option.a": {"eq": True}}, {"option.a": {"eq": 1}}, True),
    ],
)
def test_exclusive(left: Any, right: Any, answer: bool) -> None:
    assert exclusive(parse_condition(left), parse_condition(right)) is answer
    assert exclusive(parse_condition(right), parse_condition(left)) is answer
