"""The formats of a report besides text, by name; each is a module of its own, imported on use."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from specconf.findings import Severity

if TYPE_CHECKING:
    from specconf.lint.results import FileResult
    from specconf.report.entries import Entries
    from specconf.report.model import Report

FORMATS = ("text", "json", "sarif", "github", "junit")


def lint_text(form: str, results: Sequence[FileResult], notices: Iterable[str], fail_on: Severity) -> str:
    """What lint found, in a format other than text."""
    if form == "json":
        from specconf.report.json_report import render_json
        from specconf.report.lint_json import lint_json

        return render_json(lint_json(results, notices))
    from specconf.report.entries import entries_of_lint
    from specconf.report.lint_text import summary_line

    return _text(form, entries_of_lint(results), fail_on, summary_line(results))


def check_text(form: str, report: Report, fail_on: Severity) -> str:
    """What check found, in a format other than text."""
    from specconf.report.json_report import render_json, report_json

    if form == "json":
        return render_json(report_json(report))
    from specconf.report.entries import entries_of_check
    from specconf.report.text import summary_line

    return _text(form, entries_of_check(report), fail_on, summary_line(report))


def _text(form: str, entries: Entries, fail_on: Severity, summary: str) -> str:
    if form == "sarif":
        from specconf.report.json_report import render_json
        from specconf.report.sarif import sarif_json

        return render_json(sarif_json(entries, Path.cwd()))
    if form == "junit":
        from specconf.report.junit import junit_xml

        return junit_xml(entries, fail_on)
    from specconf.report.github import github_lines

    return "".join(f"{line}\n" for line in (*github_lines(entries), summary))
