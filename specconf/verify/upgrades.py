"""Upgrades held against what releases answered: what we say changes in force, beside the values that each release had."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from specconf.compat.view import View
from specconf.engines.base import Engine
from specconf.facts import Effective, Known
from specconf.oracle.asking import Question, Verdict
from specconf.oracle.engine import EngineOracle
from specconf.rules.upgrade import Outcome, compare
from specconf.verify.judging import judge
from specconf.verify.observed import Observed, Row
from specconf.verify.refusing import alike


class Seen(Struct, frozen=True):
    """One setting of one launch whose value an upgrade changes, by us or by the releases: (before, after) of both.

    `ours` is None where we say that nothing changes, `theirs` holds what the two releases had in force.
    """

    launch: str
    path: str
    ours: tuple[Any, Any] | None
    theirs: tuple[Any, Any]
    written: bool

    @property
    def agrees(self) -> bool:
        """Whether we say what the releases did."""
        return self.ours is not None and all(alike(a, b) for a, b in zip(self.ours, self.theirs, strict=True))


def changes_seen(
    engine: Engine,
    oracle: EngineOracle,
    views: tuple[View, View],
    observed: tuple[Observed, Observed],
    questions: Mapping[str, Question],
) -> Iterator[Seen]:
    """Every change of a value that both releases told of a launch that both accept, and that we know on both sides."""
    before, after = ({row.launch: row for row in one.rows if _accepted(row)} for one in observed)
    for key in before.keys() & after.keys():
        ours = [judge(engine, oracle, view, questions[key]) for view in views]
        if any(one.refusals for one in ours):
            continue
        upgrade = compare(ours[0].judgement, ours[1].judgement, engine, views)
        if upgrade.of(Outcome.REFUSED):
            continue  # for what comes after the stage that the releases were asked for: nothing is compared
        told = {change.path: (change.before, change.after) for change in upgrade.changes}
        for path in sorted(before[key].values.keys() & after[key].values.keys()):
            theirs = before[key].values[path], after[key].values[path]
            if any(one.comes_later(path) for one in ours):
                continue
            said = _values(told[path]) if path in told else None
            if path in told and said is None:
                continue  # one of several values, or a default that the engine works out
            if said is not None or not alike(*theirs):
                if said is None and path in upgrade.uncertain:
                    continue
                yield Seen(key, path, said, theirs, path in ours[0].judgement.settings)


def _accepted(row: Row) -> bool:
    return row.verdict is Verdict.ACCEPTS and not row.loaded


def _values(pair: tuple[Effective, Effective]) -> tuple[Any, Any] | None:
    found = [side.value.value for side in pair if isinstance(side.value, Known)]
    if len(found) < 2 or any(
        side.origin == "default" and value is None for side, value in zip(pair, found, strict=True)
    ):
        return None
    return found[0], found[1]
