"""What a report holds, whatever its format: findings, the matrix, launches looked at, what was not checked or skipped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from specconf.facts import UNREAD_WORDS
from specconf.findings import Finding, NotChecked, Severity

if TYPE_CHECKING:
    from specconf.rules.alternatives import Alternative


@dataclass(frozen=True, slots=True)
class Cell:
    """One engine at one release in the matrix: what specconf says about the spec there."""

    engine: str
    release: str
    findings: tuple[Finding, ...]
    not_checked: tuple[NotChecked, ...]
    alternatives: tuple[Alternative, ...] = ()
    notice: str = ""

    @property
    def verdict(self) -> str:
        """`refused`, `warnings` or `ok`."""
        severities = {f.severity for f in self.findings}
        if Severity.ERROR in severities:
            return "refused"
        return "warnings" if Severity.WARNING in severities else "ok"


@dataclass(frozen=True, slots=True)
class LaunchRow:
    """A launch that was looked at: the spec itself counts as one per engine and release."""

    path: str
    engine: str
    release: str
    release_from: str
    line: int = 0


@dataclass(slots=True)
class Report:
    """Everything one command says."""

    cells: list[Cell] = field(default_factory=list)
    launches: list[LaunchRow] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    skipped: list[tuple[str, str]] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    every_release: bool = False

    @property
    def findings(self) -> list[Finding]:
        """All findings of all cells."""
        return [finding for cell in self.cells for finding in cell.findings]

    @property
    def not_checked(self) -> list[NotChecked]:
        """Everything that could not be decided."""
        return [item for cell in self.cells for item in cell.not_checked]


def selected(findings: Iterable[Finding], select: Sequence[str], ignore: Sequence[str]) -> list[Finding]:
    """Findings that `--select` and `--ignore` leave: codes, prefixes of codes, or constraint ids."""
    return [f for f in findings if (not select or _matches(f, select)) and not _matches(f, ignore)]


def _matches(finding: Finding, patterns: Sequence[str]) -> bool:
    return any(finding.constraint == p or (p and finding.code.startswith(p)) for p in patterns)


def missing_groups(items: Iterable[NotChecked]) -> list[tuple[str, list[str]]]:
    """What could not be checked, by what is missing: (missing facts, constraint ids), the largest group first.

    Words that could not be read come before all else: what a rule needs besides them may stand in them.
    """
    groups: dict[str, list[str]] = {}
    for item in items:
        first = {UNREAD_WORDS} & item.missing
        key = " and ".join(sorted(first or item.missing)) or item.reason
        ids = groups.setdefault(key, [])
        if item.constraint not in ids:
            ids.append(item.constraint)
    return sorted(groups.items(), key=lambda group: (-len(group[1]), group[0]))


def counts(findings: Iterable[Finding]) -> Counter[Severity]:
    """How many findings of each severity."""
    return Counter(f.severity for f in findings)
