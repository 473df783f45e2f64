"""What lint found, as JSON; its schema is published in `schemas/lint.schema.json`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from specconf.report.asked import side_json
from specconf.report.entries import Entry, LaunchEntry, entries_of_lint
from specconf.report.json_report import SCHEMA, finding_json, not_checked_json

if TYPE_CHECKING:
    from specconf.lint.results import FileResult


def lint_json(results: Sequence[FileResult], notices: Iterable[str] = ()) -> dict[str, Any]:
    """The whole report as plain data."""
    entries = entries_of_lint(results)
    return {
        "schema": SCHEMA,
        "findings": [_finding(entry) for entry in entries.told()],
        "suppressed": [
            {**_finding(entry), "suppressed_by": entry.by, "reason": entry.reason or None}
            for entry in entries.suppressed
        ],
        "launches": [_launch(launch) for launch in entries.launches],
        "not_checked": [
            {**not_checked_json(item), "path": result.path, "line": launch.line}
            for result in results
            for launch in result.launches
            for item in launch.not_checked
        ],
        "files": [result.path for result in results if not result.skipped],
        "skipped": [{"path": result.path, "why": result.skipped} for result in results if result.skipped],
        "mentioned": [
            {"path": result.path, "line": place.line, "column": place.column}
            for result in results
            for place in result.mentioned
        ],
        "notices": list(notices),
    }


def _finding(entry: Entry) -> dict[str, Any]:
    """A finding: `file` holds its launch, `path` the place itself, which may be an option file that the launch names."""
    where = entry.finding.where
    return {
        **finding_json(entry.finding, entry.path),
        "end_line": (where.end_line or None) if where else None,
        "end_column": (where.end_column or None) if where else None,
        "file": entry.path,
        "launch": entry.launch or None,
        "edits": [{"path": edit.path, "start": edit.start, "end": edit.end, "text": edit.text} for edit in entry.edits],
    }


def _launch(launch: LaunchEntry) -> dict[str, Any]:
    return {
        "path": launch.path,
        "line": launch.line,
        "launch": launch.key,
        "engine": launch.engine,
        "release": launch.release or None,
        "release_from": launch.release_from,
        "release_line": launch.release_line or None,
        "asked": None if launch.side is None else side_json(launch.side),
    }
