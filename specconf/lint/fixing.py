"""Fixing a text: what is proposed for each finding is tried, and kept only if the text that comes of it reads as meant.

A fix is kept if the file is still of its format and holds the same launches, the launch has the words that the fix speaks of,
its finding is gone, and nothing new is found anywhere. An error may leave a remark behind (severity info) that its launch
did not have: what the engine does with it was not known as long as it stopped. A safe fix changes nothing that something
else reads, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from msgspec import Struct, field

from specconf.findings import Finding, Severity
from specconf.lint.edits import Edit
from specconf.lint.fixes import changes_for
from specconf.lint.run import FileResult, Linter
from specconf.lint.sharing import is_shared
from specconf.lint.site import Argv, Site
from specconf.readers.fragments import Around, nothing_around

ROUNDS = 10


class Fix(Struct, frozen=True):
    """Edits that make one finding go away. `launch`: the index of its launch in the file; `argv`: its words afterwards."""

    finding: Finding
    launch: int
    edits: tuple[Edit, ...]
    argv: Argv | None = None


class Fixed(Struct):
    """A text after all that could be fixed in it. `fixed`: the findings that are gone by it; `result`: what is left."""

    before: str
    text: str
    result: FileResult
    fixed: list[Finding] = field(default_factory=list)

    @property
    def changed(self) -> bool:
        """Whether anything was fixed."""
        return self.text != self.before


def applied(text: str, edits: Sequence[Edit]) -> str:
    """A text with edits that do not overlap; every other character stays as it is."""
    parts: list[str] = []
    at = 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        parts += [text[at : edit.start], edit.text]
        at = edit.end
    return "".join([*parts, text[at:]])


def overlap(edits: Sequence[Edit], others: Sequence[Edit]) -> bool:
    """Whether two sets of edits touch the same characters, or the same place between two."""
    return any(a.start <= b.end and b.start <= a.end for a in edits for b in others)


def every_finding(_: Finding) -> bool:
    """Fix whatever can be."""
    return True


def fix_text(
    linter: Linter,
    result: FileResult,
    around: Around = nothing_around,
    *,
    unsafe: bool = False,
    wanted: Callable[[Finding], bool] = every_finding,
) -> Fixed:
    """Fix a judged text, in rounds, until nothing more comes of it. `wanted`: which findings to fix."""
    fixed = Fixed(result.text, result.text, result)
    for _ in range(ROUNDS):
        chosen = _Round(linter, fixed.result, around, unsafe=unsafe).chosen(wanted)
        if not chosen:
            break
        text = applied(fixed.text, [edit for fix in chosen for edit in fix.edits])
        after = linter.text(result.path, text, around)
        fixed.fixed += _gone(fixed.result, after)
        fixed.text, fixed.result = text, after
    return fixed


def mends(
    linter: Linter, result: FileResult, around: Around = nothing_around, *, unsafe: bool = False
) -> dict[Finding, tuple[Edit, ...]]:
    """What would mend each finding of a judged text by itself, where something would."""
    one_round = _Round(linter, result, around, unsafe=unsafe)
    found: dict[Finding, tuple[Edit, ...]] = {}
    for fixes in proposals(result, unsafe=unsafe):
        if fixes[0].finding not in found and (right := one_round.first_right(fixes)) is not None:
            found[right.finding] = right.edits
    return found


def proposals(
    result: FileResult, *, unsafe: bool, wanted: Callable[[Finding], bool] = every_finding
) -> Iterator[list[Fix]]:
    """For each finding in the order of the file: the fixes that may be tried for it, the best first."""
    found = [
        (finding, at) for at, launch in enumerate(result.launches) for finding in launch.findings if wanted(finding)
    ]
    found.sort(key=lambda pair: (pair[0].where.line, pair[0].where.column) if pair[0].where else (0, 0))
    sites = [Site(launch, result.path, result.text) for launch in result.launches]
    for finding, at in found:
        fixes = [
            Fix(finding, at, edits, argv)
            for change in changes_for(sites[at], finding, unsafe=unsafe)
            for edits, argv in sites[at].written_changes(change)
        ]
        if fixes:
            yield fixes


class _Round:
    """One pass over a text: fixes that do not touch each other, and are right alone and together."""

    def __init__(self, linter: Linter, result: FileResult, around: Around, *, unsafe: bool) -> None:
        self.linter, self.result, self.around, self.unsafe = linter, result, around, unsafe

    def chosen(self, wanted: Callable[[Finding], bool]) -> list[Fix]:
        kept: list[Fix] = []
        taken: list[Edit] = []
        for fixes in proposals(self.result, unsafe=self.unsafe, wanted=wanted):
            apart = [fix for fix in fixes if not overlap(fix.edits, taken)]
            fix = self.first_right(apart, taken)
            if fix is not None:
                kept.append(fix)
                taken += fix.edits
        return kept

    def first_right(self, fixes: Sequence[Fix], beside: Sequence[Edit] = ()) -> Fix | None:
        """The first that is right by itself, and beside other edits."""
        for fix in fixes:
            after = self._with(fix.edits)
            if not is_right(self.result, after, fix) or not (self.unsafe or self._is_its_own(after, fix)):
                continue
            if not beside or nothing_new(self.result, self._with([*beside, *fix.edits])):
                return fix
        return None

    def _is_its_own(self, after: FileResult, fix: Fix) -> bool:
        """Whether a fix changes its launch alone, and others that it is right for."""
        if changes_others(self.result, after, fix):
            return False
        return not is_shared(self.result, fix.edits, fix.launch, self.around)

    def _with(self, edits: Sequence[Edit]) -> FileResult:
        return self.linter.text(self.result.path, applied(self.result.text, edits), self.around)


def is_right(before: FileResult, after: FileResult, fix: Fix) -> bool:
    """Whether a fix does what it says and nothing else."""
    if not nothing_new(before, after):
        return False
    if fix.argv is not None:
        words = after.launches[fix.launch].read.launch.argv
        if _without_line_ends(word.value for word in words) != _without_line_ends(fix.argv):
            return False
    key = _key(fix.finding)
    return _keys(after, fix.launch)[key] < _keys(before, fix.launch)[key]


def changes_others(before: FileResult, after: FileResult, fix: Fix) -> bool:
    """Whether a fix changes the words of a launch that it mends nothing of, of which it is not known to be right there."""
    key = _key(fix.finding)
    return any(
        _words_of(before, at) != _words_of(after, at) and not _keys(after, at)[key] < _keys(before, at)[key]
        for at in range(len(before.launches))
        if at != fix.launch
    )


def _words_of(result: FileResult, at: int) -> list[str]:
    launch = result.launches[at].read.launch
    env = (f"{name}={word.text}" for name, word in launch.env)
    return [*(word.text for word in launch.argv), *env, *(text for _, text in launch.files)]


def _without_line_ends(values: Iterable[str | None]) -> list[str | None]:
    """Words without the line end of Windows that a shell takes for a part of the last one on a line."""
    return [value.rstrip("\r") if value is not None else None for value in values]


def nothing_new(before: FileResult, after: FileResult) -> bool:
    """Whether a text holds the launches that it held, and no finding that it did not hold."""
    if after.skipped or after.format != before.format or len(after.launches) != len(before.launches):
        return False
    if [one.read.launch.engine for one in after.launches] != [one.read.launch.engine for one in before.launches]:
        return False
    if Counter(f.code for f in after.findings) - Counter(f.code for f in before.findings):
        return False
    return all(_no_worse(before, after, at) for at in range(len(before.launches)))


def _no_worse(before: FileResult, after: FileResult, at: int) -> bool:
    old, new = before.launches[at].findings, after.launches[at].findings
    added = Counter(map(_key, new)) - Counter(map(_key, old))
    if not added:
        return True
    remarks = {_key(f) for f in new if f.severity is Severity.INFO}
    errors = [sum(f.severity is Severity.ERROR for f in findings) for findings in (old, new)]
    return errors[1] < errors[0] and len(new) <= len(old) and all(key in remarks for key in added)


def _key(finding: Finding) -> tuple[str, str]:
    return finding.code, finding.constraint


def _keys(result: FileResult, launch: int) -> Counter[tuple[str, str]]:
    return Counter(map(_key, result.launches[launch].findings))


def _gone(before: FileResult, after: FileResult) -> list[Finding]:
    """The findings that are no longer there."""
    gone: list[Finding] = []
    for at, launch in enumerate(before.launches):
        left = _keys(after, at)
        for finding in launch.findings:
            if left[_key(finding)] > 0:
                left[_key(finding)] -= 1
            else:
                gone.append(finding)
    return gone
