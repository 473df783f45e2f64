"""The report as JSON; its schema is published in `schemas/report.schema.json`."""

from __future__ import annotations

import json
from typing import Any

from specconf.codes import CODES
from specconf.findings import Finding, NotChecked
from specconf.report.asked import limits_json, side_json
from specconf.report.model import Cell, Report, counts

SCHEMA = 1


def finding_json(finding: Finding, path: str = "") -> dict[str, Any]:
    """One finding as the contract has it; `path` is the file of a finding without a place of its own."""
    where = finding.where
    return {
        "code": finding.code,
        "name": CODES[finding.code].name,
        "constraint": finding.constraint or None,
        "severity": str(finding.severity),
        "effect": str(finding.effect) if finding.effect else None,
        "stage": str(finding.stage) if finding.stage else None,
        "evidence": str(finding.evidence) if finding.evidence else None,
        "engine": finding.engine or None,
        "release": finding.release or None,
        "checked_as": finding.checked_as or None,
        "path": where.path if where else (path or None),
        "line": (where.line or None) if where else None,
        "column": (where.column or None) if where else None,
        "option": finding.option or None,
        "message": finding.message,
        "fix": finding.fix or None,
        "releases": finding.releases or None,
        "possible": finding.possible or None,
    }


def not_checked_json(item: NotChecked) -> dict[str, Any]:
    """One undecided constraint with what is missing for it."""
    return {
        "constraint": item.constraint,
        "code": item.code,
        "missing": sorted(item.missing),
        "reason": item.reason or None,
        "engine": item.engine,
        "release": item.release,
    }


def _cell_json(cell: Cell) -> dict[str, Any]:
    total = counts(cell.findings)
    return {
        "engine": cell.engine,
        "release": cell.release,
        "verdict": cell.verdict,
        "counts": {str(severity): total[severity] for severity in sorted(total, key=lambda s: s.rank)},
        "notice": cell.notice or None,
        "alternatives": [
            {"text": a.text, "changes": dict(a.changes), "release": a.release or None} for a in cell.alternatives
        ],
        "asked": None if cell.side is None else side_json(cell.side),
    }


def report_json(report: Report) -> dict[str, Any]:
    """The whole report as plain data."""
    path = report.files[0] if len(report.files) == 1 else ""
    return {
        "schema": SCHEMA,
        "matrix": [_cell_json(cell) for cell in report.cells],
        "findings": [finding_json(f, path) for f in report.findings],
        "not_checked": [not_checked_json(item) for item in report.not_checked],
        "launches": [
            {
                "path": row.path,
                "line": row.line or None,
                "engine": row.engine,
                "release": row.release,
                "release_from": row.release_from,
            }
            for row in report.launches
        ],
        "not_known_from_asking": limits_json(report.limits),
        "files": report.files,
        "skipped": [{"path": path, "why": why} for path, why in report.skipped],
        "notices": report.notices,
    }


def render_json(data: Any) -> str:
    """JSON as every command prints it: readable, characters outside ASCII kept, stable."""
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"
