"""Where environments are kept, and which of them are there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from specconf.oracle import environment
from specconf.oracle.environment import MARKER, environment_dir, find, python_of
from tests.oracle.packages import offline

# What the first builders noted, without the installer.
NOTED = {
    "engine": "vllm",
    "release": "0.33.0",
    "archive": "vllm-0.33.0.tar.gz",
    "sha256": "f4c3",
    "torch": "torch==2.13.0",
    "base": "base-c91f12fc97a5",
    "requirements": ["aiohttp>=3.14.4"],
}


def _folder(path: Path, noted: dict[str, object] | None) -> Path:
    python_of(path).parent.mkdir(parents=True)
    python_of(path).write_text("")
    if noted is not None:
        (path / MARKER).write_text(json.dumps(noted))
    return path


def test_they_are_kept_where_the_variable_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SPECCONF_ENGINE_CACHE", str(tmp_path))
    assert environment_dir("vllm", "0.33.0") == tmp_path / "vllm-0.33.0"


def test_an_environment_of_an_older_builder_is_found(tmp_path: Path) -> None:
    folder = _folder(tmp_path / "vllm-0.33.0", NOTED)
    base = _folder(tmp_path / "base-c91f12fc97a5", {"until": "2026-11-09"})
    found = find("vllm", "0.33.0", tmp_path)
    assert found is not None
    assert (found.folder, found.base, found.python) == (folder, base, folder / "bin" / "python")
    assert (found.archive, found.sha256, found.until) == ("vllm-0.33.0.tar.gz", "f4c3", "2026-11-09")
    assert (found.requirements, found.installer) == (("aiohttp>=3.14.4",), "")
    assert found.kept == tmp_path / "kept" / "vllm-0.33.0"


@pytest.mark.parametrize("lost", ["vllm-0.33.0", "base-c91f12fc97a5"])
@pytest.mark.parametrize("what", [MARKER, "bin/python"])
def test_one_without_its_marker_its_python_or_its_base_is_not(tmp_path: Path, lost: str, what: str) -> None:
    _folder(tmp_path / "vllm-0.33.0", NOTED)
    _folder(tmp_path / "base-c91f12fc97a5", {"until": None})
    (tmp_path / lost / what).unlink()
    assert find("vllm", "0.33.0", tmp_path) is None


def test_a_marker_that_is_no_json_is_none(tmp_path: Path) -> None:
    _folder(tmp_path / "vllm-0.33.0", None)
    (tmp_path / "vllm-0.33.0" / MARKER).write_text("{")
    assert find("vllm", "0.33.0", tmp_path) is None


def test_the_command_line_prints_an_error_and_its_hint(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SPECCONF_ENGINE_CACHE", str(tmp_path))
    assert environment.main(["tensorrt-llm", "1.4.0"]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("error: No environment can be made for tensorrt-llm")
    assert "--engine-python PATH" in said.err


def test_the_command_line_prints_the_python_of_what_is_there(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SPECCONF_ENGINE_CACHE", str(tmp_path))
    _folder(tmp_path / "vllm-0.33.0", NOTED)
    _folder(tmp_path / "base-c91f12fc97a5", {"until": None})
    for name, value in offline(tmp_path / "none").items():
        monkeypatch.setenv(name, value)
    assert environment.main(["vllm", "0.33.0"]) == 0
    assert capsys.readouterr().out == f"{tmp_path / 'vllm-0.33.0' / 'bin' / 'python'}\n"
