"""Launches whose verdict nobody wrote: a seeded covering array over an engine's factors, as questions to a release.

Every pair of levels that go together occurs, in launches that hold nothing odd; in one of three launches one thing is odd,
in about one of thirty a flag is written that the release does not have.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cached_property

from msgspec import Struct
from msgspec.structs import replace

from specconf.compat.view import View
from specconf.engines.registry import get_factors
from specconf.oracle.asking import Question
from specconf.oracle.factors import Factors, Level
from specconf.verify.asked import Asked
from specconf.verify.offered import drawn_words, missing_flags, offered
from specconf.verify.pairs import Array, Coverage, Filler, Place, Row, Space, covering_array
from specconf.verify.tiny import TARGETS, Config, draft
from specconf.words import JsonValue

TARGET_FOLDER, DRAFT_FOLDER = "models/target", "models/draft"
_ODD_EVERY, _STRAY_EVERY = 3, 33


def covering(engine_name: str, view: View, *, seed: int, size: int) -> list[Asked]:
    """So many launches of an engine for a release, the first of them those that cover most pairs."""
    return Launches(get_factors(engine_name), view, seed).asked(size)


def coverage(engine_name: str, view: View, *, seed: int, size: int) -> Coverage:
    """How many pairs of levels the first `size` launches cover, of how many."""
    return Launches(get_factors(engine_name), view, seed).coverage(size)


class Launches(Struct, frozen=True, dict=True):
    """The launches of one engine for one release and seed."""

    factors: Factors
    view: View
    seed: int

    @cached_property
    def space(self) -> Space:
        """The levels that the release has."""
        return Space(offered(self.factors, self.view))

    @cached_property
    def array(self) -> Array:
        """The rows that cover every pair."""
        return covering_array(self.space, self._chance("array"))

    def _chance(self, purpose: str) -> random.Random:
        # Seeded with a text: its bytes decide, and no hash that differs from process to process.
        return random.Random(f"{self.seed} {self.view.engine} {self.view.release} {purpose}")  # noqa: S311

    def rows(self, size: int) -> list[tuple[Row, bool]]:
        """The rows in order, and whether a flag that the release does not have is written besides."""
        ordinary, odd = self._ordinary(), self._odd()
        strayed = self._chance("stray").randrange(_STRAY_EVERY)
        rows = []
        for number in range(size):
            strays = number % _STRAY_EVERY == strayed
            rows.append((next(odd if number % _ODD_EVERY == _ODD_EVERY - 1 and not strays else ordinary), strays))
        return rows

    def _ordinary(self) -> Iterator[Row]:
        """The array, then launches by chance."""
        yield from self.array.rows
        filler = Filler(self.space, self._chance("fill"))
        while True:
            row = filler.complete()
            assert row is not None, "the plain levels of all factors stand together"
            yield row

    def _odd(self) -> Iterator[Row]:
        """Rows that hold one odd thing: in turn a level that is, and two levels that do not go well together."""
        chance = self._chance("odd")
        filler = Filler(self.space, chance)
        alone: list[tuple[Place, ...]] = [(place,) for place in self.space.oddities()]
        kinds = [kind for kind in (alone, list[tuple[Place, ...]](self.space.unsuited())) if kind]
        for kind in kinds:
            chance.shuffle(kind)
        turn = 0
        while True:
            things = kinds[turn % len(kinds)]
            thing = things[(turn // len(kinds)) % len(things)]
            row = filler.complete(thing, odd=True)
            turn += 1
            if row is not None:
                yield row

    def coverage(self, size: int) -> Coverage:
        """How many pairs the first `size` launches cover, of how many that go together."""
        return self.array.coverage([row for row, _ in self.rows(size)])

    def asked(self, size: int) -> list[Asked]:
        """The launches as questions."""
        chance = self._chance("words")
        found = []
        for number, (row, strays) in enumerate(self.rows(size)):
            stray = chance.choice([*missing_flags(self.factors, self.view), *self.factors.stray]) if strays else ""
            question = self._question(row, chance, (stray,) if stray else ())
            found.append(Asked(f"array {self.seed}:{number}", question))
        return found

    def _question(self, row: Row, chance: random.Random, more: tuple[str, ...]) -> Question:
        levels = {
            factor.name: self._drawn(self.space.levels[place], chance)
            for factor, place in zip(self.space.factors, row, strict=True)
        }
        target = next(level.target for level in levels.values() if level.target)
        models: dict[str, Config] = {TARGET_FOLDER: TARGETS[target]}
        kind = next((level for level in levels.values() if level.draft), None)
        folder = "" if kind is None else kind.folder or DRAFT_FOLDER
        if kind is not None:
            models[folder] = draft(kind.draft, TARGETS[target])
        written = self.factors.words(levels, TARGET_FOLDER, folder)
        gpu = next((level.gpu for level in levels.values() if level.gpu), None)
        return Question((*written.argv, *more), written.env, written.files, models, gpu)

    def _drawn(self, level: Level, chance: random.Random) -> Level:
        """A level with the words that chance chooses."""
        keys: dict[str, JsonValue] = {}
        for name, value in level.keys.items():
            option = self.view.names[self.factors.members][name] if value == "{drawn}" else None
            keys[name] = value if option is None else chance.choice(drawn_words(option, level))
        return replace(level, keys=keys)
