"""The report as workflow commands, which GitHub shows as annotations beside the lines of a change."""

from __future__ import annotations

from collections.abc import Iterator

from specconf.codes import CODES
from specconf.findings import Severity
from specconf.report.entries import Entries, Entry

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def github_lines(entries: Entries) -> Iterator[str]:
    """One command for each finding."""
    yield from (_command(entry) for entry in entries.told())


def _command(entry: Entry) -> str:
    found, where = entry.finding, entry.where
    named: dict[str, object] = {"file": entry.path.replace("\\", "/"), "line": max(where.line, 1)}
    if where.column:
        named["col"] = where.column
    if where.end_line >= where.line and where.end_column:
        named |= {"endLine": where.end_line}
        if where.end_line == where.line:  # elsewhere columns are not used
            named["endColumn"] = where.end_column
    named["title"] = f"{found.code} {CODES[found.code].name}"
    text = " ".join(part for part in (entry.message, found.fix) if part)
    properties = ",".join(f"{name}={escaped_property(str(value))}" for name, value in named.items())
    return f"::{_COMMANDS[found.severity]} {properties}::{escaped(text)}"


def escaped(text: str) -> str:
    """A message: what would end its line, and the sign of escapes itself."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def escaped_property(text: str) -> str:
    """A property's value: also what would end it."""
    return escaped(text).replace(":", "%3A").replace(",", "%2C")
