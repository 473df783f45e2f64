"""What an upgrade does, as Markdown for a pull request: a table of the launches, and below it what to look at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from specconf.findings import Finding, Severity
from specconf.lint.upgrading import Upgraded
from specconf.report.upgrade_text import CLEAN, NOT_COMPARED, summary_line, title, verdict
from specconf.rules.upgrade import Outcome
from specconf.secrets import masked

_SPECIAL = str.maketrans({char: f"\\{char}" for char in "\\`*_[]<>|#"})


def upgrade_markdown(results: Sequence[Upgraded]) -> str:
    """The whole report."""
    launches = [(result.shown.path, one) for result in results for one in result.launches]
    lines = ["## specconf upgrade", "", _plain(summary_line(results)), ""]
    if launches:
        lines += ["| launch | engine | from | to | outcome |", "|---|---|---|---|---|"]
    for path, one in launches:
        engine = one.judged.read.launch.engine
        cells = (
            [one.upgrade.before, one.upgrade.after, str(verdict(one.upgrade) or CLEAN)]
            if one.upgrade is not None
            else ["", "", f"{NOT_COMPARED}: {one.why_not}"]
        )
        lines.append(f"| {' | '.join(_plain(cell) for cell in (title(one, path), engine, *cells))} |")
    for path, one in launches:
        if one.upgrade is not None and one.upgrade.told:
            lines += ["", f"### {_plain(title(one, path))}", ""]
            for outcome in Outcome:
                lines += _group(outcome, one.upgrade.of(outcome))
    return "\n".join(lines) + "\n"


def _group(outcome: Outcome, findings: Sequence[Finding]) -> Iterator[str]:
    if not findings:
        return
    main = [finding for finding in findings if finding.severity is not Severity.INFO]
    rest = [finding for finding in findings if finding.severity is Severity.INFO]
    yield f"**{str(outcome).capitalize()}**"
    yield ""
    yield from map(_item, main)
    if rest and main:
        yield from ("", "<details><summary>smaller ones</summary>", "", *map(_item, rest), "", "</details>")
    else:
        yield from map(_item, rest)
    yield ""


def _item(finding: Finding) -> str:
    fix = f" {_plain(finding.fix)}" if finding.fix else ""
    line = f" (line {finding.where.line})" if finding.where is not None and finding.where.line else ""
    return f"- {finding.code}{line}: {_plain(finding.message)}{fix}"


def _plain(text: str) -> str:
    """A text of a file without what Markdown or HTML would make of it, on one line, its secrets masked."""
    return " ".join(masked(text).split()).translate(_SPECIAL)
