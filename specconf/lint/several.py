"""Findings of one launch at several releases, as one list: where no release is stated, and where a range of them may run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from msgspec.structs import replace

from specconf.findings import Finding, Severity

if TYPE_CHECKING:
    from specconf.compat.view import View

# What a release says of a launch, as far as it may be among some findings.
StillMet: TypeAlias = "Callable[[View, Sequence[Finding]], Iterable[Finding]]"


def in_all(findings: Sequence[Finding], newest: View, others: Sequence[View], still_met: StillMet) -> list[Finding]:
    """The findings of the newest release that every other one has, too: those alone are sure where no release is stated.

    The rule of one that does not hold in all of them is out before any of them is asked, which nearly all are.
    """
    named = {finding.constraint for finding in findings}
    passing = {
        rule.id
        for rule, _ in newest.constraints
        if rule.id in named and not all(rule.ranges.holds(view.point) for view in others)
    }
    left = {_key(finding): finding for finding in findings if finding.constraint not in passing}
    for view in others:
        if not left:
            break
        met = {_key(finding) for finding in still_met(view, list(left.values()))}
        left = {key: finding for key, finding in left.items() if key in met}
    return [replace(finding, possible="every known release", releases="") for finding in left.values()]


def in_some(findings: Sequence[Finding], others: Sequence[Sequence[Finding]]) -> list[Finding]:
    """The findings of all releases of a range; what not every one of them has is a warning that says how many have it."""
    sets = [findings, *others]
    found: dict[tuple[object, ...], Finding] = {}
    times: dict[tuple[object, ...], int] = {}
    for one in sets:
        for key, finding in {_key(finding): finding for finding in one}.items():
            found.setdefault(key, finding)
            times[key] = times.get(key, 0) + 1
    return [
        finding
        if times[key] == len(sets)
        else replace(
            finding,
            severity=Severity.WARNING if finding.severity is Severity.ERROR else finding.severity,
            possible=f"{times[key]} of {len(sets)}",
        )
        for key, finding in found.items()
    ]


def _key(finding: Finding) -> tuple[object, ...]:
    return finding.code, finding.constraint, finding.option, finding.where
