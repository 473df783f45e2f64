"""A covering array: rows, one level of every factor each, until every pair of levels that go together has occurred.

Pure and deterministic: the same factors and seed give the same rows in every process. What levels mean is not known here.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import TypeAlias

from msgspec import Struct

from specconf.oracle.factors import Factor, Level

Place: TypeAlias = int  # a level, numbered through all factors
Pair: TypeAlias = tuple[Place, Place]  # of two factors, the earlier first
Row: TypeAlias = tuple[Place, ...]  # one place of every factor, in order
Places: TypeAlias = int  # a set of places, one bit each

# Rows that are tried for each row that is kept.
_TRIES = 4
# A row that is not complete after so many choices is given up.
_LIMIT = 5_000


class Coverage(Struct, frozen=True):
    """How many pairs of levels that go together occur in some rows, of how many."""

    rows: int
    covered: int
    possible: int


class Space:
    """Factors and levels as numbers, with what goes together."""

    def __init__(self, factors: Sequence[Factor]) -> None:
        self.factors = factors
        self.levels: list[Level] = [level for factor in factors for level in factor.levels]
        self.factor_of = [number for number, factor in enumerate(factors) for _ in factor.levels]
        self.of_factor: list[list[Place]] = [[] for _ in factors]
        for place, number in enumerate(self.factor_of):
            self.of_factor[number].append(place)
        self._stand: list[Places] = [0] * len(self.levels)
        self._suit: list[Places] = [0] * len(self.levels)
        for one, other in self._pairs(range(len(self.levels))):
            stand = self._agree(one, other, "needs")
            _note(self._stand, one, other, stand)
            _note(self._suit, one, other, stand and self._agree(one, other, "suits"))
        self.odd: Places = sum(1 << place for place, level in enumerate(self.levels) if level.odd)

    def _pairs(self, places: Sequence[Place]) -> Iterator[Pair]:
        return (pair for pair in combinations(places, 2) if self.factor_of[pair[0]] != self.factor_of[pair[1]])

    def _agree(self, one: Place, other: Place, how: str) -> bool:
        return self._allows(one, other, how) and self._allows(other, one, how)

    def _allows(self, one: Place, other: Place, how: str) -> bool:
        asked: Mapping[str, tuple[str, ...]] = getattr(self.levels[one], how)
        names = asked.get(self.factors[self.factor_of[other]].name)
        return names is None or self.levels[other].name in names

    def standing(self, place: Place) -> Places:
        """The levels of other factors that can be written in one launch with this one."""
        return self._stand[place]

    def suiting(self, place: Place) -> Places:
        """Those that go well with it, too."""
        return self._suit[place]

    def _ordinary(self) -> list[Place]:
        return [place for place, level in enumerate(self.levels) if not level.odd]

    def plain(self) -> list[Pair]:
        """The pairs that go together and hold nothing odd, whether or not a whole row can hold them."""
        return [pair for pair in self._pairs(self._ordinary()) if self._suit[pair[0]] >> pair[1] & 1]

    def unsuited(self) -> list[Pair]:
        """The pairs of ordinary levels that can be written together and do not go well."""
        apart = ((pair, self._stand[pair[0]] & ~self._suit[pair[0]]) for pair in self._pairs(self._ordinary()))
        return [pair for pair, others in apart if others >> pair[1] & 1]

    def oddities(self) -> list[Place]:
        """The levels that are odd by themselves."""
        return [place for place, level in enumerate(self.levels) if level.odd]


def _note(table: list[Places], one: Place, other: Place, holds: bool) -> None:
    if holds:
        table[one] |= 1 << other
        table[other] |= 1 << one


def pairs_of(row: Row) -> set[Pair]:
    """The pairs of levels that a row holds."""
    return set(combinations(row, 2))


class Wanted:
    """Pairs that no row holds yet."""

    def __init__(self, pairs: Sequence[Pair], places: int) -> None:
        self._with: list[Places] = [0] * places
        for one, other in pairs:
            _note(self._with, one, other, holds=True)

    def __contains__(self, pair: Pair) -> bool:
        return bool(self._with[pair[0]] >> pair[1] & 1)

    def among(self, place: Place, others: Places) -> int:
        """How many pairs of a level with some others are wanted."""
        return (self._with[place] & others).bit_count()

    def in_row(self, row: Row) -> int:
        """How many wanted pairs a row holds."""
        members = sum(1 << place for place in row)
        return sum(self.among(place, members) for place in row) // 2

    def remove(self, pair: Pair) -> None:
        """No longer wanted."""
        self._with[pair[0]] &= ~(1 << pair[1])
        self._with[pair[1]] &= ~(1 << pair[0])


class Filler(Struct):
    """Completes rows with levels that go well together, by weight and chance, and for the pairs that are wanted."""

    space: Space
    rng: random.Random
    wanted: Wanted | None = None
    _left: int = _LIMIT
    _liked: Places = -1

    def complete(self, fixed: Sequence[Place] = (), *, odd: bool = False) -> Row | None:
        """A row that holds what is fixed; None where there is none.

        `odd`: what is fixed need not suit itself or the rest, as long as it can be written with it; what suits it comes first.
        """
        space = self.space
        if not all(space.standing(one) >> other & 1 for one, other in combinations(fixed, 2)):
            return None
        allowed: Places = ((1 << len(space.levels)) - 1) & ~space.odd
        for place in fixed:
            allowed &= space.standing(place) if odd else space.suiting(place)
        taken = {space.factor_of[place] for place in fixed}
        order = [number for number in range(len(space.factors)) if number not in taken]
        self.rng.shuffle(order)
        self._left = _LIMIT
        self._liked = -1
        for place in fixed:
            self._liked &= space.suiting(place)
        found = self._fill(list(fixed), order, allowed)
        return None if found is None else tuple(sorted(found))

    def _fill(self, chosen: list[Place], order: Sequence[int], allowed: Places) -> list[Place] | None:
        if not order:
            return chosen
        choices = {
            number: [place for place in self.space.of_factor[number] if allowed >> place & 1] for number in order
        }
        # The factor with the fewest levels left next, where some are nearly decided: fewer ways back.
        number = min(order, key=lambda each: min(len(choices[each]), 3))
        rest = [other for other in order if other != number]
        for place in self._ordered(choices[number], sum(1 << each for each in chosen)):
            self._left -= 1
            if self._left < 0:
                return None
            found = self._fill([*chosen, place], rest, allowed & self.space.suiting(place))
            if found is not None:
                return found
        return None

    def _ordered(self, places: Sequence[Place], chosen: Places) -> list[Place]:
        """The levels to try: what suits the fixed ones first, then most wanted pairs, then by chance and weight."""

        def rank(place: Place) -> tuple[int, int, float]:
            gain = self.wanted.among(place, chosen) if self.wanted else 0
            liked = self._liked >> place & 1
            return -liked, -gain, -(self.rng.random() ** (1 / self.space.levels[place].weight))

        return [place for _, place in sorted((rank(place), place) for place in places)]


class Array(Struct, frozen=True):
    """Rows in the order in which they were found, and the pairs that rows can hold at all."""

    rows: tuple[Row, ...]
    possible: frozenset[Pair]

    def coverage(self, rows: Sequence[Row]) -> Coverage:
        """How many of the possible pairs occur in some rows."""
        seen: set[Pair] = set()
        for row in rows:
            seen |= pairs_of(row)
        return Coverage(len(rows), len(seen & self.possible), len(self.possible))


def covering_array(space: Space, rng: random.Random) -> Array:
    """Rows in which every pair of levels that go together occurs, found greedily."""
    queue = space.plain()
    wanted = Wanted(queue, len(space.levels))
    filler = Filler(space, rng, wanted)
    rng.shuffle(queue)
    impossible: set[Pair] = set()
    rows: list[Row] = []
    for pair in queue:
        if pair not in wanted:
            continue
        found = [row for row in (filler.complete(pair) for _ in range(_TRIES)) if row is not None]
        if not found:
            impossible.add(pair)
            wanted.remove(pair)
            continue
        best = max(found, key=wanted.in_row)
        rows.append(best)
        for covered in pairs_of(best):
            wanted.remove(covered)
    return Array(tuple(rows), frozenset(queue) - impossible)
