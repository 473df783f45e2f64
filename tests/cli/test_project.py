"""The project's own settings: found above the working directory, below the command line and the spec."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import EXAMPLES, Run

SPEC = EXAMPLES / "llama-eagle3.yaml"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "deep" / "er").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "deep" / "er")
    return tmp_path


def released(specconf: Run, *more: str) -> str:
    report = json.loads(specconf("check", SPEC, "-e", "vllm", "-f", "json", *more).out)
    release: str = report["matrix"][0]["release"]
    return release


def test_the_release_of_the_project_is_the_lowest(specconf: Run, project: Path) -> None:
    (project / "specconf.toml").write_text('release = {vllm = "0.32.0"}\n', encoding="utf-8")
    assert released(specconf) == "0.32.0"
    assert released(specconf, "-r", "0.31.0") == "0.31.0"


def test_pyproject(specconf: Run, project: Path) -> None:
    text = '[project]\nname = "x"\n[tool.specconf]\nfail-on = "info"\nrelease = {sglang = "0.5.23"}\n'
    (project / "pyproject.toml").write_text(text, encoding="utf-8")
    assert specconf("check", SPEC, "-e", "sglang").code == 1
    assert specconf("check", SPEC, "-e", "sglang", "--fail-on", "error").code == 0


def test_ignore(specconf: Run, project: Path) -> None:
    (project / "specconf.toml").write_text('ignore = ["SC3"]\n', encoding="utf-8")
    assert specconf("check", EXAMPLES / "llama-mtp.yaml", "-e", "vllm").code == 0


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("releas = {}\n", "there is no setting 'releas'"),
        ("release = 0.33\n", "`release` is a table"),
        ('fail-on = "never"\n', "`fail-on` is one of"),
        ("select = 1\n", "`select` is a list"),
        ("select = [\n", "specconf.toml"),
    ],
)
def test_bad_settings(specconf: Run, project: Path, text: str, part: str) -> None:
    (project / "specconf.toml").write_text(text, encoding="utf-8")
    ran = specconf("check", SPEC)
    assert ran.code == 2
    assert part in ran.err


def test_what_a_lost_backslash_cuts_off_is_told(specconf: Run, tmp_path: Path) -> None:
    path = tmp_path / "run.sh"
    path.write_text("vllm serve a/b \\\n  --seed 1\n  --tensor-parallel-size 2\n", encoding="utf-8")
    ran = specconf("import", path, "-r", "vllm=0.33.0")
    assert ran.code == 0
    assert "--tensor-parallel-size 2 stands behind the launch" in ran.err


def test_secrets_are_not_imported(specconf: Run, tmp_path: Path) -> None:
    path = tmp_path / "run.sh"
    path.write_text("vllm serve a/b --api-key sk-very-secret --seed 1\n", encoding="utf-8")
    ran = specconf("import", path, "-r", "vllm=0.33.0")
    assert ran.code == 0
    assert "sk-very-secret" not in ran.out + ran.err
    assert "api_key holds a secret" in ran.err
