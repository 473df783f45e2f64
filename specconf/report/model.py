"""What a report holds, whatever its format: findings, the matrix, launches looked at, what was not checked or skipped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct, field

from specconf.findings import Finding, NotChecked, Severity

if TYPE_CHECKING:
    from specconf.oracle.sided import Limits, SideBySide
    from specconf.rules.alternatives import Alternative


class Cell(Struct, frozen=True):
    """One engine at one release in the matrix: what specconf says about the spec there, and the engine where it was asked."""

    engine: str
    release: str
    findings: tuple[Finding, ...]
    not_checked: tuple[NotChecked, ...]
    alternatives: tuple[Alternative, ...] = ()
    notice: str = ""
    side: SideBySide | None = None

    @property
    def overruled(self) -> bool:
        """Whether the engine itself refuses what specconf passes."""
        return self.side is not None and self.side.overruled

    @property
    def verdict(self) -> str:
        """`refused`, `warnings` or `ok`."""
        severities = {f.severity for f in self.findings}
        if Severity.ERROR in severities:
            return "refused"
        return "warnings" if Severity.WARNING in severities else "ok"


class LaunchRow(Struct, frozen=True):
    """A launch that was looked at: the spec itself counts as one per engine and release."""

    path: str
    engine: str
    release: str
    release_from: str
    line: int = 0


class Report(Struct):
    """Everything one command says."""

    cells: list[Cell] = field(default_factory=list)
    launches: list[LaunchRow] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    skipped: list[tuple[str, str]] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    every_release: bool = False
    limits: list[Limits] = field(default_factory=list)

    @property
    def findings(self) -> list[Finding]:
        """All findings of all cells."""
        return [finding for cell in self.cells for finding in cell.findings]

    @property
    def sides(self) -> list[SideBySide]:
        """Both verdicts of every cell whose engine was to be asked."""
        return [cell.side for cell in self.cells if cell.side is not None]

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

    A line is something to get, not a rule: words that could not be read come before all else, then configs that are not
    known at all; single facts of a model are one line for each model; what only follows from those is not named.
    """
    groups: dict[tuple[str, ...], tuple[dict[str, None], list[str]]] = {}
    for item in items:
        missing = frozenset(map(_worded, _to_get(item.missing)))
        facts, ids = groups.setdefault(_source(missing) or (item.reason,), ({}, []))
        facts.update(dict.fromkeys([" and ".join(sorted(missing)) or item.reason]))
        if item.constraint not in ids:
            ids.append(item.constraint)
    named = [(_line(source, list(facts)), ids) for source, (facts, ids) in groups.items()]
    return sorted(named, key=lambda group: (-len(group[1]), group[0]))


_FOLLOWS = ("option.", "derived.", "numbers for ")
_SHOWN = 3


def _to_get(missing: frozenset[str]) -> frozenset[str]:
    """Of what a rule needs, what would have to be got first."""
    from specconf.facts import UNREAD_WORDS

    if UNREAD_WORDS in missing:
        return frozenset({UNREAD_WORDS})
    whole = frozenset(fact for fact in missing if " config.json" in fact)
    return whole or frozenset(fact for fact in missing if not fact.startswith(_FOLLOWS)) or missing


_PLAIN = {
    "feature": "what requests use (features in a spec)",
    "hardware": "the GPU (hardware.gpu in a spec)",
    "role": "the role of this server beside others",
}


def _worded(fact: str) -> str:
    """A missing fact in words that say where it would come from."""
    root, dot, rest = fact.partition(".")
    if not dot or " " in root:
        return "a number that is not written" if fact.startswith("numbers for ") else fact
    if root in _PLAIN:
        return _PLAIN[root]
    if root in ("target", "draft"):
        return f"{root} {rest}"
    if root == "workload":
        return f"{rest.replace('_', ' ')} of the requests ({fact} in a spec)"
    if root == "derived":
        return f"{rest.replace('_', ' ')} (it follows from what is not known here)"
    return f"the value of {rest} (not written)" if root in ("option", "asked") else fact


def _source(missing: frozenset[str]) -> tuple[str, ...]:
    """Where the missing facts come from: a model for each of its single facts, else the facts themselves."""
    return tuple(sorted({fact.split()[0] if _is_single(fact) else fact for fact in missing}))


def _is_single(fact: str) -> bool:
    return fact.startswith(("target ", "draft ")) and " config.json" not in fact and not fact.endswith(")")


def _line(source: tuple[str, ...], facts: list[str]) -> str:
    """One group in words: its facts, or the first of many."""
    names = list(dict.fromkeys(name for fact in facts for name in fact.split(" and ")))
    if len(facts) == 1 or len(names) <= len(source):
        return facts[0]
    shown, more = ", ".join(names[:_SHOWN]), len(names) - _SHOWN
    return f"{shown} and {more} more" if more > 0 else shown


def counts(findings: Iterable[Finding]) -> Counter[Severity]:
    """How many findings of each severity."""
    return Counter(f.severity for f in findings)
