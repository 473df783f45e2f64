"""Interpreters that a user names, and those that a release refuses."""

from __future__ import annotations

import platform
import sys
from pathlib import Path

import pytest

from specconf.errors import OracleError
from specconf.oracle.pythons import Interpreter, check_requires, interpreter_at, this_interpreter


def test_a_python_says_its_version() -> None:
    found = interpreter_at(Path(sys.executable))
    assert (found.version, found.build) == (platform.python_version(), sys.version)
    assert found == this_interpreter()


def _script(folder: Path, text: str, mode: int = 0o755) -> Path:
    path = folder / "python"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(mode)
    return path


def test_a_program_that_is_no_python(tmp_path: Path) -> None:
    with pytest.raises(OracleError, match="is not a Python") as caught:
        interpreter_at(_script(tmp_path, "echo hello"))
    assert "bin/python" in (caught.value.hint or "")


def test_a_file_that_is_not_executable(tmp_path: Path) -> None:
    with pytest.raises(OracleError, match="is not executable"):
        interpreter_at(_script(tmp_path, "", mode=0o644))


def test_a_path_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(OracleError, match="does not exist"):
        interpreter_at(tmp_path / "python")


def test_a_folder_names_the_python_in_it(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    _script(tmp_path / "bin", "")
    with pytest.raises(OracleError, match="is a folder") as caught:
        interpreter_at(tmp_path)
    assert str(tmp_path / "bin" / "python") in (caught.value.hint or "")


@pytest.mark.parametrize(
    ("stated", "fits"),
    [(None, True), (">=3.10,<3.14", True), (">=3.9,<3.13", False), (">=3.14", False), ("not a specifier", True)],
)
def test_a_release_states_which_pythons_it_takes(stated: str | None, fits: bool) -> None:
    python = Interpreter(Path("/py"), "3.13.1", "")
    if fits:
        check_requires(python, stated, "vllm 1")
        return
    with pytest.raises(OracleError, match=r"vllm 1 requires Python .*; this is Python 3\.13\.1") as caught:
        check_requires(python, stated, "vllm 1")
    assert "virtual environment of such a Python" in (caught.value.hint or "")
