"""Severity by effect, and the ceiling that evidence puts on it."""

from __future__ import annotations

import pytest

from specconf.findings import Effect, EvidenceKind, Severity, capped_severity, default_severity

ERROR, WARNING, INFO = Severity.ERROR, Severity.WARNING, Severity.INFO


@pytest.mark.parametrize(
    ("effect", "severity"),
    [
        (Effect.REJECTS, ERROR),
        (Effect.CRASHES, ERROR),
        (Effect.WRONG_OUTPUT, ERROR),
        (Effect.LOSSY, ERROR),
        (Effect.DISABLES, WARNING),
        (Effect.FALLS_BACK, WARNING),
        (Effect.IGNORES, WARNING),
        (Effect.NEEDS, WARNING),
        (Effect.OVERRIDES, WARNING),
        (Effect.REJECTS_REQUESTS, WARNING),
        (Effect.DEGRADES, INFO),
        (Effect.WARNS, INFO),
        (Effect.DEPRECATED, INFO),
    ],
)
def test_default_severity(effect: Effect, severity: Severity) -> None:
    assert default_severity(effect) is severity


def test_severity_depends_on_what_was_asked() -> None:
    assert default_severity(Effect.LOSSY, exact=False) is INFO
    assert default_severity(Effect.OVERRIDES, override_of_written=False) is INFO
    assert default_severity(Effect.DEPRECATED, removal_published=True) is WARNING


@pytest.mark.parametrize(
    ("evidence", "schema_fact", "severity"),
    [
        (EvidenceKind.OBSERVED, False, ERROR),
        (EvidenceKind.SOURCE, False, ERROR),
        (EvidenceKind.DOCS, False, WARNING),
        (EvidenceKind.DOCS, True, ERROR),
        (EvidenceKind.REPORT, True, WARNING),
        (EvidenceKind.INFERRED, False, WARNING),
    ],
)
def test_evidence_caps_errors(evidence: EvidenceKind, schema_fact: bool, severity: Severity) -> None:
    assert capped_severity(ERROR, evidence, schema_fact=schema_fact) is severity


@pytest.mark.parametrize("severity", [WARNING, INFO])
def test_evidence_never_raises_a_severity(severity: Severity) -> None:
    assert all(capped_severity(severity, kind) is severity for kind in EvidenceKind)
