"""Findings and their closed vocabularies: effect, severity, evidence, stage.

A finding is a constraint met in a launch or spec, at a place, for a release. This module knows the default severity of an
effect and the ceiling that evidence puts on it; it knows no engine and no rule.
"""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct, field

from specconf.words import Span


class Effect(StrEnum):
    """What the engine does when a constraint is met."""

    REJECTS = "rejects"
    CRASHES = "crashes"
    WRONG_OUTPUT = "wrong-output"
    LOSSY = "lossy"
    DISABLES = "disables"
    FALLS_BACK = "falls-back"
    IGNORES = "ignores"
    OVERRIDES = "overrides"
    REJECTS_REQUESTS = "rejects-requests"
    NEEDS = "needs"
    DEGRADES = "degrades"
    WARNS = "warns"
    DEPRECATED = "deprecated"


class Severity(StrEnum):
    """How bad a finding is, worst first when compared by `rank`."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"

    @property
    def rank(self) -> int:
        """0 for error, 1 for warning, 2 for info."""
        return _SEVERITY_ORDER.index(self)


_SEVERITY_ORDER = (Severity.ERROR, Severity.WARNING, Severity.INFO)


class EvidenceKind(StrEnum):
    """How sure a fact is, surest first when compared by `rank`."""

    OBSERVED = "observed"
    SOURCE = "source"
    DOCS = "docs"
    REPORT = "report"
    INFERRED = "inferred"

    @property
    def rank(self) -> int:
        """0 for observed up to 4 for inferred."""
        return _EVIDENCE_ORDER.index(self)


_EVIDENCE_ORDER = tuple(EvidenceKind)


class Stage(StrEnum):
    """When in a launch's life the engine shows an effect, in the order in which a launch passes them."""

    PARSE = "parse"
    CONFIG = "config"
    WORKER = "worker"
    LOAD = "load"
    REQUEST = "request"
    OUTPUT = "output"
    NEVER = "never"

    @property
    def rank(self) -> int:
        """0 for parse up to 6 for never."""
        return _STAGE_ORDER.index(self)


_STAGE_ORDER = tuple(Stage)

_DEFAULT_SEVERITY = {
    Effect.REJECTS: Severity.ERROR,
    Effect.CRASHES: Severity.ERROR,
    Effect.WRONG_OUTPUT: Severity.ERROR,
    Effect.LOSSY: Severity.ERROR,
    Effect.DISABLES: Severity.WARNING,
    Effect.FALLS_BACK: Severity.WARNING,
    Effect.IGNORES: Severity.WARNING,
    Effect.NEEDS: Severity.WARNING,
    Effect.OVERRIDES: Severity.WARNING,
    Effect.REJECTS_REQUESTS: Severity.WARNING,
    Effect.DEGRADES: Severity.INFO,
    Effect.WARNS: Severity.INFO,
    Effect.DEPRECATED: Severity.INFO,
}


def default_severity(
    effect: Effect, *, exact: bool = True, override_of_written: bool = True, removal_published: bool = False
) -> Severity:
    """The severity of an effect before evidence caps it.

    `exact`: the spec asks for exact verification (lossy is then an error, else info). `override_of_written`: an overridden
    value was written rather than a default. `removal_published`: the release that removes a deprecated option is known.
    """
    if effect is Effect.LOSSY and not exact:
        return Severity.INFO
    if effect is Effect.OVERRIDES and not override_of_written:
        return Severity.INFO
    if effect is Effect.DEPRECATED and removal_published:
        return Severity.WARNING
    return _DEFAULT_SEVERITY[effect]


def capped_severity(severity: Severity, evidence: EvidenceKind, *, schema_fact: bool = False) -> Severity:
    """`severity` under the ceiling of its evidence.

    `observed` and `source` may be errors; `docs` only for schema facts (a key or value absent from that release's own
    reference); `report` and `inferred` are at most warnings.
    """
    if severity is not Severity.ERROR or evidence.rank <= EvidenceKind.SOURCE.rank:
        return severity
    if evidence is EvidenceKind.DOCS and schema_fact:
        return severity
    return Severity.WARNING


class Finding(Struct, frozen=True):
    """One thing to tell the user. `checked_as` is the release whose facts were used, `release` the one that was stated."""

    code: str
    severity: Severity
    message: str
    engine: str = ""
    release: str = ""
    checked_as: str = ""
    constraint: str = ""
    effect: Effect | None = None
    stage: Stage | None = None
    evidence: EvidenceKind | None = None
    fix: str = ""
    where: Span | None = None
    option: str = ""
    releases: str = ""
    possible: str = ""


class NotChecked(Struct, frozen=True):
    """A constraint that could not be decided, with the facts that are missing for it."""

    constraint: str
    code: str
    missing: frozenset[str] = field(default_factory=frozenset)
    reason: str = ""
    engine: str = ""
    release: str = ""


def worst(findings: list[Finding]) -> Severity | None:
    """The worst severity among findings, or None when there are none."""
    return min((f.severity for f in findings), key=lambda s: s.rank, default=None)
