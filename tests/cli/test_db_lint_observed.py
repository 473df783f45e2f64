"""`db lint` reads what engines answered, too."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from specconf.cli.db.lint import _observed_problems
from specconf.compat.sources import SourceTree
from specconf.compat.store import CHECKOUT
from specconf.verify.observed import Folder
from tests.verify.test_observed import observed


def problems(root: Path) -> list[str]:
    return [problem.message for problem in _observed_problems(SourceTree(root), "vllm")]


def written(root: Path) -> Path:
    folder = root / "vllm" / "observed"
    Folder(folder).write(*observed())
    (folder / "summary.json").write_text(json.dumps({"0.33.0": {}}))
    return folder


def test_what_was_written_by_asking_has_no_problem(tmp_path: Path) -> None:
    written(tmp_path)
    assert problems(tmp_path) == []


def test_a_row_that_proves_nothing_is_a_problem(tmp_path: Path) -> None:
    path = written(tmp_path) / "0.33.0.jsonl"
    path.write_text(path.read_text().replace('"exception": "SystemExit", ', ""))
    assert len(problems(tmp_path)) == 1
    assert "names no exception" in problems(tmp_path)[0]


def test_a_launch_that_nobody_knows_is_a_problem(tmp_path: Path) -> None:
    folder = written(tmp_path)
    lines = (folder / "launches.jsonl").read_text().splitlines()
    (folder / "launches.jsonl").write_text("\n".join(lines[1:]) + "\n")
    assert len(problems(tmp_path)) == 1
    assert "nobody knows" in problems(tmp_path)[0]


def test_a_release_without_figures_is_a_problem(tmp_path: Path) -> None:
    (written(tmp_path) / "summary.json").write_text("{}")
    assert problems(tmp_path) == ["its figures are not in the summary"]


@pytest.mark.parametrize("name", ["machine-memory", "unclassified"])
def test_a_class_that_no_file_names_is_a_problem(tmp_path: Path, name: str) -> None:
    path = written(tmp_path) / "0.33.0.jsonl"
    header, first, *_ = path.read_text().splitlines()
    row = {"launch": json.loads(first)["launch"], "origins": ["twin vllm/a"], "unanswered": name, "says": "x"}
    path.write_text(f"{header}\n{json.dumps(row)}\n")
    assert problems(tmp_path) == [f"no file names the class {name} of questions without an answer"]


@pytest.mark.parametrize("name", ["host-memory", "cpu-kernel-names"])
def test_a_class_of_either_file_is_none(tmp_path: Path, name: str) -> None:
    path = written(tmp_path) / "0.33.0.jsonl"
    header, first, *_ = path.read_text().splitlines()
    row = {"launch": json.loads(first)["launch"], "origins": ["twin vllm/a"], "unanswered": name, "says": "x"}
    path.write_text(f"{header}\n{json.dumps(row)}\n")
    assert problems(tmp_path) == []


@pytest.mark.parametrize("engine", ["vllm", "sglang"])
def test_the_shipped_answers_have_no_problem(engine: str) -> None:
    assert list(_observed_problems(SourceTree(CHECKOUT), engine)) == []
