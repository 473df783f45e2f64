"""The pre-commit hook as a project gets it: `pre-commit` installs this checkout and runs it on a repository made here."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent.parent
MANIFEST = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
BAD = "#!/bin/sh\n# specconf: release vllm=0.33.0\nvllm serve m --speculative-model d\n"
NO_NETWORK = re.compile(r"No matching distribution|ConnectionError|Temporary failure|Max retries|Could not fetch", re.I)


def git(folder: Path, *argv: str) -> str:
    settings = ("-c", "user.name=t", "-c", "user.email=t@example.invalid", "-c", "commit.gpgsign=false")
    ran = subprocess.run(["git", *settings, *argv], cwd=folder, check=True, capture_output=True, text=True)
    return ran.stdout.strip()


@pytest.fixture(scope="module")
def hooks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """This checkout as it is now, as a repository of one commit that pre-commit can clone."""
    folder = tmp_path_factory.mktemp("hooks")
    listed = git(ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0")
    for name in filter(None, listed):
        if name.startswith(("tests/", "docs/")) or not (ROOT / name).is_file():
            continue
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "as it is")
    return folder


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where pre-commit keeps the environment that it builds, once for all tests here."""
    return tmp_path_factory.mktemp("pre-commit")


@pytest.fixture
def run(hooks: Path, home: Path, tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """pre-commit on a repository that uses the hook, and whatever files are added to it."""
    pytest.importorskip("pre_commit", reason="pre-commit is not installed")
    project = tmp_path / "project"
    project.mkdir()
    git(project, "init", "-q")
    config = {
        "repos": [{"repo": str(hooks), "rev": git(hooks, "rev-parse", "HEAD"), "hooks": [{"id": "specconf-lint"}]}]
    }
    (project / ".pre-commit-config.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")

    def start(files: dict[str, str]) -> subprocess.CompletedProcess[str]:
        for name, text in files.items():
            (project / name).parent.mkdir(parents=True, exist_ok=True)
            (project / name).write_text(text, encoding="utf-8")
        git(project, "add", "-A")
        ran = subprocess.run(
            [sys.executable, "-m", "pre_commit", "run"], cwd=project, check=False, capture_output=True, text=True,
            env={**os.environ, "PRE_COMMIT_HOME": str(home), "PYTHONPATH": ""},
        )  # fmt: skip
        if "Failed" not in ran.stdout and NO_NETWORK.search(ran.stdout + ran.stderr):
            pytest.skip("pre-commit could not install the hook: no package index was reached")
        return ran

    return start


def test_a_commit_with_a_launch_that_its_release_refuses_is_held_up(
    run: Callable[..., subprocess.CompletedProcess[str]],
) -> None:
    ran = run({"deploy/serve.sh": BAD, "job.slurm": BAD, "README.md": "vllm serve m --speculative-model d\n"})
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert "specconf lint" in ran.stdout
    assert "at   deploy/serve.sh:3:14" in ran.stdout
    assert "at   job.slurm:3:14" in ran.stdout
    assert "README.md" not in ran.stdout


def test_a_commit_passes_where_nothing_is_wrong_or_nothing_is_there(
    run: Callable[..., subprocess.CompletedProcess[str]],
) -> None:
    ran = run({"serve.sh": BAD.replace("--speculative-model d", ""), "other.yaml": "a: 1\n"})
    assert (ran.returncode, "Passed" in ran.stdout) == (0, True), ran.stdout + ran.stderr
    ran = run({"serve.sh": "echo nothing of an engine\n"})
    assert (ran.returncode, "Passed" in ran.stdout) == (0, True), ran.stdout + ran.stderr


READ = [
    "a/serve.sh",
    "x.sbatch",
    "j.slurm",
    "s.bat",
    "s.ps1",
    "c.yaml",
    "c.YML",
    "argv.json",
    "l.py",
    "Makefile",
    "a/r.mk",
]
READ += ["u.service", "m.tf", "Dockerfile", "Dockerfile.cuda", "vllm.Dockerfile", "a/Containerfile", "bin/serve"]
NOT_READ = ["README.md", "a.ts", "notes.txt", "logo.svg", "Cargo.lock", "my.shell.txt", "a.yaml.md"]


@pytest.mark.parametrize(("names", "handed"), [(READ, True), (NOT_READ, False)])
def test_the_hook_is_handed_the_kinds_that_are_read(names: list[str], handed: bool) -> None:
    (hook,) = MANIFEST
    assert [name for name in names if bool(re.search(hook["files"], name)) is not handed] == []


def test_the_manifest_names_this_hook() -> None:
    (hook,) = MANIFEST
    assert (hook["id"], hook["language"], hook["require_serial"]) == ("specconf-lint", "python", True)
    assert hook["entry"].split()[:2] == ["specconf", "lint"]
