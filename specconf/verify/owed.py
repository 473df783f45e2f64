"""What a release's file lacks of what would be asked of it today, and what it still holds that no longer would."""

from __future__ import annotations

from msgspec import Struct

from specconf.compat.view import View
from specconf.engines.base import Engine
from specconf.oracle.engine import EngineOracle
from specconf.verify.covering import covering
from specconf.verify.launches import own_launches
from specconf.verify.observed import Observed

_OURS, _ARRAY = ("probe ", "twin "), "array "


class Owed(Struct, frozen=True):
    """Launches by origin and key: those that were not asked yet, and those that nobody would ask any more."""

    not_asked: tuple[tuple[str, str], ...] = ()
    no_longer: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        return f"{len(self.not_asked)} launches not asked yet, {len(self.no_longer)} no longer asked"


def owed(engine: Engine, oracle: EngineOracle, view: View, observed: Observed) -> Owed:
    """Hold the recorded launches against today's examples of the constraints, and against the array of the header's seed.

    Of the array as many launches are compared as were recorded; people's documents need not be at hand, so theirs are not.
    """
    recorded = {
        (origin, row.launch)
        for row in observed.rows
        if not row.loaded
        for origin in row.origins
        if origin.startswith((*_OURS, _ARRAY))
    }
    today = {(one.origin, one.question.key) for one in own_launches(engine, oracle, view)}
    seed = observed.header.seed
    size = max((_number(origin) + 1 for origin, _ in recorded if origin.startswith(f"{_ARRAY}{seed}:")), default=0)
    if size:
        today |= {(one.origin, one.question.key) for one in covering(engine.name, view, seed=seed, size=size)}
    return Owed(tuple(sorted(today - recorded)), tuple(sorted(recorded - today)))


def _number(origin: str) -> int:
    return int(origin.rpartition(":")[2])
