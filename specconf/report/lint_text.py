"""What lint found, as text: each finding with its line and a mark under the place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import click

from specconf.findings import Finding, Severity
from specconf.report.model import counts
from specconf.report.text import finding_lines, not_checked_lines
from specconf.secrets import masked
from specconf.words import Span

if TYPE_CHECKING:
    from specconf.lint.results import FileResult

_WIDEST = 160
# Characters that a terminal would obey, each as one that it shows.
_HIDDEN = dict.fromkeys((*range(32), *range(127, 160)), "�")


def render_lint(results: Sequence[FileResult], *, verbose: bool, quiet: bool, fail_on: Severity) -> str:
    """All findings by file and line, what was not checked, and how much was looked at."""
    lines: list[str] = []
    for result in results:
        shown = [f for f in result.all_findings if not quiet or f.severity.rank <= fail_on.rank]
        text = result.text.split("\n")
        for finding in shown:
            here = finding.where if finding.where is not None and finding.where.path == result.path else None
            lines += [*finding_lines(finding, verbose=verbose), *excerpt(text, here), ""]
    undecided = [item for result in results for launch in result.launches for item in launch.not_checked]
    if not quiet:
        lines += not_checked_lines(undecided, verbose=verbose)
    if verbose:
        lines += [*launch_lines(results), *mentioned_lines(results), *suppressed_lines(results)]
    lines.append(summary_line(results))
    return "\n".join(lines) + "\n"


@lru_cache(maxsize=64)  # a line with many findings is shown with each of them
def _shown(line: str) -> str:
    return masked(line.rstrip("\r").replace("\t", " ")).translate(_HIDDEN)


def _width(text: str) -> int:
    """The columns that a text takes in a terminal: wide characters take two, marks on others none."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum(0 if combining(char) else 2 if east_asian_width(char) in "WF" else 1 for char in text)


def excerpt(lines: Sequence[str], where: Span | None) -> Iterator[str]:
    """The line of a place with a mark under it; nothing where there is no such line."""
    if where is None or not where.line or where.line > len(lines):
        return
    line = _shown(lines[where.line - 1])
    column = max(where.column, 1)
    start = max(0, column - 1 - _WIDEST // 2) if len(line) > _WIDEST else 0
    shown = line[start : start + _WIDEST]
    end = where.end_column if where.end_line == where.line and where.end_column > column else len(line) + 1
    marks = max(1, min(end - column, start + _WIDEST - column + 1))
    number = str(where.line)
    yield f"  {number} | {shown}"
    if where.column:
        before, under = line[start : column - 1], line[column - 1 : column - 1 + marks]
        mark = click.style("^" * max(_width(under), 1), bold=True)
        yield f"  {' ' * len(number)} | {' ' * _width(before)}{mark}"


def launch_lines(results: Iterable[FileResult]) -> Iterator[str]:
    """Each launch that was looked at: where, which engine, which release, and where that was found."""
    for result in results:
        for launch in result.launches:
            chosen = launch.chosen
            release = chosen.text or "release not stated"
            name = f" ({launch.read.name})" if launch.read.name else ""
            what = f"{launch.read.launch.engine} {release}, {_from(chosen.how, chosen.where)}"
            yield f"launch  {result.path}:{launch.line}{name}: {what}"


def mentioned_lines(results: Iterable[FileResult]) -> Iterator[str]:
    """Each place of a script that speaks of starting an engine and where no launch was found."""
    for result in results:
        for place in result.mentioned:
            yield f"mentioned  {place}: the words that start an engine stand here, and no launch was found"


def suppressed_lines(results: Iterable[FileResult]) -> Iterator[str]:
    """Each finding that is not told, and why."""
    for result in results:
        for one in result.suppressed:
            why = ": ".join(part for part in (str(one.by), one.reason) if part)
            place = one.finding.where or result.path
            yield f"suppressed  {place}: {one.finding.severity} {one.finding.code} ({why})"


def _from(how: str, where: Span | None) -> str:
    return f"{how} (line {where.line})" if where is not None and where.line else how


def summary_line(results: Sequence[FileResult]) -> str:
    """How much was looked at and what came of it."""
    findings: list[Finding] = [finding for result in results for finding in result.all_findings]
    total = counts(findings)
    found = ", ".join(f"{total[s]} {s}{'' if total[s] == 1 or s is Severity.INFO else 's'}" for s in Severity)
    read = [result for result in results if not result.skipped]
    launches = sum(len(result.launches) for result in results)
    skipped = Counter(result.skipped for result in results if result.skipped)
    why = ", ".join(f"{number} {reason}" for reason, number in skipped.most_common())
    files = f"{len(read)} file{'' if len(read) == 1 else 's'}"
    looked = f"{files}, {launches} launch{'' if launches == 1 else 'es'} checked"
    by = Counter(str(one.by) for result in results for one in result.suppressed)
    hidden = f"; suppressed: {', '.join(f'{number} by {how}' for how, number in sorted(by.items()))}" if by else ""
    places = sum(len(result.mentioned) for result in results)
    missed = (
        f"; an engine is mentioned and no launch found at {places} place{'' if places == 1 else 's'}" if places else ""
    )
    return f"{looked}{f', skipped: {why}' if why else ''}: {found}{hidden}{missed}"
