"""How far a release must agree: for each origin and stage, with the exceptions that an engine's `agreement.yaml` names.

An exception counts the launches that disagree and says why; what is mended leaves the file. Values in force have a bar too, for
our own launches and for nobody's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from importlib.resources import files
from typing import Any

import yaml
from msgspec import Struct, field

from specconf.findings import Stage
from specconf.oracle.engine import EngineOracle
from specconf.verify.compare import Agreement, Tally
from specconf.verify.observed import Source, Whose

FILE = "agreement.yaml"
LEAST_VERDICTS, LEAST_VALUES = 0.98, 0.97
# Of so few launches a share says nothing: one may disagree.
FEW = 50


class Origin(StrEnum):
    """Where launches are from, as bars and pages tell them apart."""

    OWN = "own"
    ARRAY = "array"
    CORPUS = "corpus"
    LOADED = "loaded"


_OF: Mapping[Origin, tuple[Whose, Source | None]] = {
    Origin.OWN: (Whose.OWN, None),
    Origin.ARRAY: (Whose.NOBODY, Source.ARRAY),
    Origin.CORPUS: (Whose.NOBODY, Source.CORPUS),
    Origin.LOADED: (Whose.LOADED, None),
}


def tally_of(found: Agreement, origin: Origin, stage: Stage) -> Tally:
    """The counts of an origin and stage."""
    whose, source = _OF[origin]
    return found.tally(whose, stage, source)


class Below(Struct, frozen=True):
    """At one release, of one origin and stage, so many launches disagree."""

    release: str
    origin: Origin
    stage: Stage
    disagree: int
    why: str


class Exceptions(Struct, frozen=True):
    """What an engine's file says: what may disagree, and by release why launches were not started for real."""

    below: tuple[Below, ...] = ()
    not_started: Mapping[str, str] = field(default_factory=dict)

    def allowed(self, release: str, origin: Origin, stage: Stage) -> int:
        """So many launches of an origin and stage that may disagree, whatever their number; 0 where none is named."""
        place = (release, origin, stage)
        return sum(each.disagree for each in self.below if (each.release, each.origin, each.stage) == place)


def exceptions_of(oracle: EngineOracle) -> Exceptions:
    """An engine's exceptions; none where it has no such file."""
    file = files(oracle.package).joinpath(FILE)
    if not file.is_file():
        return Exceptions()
    told: dict[str, list[dict[str, Any]]] = yaml.safe_load(file.read_text(encoding="utf-8"))
    below = [
        Below(str(row["release"]), Origin(row["origin"]), Stage(row["stage"]), int(row["disagree"]), _line(row["why"]))
        for row in told.get("below", ())
    ]
    started = {str(release): _line(row["why"]) for row in told.get("not_started", ()) for release in row["releases"]}
    return Exceptions(tuple(below), started)


def _line(text: str) -> str:
    return " ".join(text.split())


def bearable(verdicts: int) -> int:
    """How many of so many launches may disagree where no exception says otherwise."""
    return 1 if verdicts < FEW else int((1 - LEAST_VERDICTS) * verdicts + 1e-9)


def bars_missed(found: Agreement, exceptions: Exceptions) -> list[str]:
    """What of a release agrees less than it must, as one line each."""
    return [*_verdicts(found, exceptions), *_values(found)]


def _verdicts(found: Agreement, exceptions: Exceptions) -> Iterator[str]:
    for origin in Origin:
        for stage in Stage:
            tally = tally_of(found, origin, stage)
            disagree = tally.verdicts - tally.agreed
            most = max(bearable(tally.verdicts), exceptions.allowed(found.release, origin, stage))
            if disagree > most:
                yield f"{origin} at {stage}: {disagree} of {tally.verdicts} verdicts disagree, {most} may"


def _values(found: Agreement) -> Iterator[str]:
    for whose in Whose:
        tally = found.tally(whose)
        if tally.equal < LEAST_VALUES * tally.values:
            yield f"{whose}: {tally.equal} of {tally.values} values in force are equal, {LEAST_VALUES:.0%} must be"
