"""The report as SARIF 2.1.0, for code scanning and editors. Columns count characters; fingerprints hold no line numbers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path, PurePath
from typing import Any
from urllib.parse import quote

from specconf import __version__
from specconf.codes import CODES
from specconf.findings import Severity
from specconf.report.entries import Entries, Entry
from specconf.words import Span

SCHEMA_URI = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
ROOT = "%SRCROOT%"
FINGERPRINT = "specconf/v1"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}


def sarif_json(entries: Entries, root: Path) -> dict[str, Any]:
    """One run. `root`: the folder that file names are relative to."""
    told = [*entries.told(), *entries.suppressed]
    codes = sorted({entry.finding.code for entry in told})
    driver = {
        "name": "specconf",
        "semanticVersion": __version__,
        "rules": [_rule(code) for code in codes],
    }
    return {
        "$schema": SCHEMA_URI,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": driver},
                "columnKind": "unicodeCodePoints",
                "originalUriBaseIds": {ROOT: {"uri": f"{root.as_uri().rstrip('/')}/"}},
                "results": [_result(entry, codes.index(entry.finding.code), root) for entry in told],
            }
        ],
    }


def _rule(name: str) -> dict[str, Any]:
    code = CODES[name]
    help_text = " ".join(part for part in (code.about, code.fix) if part)
    return {
        "id": code.code,
        "name": code.name,
        "shortDescription": {"text": code.about},
        "help": {"text": f"{help_text} `specconf explain {code.code}` says more."},
    }


def _result(entry: Entry, index: int, root: Path) -> dict[str, Any]:
    found = entry.finding
    text = " ".join(part for part in (entry.message, found.fix) if part)
    result: dict[str, Any] = {
        "ruleId": found.code,
        "ruleIndex": index,
        "level": _LEVELS[found.severity],
        "message": {"text": text},
        "locations": [{"physicalLocation": {"artifactLocation": artifact(entry.path, root), **_at(entry.where)}}],
        "partialFingerprints": {FINGERPRINT: entry.fingerprint(str(artifact(entry.path, root)["uri"]))},
        "properties": _properties(entry),
    }
    if entry.by:
        inside = entry.by == "comment"
        suppression = {"kind": "inSource" if inside else "external", "status": "accepted"}
        result["suppressions"] = [{**suppression, "justification": entry.reason or entry.by}]
    if entry.edits:
        result["fixes"] = [_fix(entry, root)]
    return result


def _properties(entry: Entry) -> dict[str, Any]:
    found = entry.finding
    named = {
        "constraint": found.constraint,
        "engine": found.engine,
        "release": found.release,
        "checkedAs": found.checked_as,
        "effect": str(found.effect or ""),
        "stage": str(found.stage or ""),
        "evidence": str(found.evidence or ""),
        "option": found.option,
        "releases": found.releases,
        "launch": entry.launch,
    }
    return {name: value for name, value in named.items() if value}


def _fix(entry: Entry, root: Path) -> dict[str, Any]:
    """All edits that mend one finding, by file; those of a file stand in their order."""
    changes = []
    for path in dict.fromkeys(edit.path for edit in entry.edits):
        mine = sorted(edit for edit in entry.edits if edit.path == path)
        replacements = [
            {"deletedRegion": _region(edit.span, empty=edit.start == edit.end), "insertedContent": {"text": edit.text}}
            for edit in mine
        ]
        changes.append({"artifactLocation": artifact(path, root), "replacements": replacements})
    return {"description": {"text": entry.finding.fix or entry.finding.message}, "artifactChanges": changes}


def _at(where: Span) -> dict[str, Any]:
    return {"region": _region(where)} if where.line else {}


def _region(where: Span, *, empty: bool = False) -> dict[str, int]:
    """A place as SARIF has it; without an end it is the rest of its line, so that an empty one says its end."""
    region = {"startLine": where.line, "startColumn": max(where.column, 1)}
    start, end = (where.line, region["startColumn"]), (where.end_line, where.end_column)
    if end > start and where.end_column:
        region |= {"endLine": where.end_line, "endColumn": where.end_column}
    elif empty:
        region |= {"endLine": start[0], "endColumn": start[1]}
    return region


def artifact(path: str, root: Path) -> dict[str, str]:
    """A file by its name relative to the root, or as a whole address where it lies outside of it."""
    absolute = Path(path) if PurePath(path).is_absolute() else root / path
    parts = _without_dots(absolute.parts)
    under = len(root.parts)
    if tuple(parts[:under]) == root.parts and len(parts) > under:
        return {
            "uri": "/".join(quote(part, safe="", errors="surrogateescape") for part in parts[under:]),
            "uriBaseId": ROOT,
        }
    return {"uri": Path(*parts).as_uri()}


def _without_dots(parts: Sequence[str]) -> list[str]:
    kept: list[str] = []
    for part in parts:
        if part == ".." and len(kept) > 1:
            kept.pop()
        elif part != ".":
            kept.append(part)
    return kept
