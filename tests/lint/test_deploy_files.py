"""Deploy files of every kind: the launches found, the release of each, what must be found at which line, and no false error."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from specconf.findings import Severity
from tests.lint.conftest import linted

FOLDER = Path(__file__).resolve().parent.parent / "corpus" / "deploy"
FILES = json.loads((FOLDER / "index.json").read_text(encoding="utf-8"))["files"]
_EXTRA = "specconf[terraform] is not installed"
_AT_LEAST = {"error": {Severity.ERROR}, "warning": {Severity.ERROR, Severity.WARNING}}


@pytest.mark.parametrize("row", FILES, ids=[row["path"] for row in FILES])
def test_a_deploy_file_is_read_and_judged_as_a_person_would(row: dict[str, Any]) -> None:
    if row["path"].endswith(".tf"):
        pytest.importorskip("tree_sitter_hcl", reason=_EXTRA)
    result = linted(FOLDER / row["path"])
    if row["not_read"]:
        assert result.skipped
        return
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


def test_the_page_is_what_is_found() -> None:
    pytest.importorskip("tree_sitter_hcl", reason=_EXTRA)
    root = FOLDER.parent.parent.parent
    ran = subprocess.run(
        [sys.executable, str(root / "tools" / "write_deploy_table.py"), "--check"], cwd=root, check=False
    )
    assert ran.returncode == 0, "tools/write_deploy_table.py writes docs/corpus/deploy-files.md anew"
