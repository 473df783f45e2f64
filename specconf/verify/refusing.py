"""When a finding says that an engine stops, up to a stage; and when two values in force are the same."""

from __future__ import annotations

from typing import Any

from specconf.findings import Effect, Finding, Severity, Stage

STOPS = frozenset({Effect.REJECTS, Effect.CRASHES})


def refuses(finding: Finding, until: Stage = Stage.CONFIG) -> bool:
    """Whether a finding says that the engine stops by then; some errors are about launches that start, or about no engine."""
    return finding.severity is Severity.ERROR and stops(finding.effect, finding.stage, until)


def stops(effect: Effect | None, stage: Stage | None, until: Stage = Stage.CONFIG) -> bool:
    """Whether an effect at a stage is that the engine stops by then."""
    return effect in STOPS and stage is not None and stage.rank <= until.rank


def alike(theirs: Any, ours: Any) -> bool:
    """Whether two values are the same, numbers up to what rounding leaves."""
    if isinstance(theirs, float) or isinstance(ours, float):
        return _number(theirs) and _number(ours) and abs(theirs - ours) < 1e-9
    return bool(theirs == ours) and isinstance(theirs, bool) == isinstance(ours, bool)


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
