"""Which findings are left unsaid because another one of the same launch says more: the cause of both, or that the engine does
not start.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from specconf.findings import Effect, Finding, NotChecked, Severity, Stage

# What an engine that starts would do or say on its way.
_ON_THE_WAY = frozenset({Effect.DEGRADES, Effect.WARNS, Effect.OVERRIDES})


def heard(
    findings: Iterable[Finding], not_checked: Iterable[NotChecked], gives_way: Mapping[str, frozenset[str]]
) -> tuple[list[Finding], list[NotChecked]]:
    """The findings that are said, and what was not checked that still matters.

    `gives_way`: by constraint, those that are about the same cause. It is left out where one of them was met. Once a launch
    is refused while it is read or configured, infos about later stages are left out, too; errors and warnings there stay,
    since they come up when the first is mended.
    """
    found = list(findings)
    met = {finding.constraint for finding in found if finding.constraint}
    end = min((_rank(finding) for finding in found if _refuses(finding)), default=Stage.NEVER.rank)
    said = [f for f in found if not _said_by(f.constraint, met, gives_way) and not (_passing(f) and _rank(f) > end)]
    return said, [row for row in not_checked if not _said_by(row.constraint, met, gives_way)]


def always_said(finding: Finding) -> bool:
    """Whether a finding is said whatever else is found: it is of no rule, and no remark about a later stage."""
    return not finding.constraint and not (_passing(finding) and _rank(finding) > 0)


def _said_by(constraint: str, met: set[str], gives_way: Mapping[str, frozenset[str]]) -> bool:
    return not met.isdisjoint(gives_way.get(constraint, frozenset()))


def _rank(finding: Finding) -> int:
    return finding.stage.rank if finding.stage else 0


def _refuses(finding: Finding) -> bool:
    early = finding.stage in (Stage.PARSE, Stage.CONFIG)
    return early and finding.severity is Severity.ERROR and finding.effect is Effect.REJECTS


def _passing(finding: Finding) -> bool:
    return finding.severity is Severity.INFO and finding.effect in _ON_THE_WAY
