"""What an upgrade does, as JSON; its schema is published in `schemas/upgrade.schema.json`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from specconf.lint.upgrading import Compared, Upgraded
from specconf.report.json_report import SCHEMA, finding_json
from specconf.report.upgrade_text import CLEAN, verdict
from specconf.rules.checker import shown_effective
from specconf.rules.upgrade import Change


def upgrade_json(results: Sequence[Upgraded], notices: Iterable[str] = ()) -> dict[str, Any]:
    """The whole report as plain data."""
    return {
        "schema": SCHEMA,
        "launches": [_launch(result, one) for result in results for one in result.launches],
        "files": [result.shown.path for result in results if not result.shown.skipped],
        "skipped": [
            {"path": result.shown.path, "why": result.shown.skipped} for result in results if result.shown.skipped
        ],
        "notices": list(notices),
    }


def _launch(result: Upgraded, one: Compared) -> dict[str, Any]:
    upgrade = one.upgrade
    path = result.shown.path
    return {
        "path": path,
        "line": one.judged.line,
        "name": one.judged.read.name or None,
        "engine": one.judged.read.launch.engine,
        "from": upgrade.before if upgrade else (one.judged.chosen.text or None),
        "to": upgrade.after if upgrade else None,
        "outcome": str(verdict(upgrade) or CLEAN) if upgrade else None,
        "not_compared": one.why_not or None,
        "told": [
            {"outcome": str(told.outcome), **finding_json(told.finding, path)}
            for told in (upgrade.told if upgrade else ())
        ],
        "changes": [_change(change) for change in (upgrade.changes if upgrade else ())],
        "uncertain": dict(upgrade.uncertain) if upgrade else {},
    }


def _change(change: Change) -> dict[str, Any]:
    shown = [shown_effective({change.path: one})[change.path] for one in (change.before, change.after)]
    return {"path": change.path, "before": shown[0], "after": shown[1], "main": change.main}
