"""An engine's recorded answers beside ours: who agrees on the verdict, by stage and origin, and on the values in force."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Any

from msgspec import Struct, field

from specconf.compat.view import View
from specconf.engines.base import Engine
from specconf.findings import Stage
from specconf.oracle.asking import Question, Verdict
from specconf.oracle.engine import EngineOracle
from specconf.verify.judging import UNKNOWN, Ours, judge
from specconf.verify.observed import Observed, Row, Source, Whose, profile_of
from specconf.verify.refusing import alike


class Outcome(StrEnum):
    """How our verdict stands to the engine's."""

    AGREES = "agrees"
    FALSE_ERROR = "false error"
    NOT_CHECKED = "rejected, not checked"
    MISSED = "rejected, passed by us"


class Difference(Struct, frozen=True):
    """One value in force that is not the engine's, or that we do not know."""

    path: str
    theirs: Any
    ours: Any


class Compared(Struct, frozen=True):
    """One answered launch: the engine's row and ours.

    `compared` are the paths of the values in force that were looked at; `filled` those of them that no word of the launch
    holds and that are not what a plain launch has: the engine works them out from the rest of the launch.
    """

    row: Row
    question: Question
    ours: Ours
    outcome: Outcome
    compared: tuple[str, ...] = ()
    differences: tuple[Difference, ...] = ()
    filled: tuple[str, ...] = ()

    @property
    def stage(self) -> Stage:
        """Where the engine stopped, or how far it was asked."""
        return Stage(self.row.stage)

    @property
    def both_refuse(self) -> bool:
        """Whether the engine refuses, and we say so."""
        return self.ours.stage is not None and self.row.verdict is not Verdict.ACCEPTS

    @property
    def stages_agree(self) -> bool:
        """Whether both refuse at the same stage; true where not both refuse."""
        return not self.both_refuse or self.ours.stage is self.stage


class Tally(Struct):
    """Counts of some launches at one release: verdicts, of them the refusals by both, and those at two stages; values in
    force, and of them those that the engine fills in.
    """

    verdicts: int = 0
    agreed: int = 0
    refused: int = 0
    elsewhere: int = 0
    values: int = 0
    equal: int = 0
    unknown: int = 0
    filled: int = 0
    filled_equal: int = 0

    def add(self, one: Compared) -> None:
        """Count one launch."""
        self.verdicts += 1
        self.agreed += one.outcome is Outcome.AGREES
        self.refused += one.both_refuse
        self.elsewhere += not one.stages_agree
        self.values += len(one.compared)
        self.unknown += sum(difference.ours is UNKNOWN for difference in one.differences)
        self.equal += len(one.compared) - len(one.differences)
        differ = {difference.path for difference in one.differences}
        self.filled += len(one.filled)
        self.filled_equal += sum(path not in differ for path in one.filled)


class Agreement(Struct):
    """One release: every launch compared, and the counts by stage and whose launch it is."""

    release: str
    compared: list[Compared] = field(default_factory=list)
    unanswered: dict[str, int] = field(default_factory=dict)

    def tally(self, whose: Whose | None = None, stage: Stage | None = None, source: Source | None = None) -> Tally:
        """The counts of a stage or all, of some launches or all."""
        found = Tally()
        for one in self.compared:
            ours = (whose is None or one.row.whose is whose) and (source is None or one.row.source is source)
            if ours and (stage is None or one.stage is stage):
                found.add(one)
        return found

    def of(self, outcome: Outcome) -> Iterator[Compared]:
        """The launches with an outcome."""
        return (one for one in self.compared if one.outcome is outcome)


def compare(
    engine: Engine, oracle: EngineOracle, view: View, observed: Observed, questions: Mapping[str, Question]
) -> Agreement:
    """Judge every launch of a release's file and hold it against what the release answered."""
    found = Agreement(observed.header.release)
    for row in observed.rows:
        if row.verdict is None:
            found.unanswered[row.unanswered] = found.unanswered.get(row.unanswered, 0) + 1
            continue
        question = questions[row.launch]
        ours = judge(engine, oracle, view, question, loaded=row.loaded)
        plain = observed.header.plain.get(profile_of(question.gpu), {})
        found.compared.append(compare_one(row, question, ours, plain))
    return found


def compare_one(row: Row, question: Question, ours: Ours, plain: Mapping[str, Any] | None = None) -> Compared:
    """One answer beside our judgement. `plain`: the values in force of a plain launch."""
    accepted = row.verdict is Verdict.ACCEPTS
    if accepted == (not ours.refusals):
        outcome = Outcome.AGREES
    elif accepted:
        outcome = Outcome.FALSE_ERROR
    else:
        outcome = Outcome.NOT_CHECKED if ours.doubts else Outcome.MISSED
    if not accepted or ours.refusals:
        return Compared(row, question, ours, outcome)
    paths = tuple(path for path in row.values if ours.view.has(path) and not ours.comes_later(path))
    usual, written = plain or {}, ours.judgement.settings
    filled = tuple(path for path in paths if path not in written and not _is(row.values[path], usual, path))
    return Compared(row, question, ours, outcome, paths, tuple(_differences(row, ours, paths)), filled)


def _is(value: Any, usual: Mapping[str, Any], path: str) -> bool:
    return path in usual and alike(value, usual[path])


def _differences(row: Row, ours: Ours, paths: Iterable[str]) -> Iterator[Difference]:
    for path in paths:
        value = ours.in_force(path)
        if value is UNKNOWN or not alike(row.values[path], value):
            yield Difference(path, row.values[path], value)
