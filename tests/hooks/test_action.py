"""The GitHub Action: its file is what GitHub expects, and its script does what it says when a shell runs it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from msgspec import Struct

ROOT = Path(__file__).resolve().parent.parent.parent
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
STEPS: list[dict[str, Any]] = ACTION["runs"]["steps"]
BAD = "# specconf: release vllm=0.33.0\nvllm serve m --speculative-model d\n"


class Ran(Struct, frozen=True):
    """What the lint step left behind."""

    out: str
    outputs: dict[str, str]


def lint_step(folder: Path, paths: str, args: str = "") -> Ran:
    """Run the step's own script, with a `specconf` that is this checkout."""
    (script,) = [step["run"] for step in STEPS if step.get("id") == "lint"]
    programs, temp, outputs = folder / "bin", folder / "temp", folder / "outputs"
    for path in (programs, temp):
        path.mkdir(exist_ok=True)
    (programs / "specconf").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m specconf "$@"\n', encoding="utf-8")
    (programs / "specconf").chmod(0o755)
    env = {
        **os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT), "PATHS": paths, "ARGS": args,
        "RUNNER_TEMP": str(temp), "GITHUB_OUTPUT": str(outputs),
    }  # fmt: skip
    ran = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
        cwd=folder, env=env, check=True, capture_output=True, text=True,
    )  # fmt: skip
    read = outputs.read_text(encoding="utf-8")
    return Ran(ran.stdout, dict(line.split("=", 1) for line in read.splitlines()))


def test_findings_become_annotations_and_a_sarif_file_and_the_status_is_kept(tmp_path: Path) -> None:
    for name in ("a b.sh", "c.sh"):
        (tmp_path / name).write_text(BAD, encoding="utf-8")
    ran = lint_step(tmp_path, "a b.sh\n\nc.sh\n")
    assert (ran.outputs["status"], ran.outputs["written"]) == ("1", "true")
    assert ran.out.count("::error file=") == 2
    document = json.loads(Path(ran.outputs["sarif"]).read_text(encoding="utf-8"))
    assert len(document["runs"][0]["results"]) == 2


@pytest.mark.parametrize(
    ("paths", "args", "status", "written"),
    [
        (".", "--ignore SC101", "0", "true"),
        (".", "--select SC7 --fail-on warning", "0", "true"),
        ("missing.sh", "", "2", "false"),
        (".", "--no-such-option", "2", "false"),
        ("empty", "", "3", "true"),
        ("$(touch made)", "", "2", "false"),
    ],
)
def test_what_else_can_come_of_it(tmp_path: Path, paths: str, args: str, status: str, written: str) -> None:
    (tmp_path / "a.sh").write_text(BAD, encoding="utf-8")
    (tmp_path / "empty").mkdir()
    ran = lint_step(tmp_path, paths, args)
    assert (ran.outputs["status"], ran.outputs["written"]) == (status, written)
    assert not (tmp_path / "made").exists()


def test_no_input_is_put_into_a_script() -> None:
    assert [step["run"] for step in STEPS if "${{" in step.get("run", "")] == []


def test_actions_are_pinned_by_their_major() -> None:
    used = [step["uses"] for step in STEPS if "uses" in step]
    assert used
    assert [name for name in used if not name.partition("@")[2].removeprefix("v").isdigit()] == []


def test_files_for_other_programs_fit_their_schemas() -> None:
    pytest.importorskip("check_jsonschema", reason="check-jsonschema is not installed")
    for kind, path in (("github-actions", "action.yml"),):
        checker = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{kind}", str(ROOT / path)]
        ran = subprocess.run(checker, check=False, capture_output=True, text=True)
        assert ran.returncode == 0, ran.stdout
