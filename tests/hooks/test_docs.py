"""What docs/lint.md tells users to copy works: its snippets fit the schemas of those who read them, its tables the code."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from specconf.cli.project import find_project
from specconf.codes import CODES
from specconf.readers.registry import FORMATS as FORMATS_READ
from specconf.report.formats import FORMATS

ROOT = Path(__file__).resolve().parent.parent.parent
TEXT = (ROOT / "docs" / "lint.md").read_text(encoding="utf-8")
FENCES = [(kind, text) for kind, text in re.findall(r"^```(\w+)\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)]
SNIPPETS = {"pre-commit": "repos:", "github-workflows": "jobs:", "gitlab-ci": "  script:"}


def snippet(kind: str) -> str:
    (text,) = [text for language, text in FENCES if language == "yaml" and SNIPPETS[kind] in text]
    return text


@pytest.mark.parametrize("kind", ["github-workflows", "gitlab-ci"])
def test_snippets_fit_their_schemas(kind: str, tmp_path: Path) -> None:
    pytest.importorskip("check_jsonschema", reason="check-jsonschema is not installed")
    (tmp_path / "snippet.yml").write_text(snippet(kind), encoding="utf-8")
    checker = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{kind}"]
    ran = subprocess.run([*checker, tmp_path / "snippet.yml"], check=False, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout


def test_the_snippets_name_what_is_there() -> None:
    (repo,) = yaml.safe_load(snippet("pre-commit"))["repos"]
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert [each["id"] for each in repo["hooks"]] == [hook["id"]]
    inputs = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))["inputs"]
    (job,) = yaml.safe_load(snippet("github-workflows"))["jobs"].values()
    assert set(job["steps"][-1]["with"]) <= set(inputs)


def test_the_settings_can_be_read(tmp_path: Path) -> None:
    (text,) = [text for language, text in FENCES if language == "toml"]
    (tmp_path / "specconf.toml").write_text(text, encoding="utf-8")
    project = find_project(tmp_path)
    assert project.exclude
    assert project.per_file_ignores
    assert project.baseline == tmp_path / "specconf-baseline.json"


def test_the_tables_are_those_of_the_code() -> None:
    told = dict(re.findall(r"^\| (SC7\d\d) ([a-z-]+) \|", TEXT, re.MULTILINE))
    assert told == {code.code: code.name for code in CODES.values() if code.code.startswith("SC7")}
    assert set(re.findall(r"^\| `(\w+)` \|", TEXT, re.MULTILINE)) == set(FORMATS)


def test_every_kind_that_is_read_has_a_row() -> None:
    (rows,) = re.findall(r"^\| kind \| files \|\n\|---\|---\|\n(.*?)\n\n", TEXT, re.MULTILINE | re.DOTALL)
    told = {name.strip() for row in rows.splitlines() for name in row.split("|")[1].split(",")}
    assert {each.name for each in FORMATS_READ} <= told
