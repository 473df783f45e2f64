"""Covering arrays: every pair that goes together occurs, nothing that cannot stand together does, and a seed decides it all."""

from __future__ import annotations

import random
from itertools import combinations

import pytest

from specconf.oracle.factors import Factor, Level
from specconf.verify.pairs import Filler, Space, covering_array


def factor(name: str, *levels: str | Level) -> Factor:
    return Factor(name, tuple(level if isinstance(level, Level) else Level(level) for level in levels))


FREE = (factor("a", "1", "2", "3"), factor("b", "1", "2", "3"), factor("c", "1", "2"), factor("d", "1", "2", "3"))
BOUND = (
    factor(
        "method",
        Level("none", needs={"draft": ("absent",)}),
        Level("head", suits={"draft": ("head",)}),
        Level("lookup", suits={"draft": ("absent",)}),
    ),
    factor("draft", "absent", "head", "other"),
    factor("length", "3", "8", Level("0", odd=True)),
    factor("size", "1", Level("2", suits={"length": ("3",)})),
)


def rows(factors: tuple[Factor, ...], seed: str = "7") -> tuple[tuple[int, ...], ...]:
    return covering_array(Space(factors), random.Random(seed)).rows


def names(space: Space, row: tuple[int, ...]) -> tuple[str, ...]:
    return tuple(space.levels[place].name for place in row)


def place(space: Space, factor: str, level: str) -> int:
    return next(
        each
        for each, found in enumerate(space.levels)
        if (space.factors[space.factor_of[each]].name, found.name) == (factor, level)
    )


def test_every_pair_of_free_factors_occurs() -> None:
    space, found = Space(FREE), rows(FREE)
    for one, other in combinations(range(len(FREE)), 2):
        seen = {(names(space, row)[one], names(space, row)[other]) for row in found}
        assert len(seen) == len(FREE[one].levels) * len(FREE[other].levels)


def test_far_fewer_rows_than_combinations() -> None:
    assert 9 <= len(rows(FREE)) <= 16  # of 54


def test_coverage_counts_the_pairs_of_the_rows_given() -> None:
    array = covering_array(Space(FREE), random.Random("7"))
    assert array.coverage([]).covered == 0
    assert array.coverage(array.rows[:1]).covered == 6
    assert array.coverage(array.rows[:1] * 2).covered == 6
    assert array.coverage(array.rows).covered == array.coverage([]).possible == 9 + 6 + 9 + 6 + 9 + 6


def test_rows_hold_only_what_goes_together() -> None:
    space = Space(BOUND)
    array = covering_array(space, random.Random("7"))
    for row in map(tuple, array.rows):
        method, draft, length, size = names(space, row)
        assert (method, draft) in {("none", "absent"), ("head", "head"), ("lookup", "absent")}
        assert length in ("3", "8")
        assert (length, size) != ("8", "2")
    assert array.coverage(array.rows).covered == len(array.possible)


def test_pairs_that_no_row_can_hold_are_not_asked_for() -> None:
    # `other` suits no method, so nothing that holds it is possible, though it goes with every length.
    space = Space(BOUND)
    other = place(space, "draft", "other")
    assert (other, place(space, "length", "3")) in space.plain()
    assert all(other not in pair for pair in covering_array(space, random.Random("7")).possible)


def test_an_odd_thing_is_held_by_a_row_that_is_sound_otherwise() -> None:
    space = Space(BOUND)
    row = Filler(space, random.Random("7")).complete(
        (place(space, "method", "head"), place(space, "draft", "other")), odd=True
    )
    assert row is not None
    assert names(space, row)[:2] == ("head", "other")
    assert names(space, row)[2] != "0"


def test_what_cannot_be_written_together_has_no_row() -> None:
    space = Space(BOUND)
    apart = (place(space, "method", "none"), place(space, "draft", "head"))
    assert Filler(space, random.Random("7")).complete(apart, odd=True) is None


@pytest.mark.parametrize("factors", [FREE, BOUND], ids=["free", "bound"])
def test_the_seed_decides(factors: tuple[Factor, ...]) -> None:
    assert rows(factors) == rows(factors)
    assert rows(factors) != rows(factors, seed="8")


def test_weights_decide_between_levels_that_add_nothing() -> None:
    space = Space((factor("a", Level("often", weight=9), Level("rarely", weight=1)),))
    filler = Filler(space, random.Random("7"))
    chosen = [filler.complete() for _ in range(1000)]
    assert 820 < chosen.count((0,)) < 960


def test_what_suits_an_odd_thing_comes_first() -> None:
    odd = Level("odd", odd=True, suits={"draft": ("head",)})
    space = Space((factor("method", "plain", odd), factor("draft", Level("absent", weight=50), "head")))
    row = Filler(space, random.Random("7")).complete((place(space, "method", "odd"),), odd=True)
    assert row is not None
    assert names(space, row) == ("odd", "head")
