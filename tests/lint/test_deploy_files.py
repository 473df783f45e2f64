"""Deploy files of every kind: the launches found, the release of each, what must be found at which line, and no false error."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from specconf.compat.database import load_database
from specconf.engines.base import Engine, Models
from specconf.findings import Severity
from specconf.lint.files import around
from specconf.lint.run import FileResult, Linter
from specconf.models import Mode, Resolver
from specconf.models.rows import RowTable
from specconf.models.view import written_models
from specconf.settings import Settings

FOLDER = Path(__file__).resolve().parent.parent / "corpus" / "deploy"
FILES = json.loads((FOLDER / "index.json").read_text(encoding="utf-8"))["files"]
_AT_LEAST = {"error": {Severity.ERROR}, "warning": {Severity.ERROR, Severity.WARNING}}


def models(settings: Settings, engine: Engine, folder: Path) -> Models:
    from specconf.compat.store import load_json

    resolver = Resolver(
        mode=Mode.OFFLINE, checkpoints=RowTable(load_json("checkpoints")), cache_dir=folder, base_dir=folder
    )
    return Models(*written_models(engine.model_path, engine.draft_path, settings, resolver.resolve))


def linted(path: Path) -> FileResult:
    return Linter(load_database, models).file(str(path), path.read_bytes(), around(str(path)))


@pytest.mark.parametrize("row", FILES, ids=[row["path"] for row in FILES])
def test_a_deploy_file_is_read_and_judged_as_a_person_would(row: dict[str, Any]) -> None:
    result = linted(FOLDER / row["path"])
    assert len(result.launches) == row["launches"], result.skipped
    stated = {launch.chosen.text for launch in result.launches}
    if row.get("release") and row["launches"] == 1:
        assert stated == {row["release"]}
    for expected in row["expected"]:
        severities = {
            f.severity for f in result.all_findings if f.where is not None and f.where.line == expected["line"]
        }
        assert severities & _AT_LEAST[expected["level"]], expected["says"]
    lines = {expected["line"] for expected in row["expected"]}.union(row["beside"])
    errors = [f for f in result.all_findings if f.severity is Severity.ERROR]
    assert [f"{f.where}: {f.code} {f.message}" for f in errors if f.where is None or f.where.line not in lines] == []
