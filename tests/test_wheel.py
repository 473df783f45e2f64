"""The wheel as a user gets it: built, installed in a clean environment away from the checkout, and used."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, ROOT],
        check=True,
        capture_output=True,
    )
    (built,) = folder.glob("*.whl")
    return built


def test_the_wheel_carries_the_compiled_index_and_is_small(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    for name in ("vllm", "sglang", "tensorrt-llm", "checkpoints", "families"):
        assert f"specconf/_index/{name}.json" in names
    assert "specconf/py.typed" in names
    assert not any(name.startswith(("tests/", "compat/")) for name in names)
    assert wheel.stat().st_size < 5 * 1024 * 1024


def test_the_installed_wheel_compiles_an_example(wheel: Path, tmp_path: Path) -> None:
    python = tmp_path / "venv" / "bin" / "python"
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    subprocess.run([python, "-m", "pip", "install", "--quiet", wheel], check=True, capture_output=True)
    ran = subprocess.run(
        [
            tmp_path / "venv" / "bin" / "specconf",
            "compile",
            ROOT / "examples" / "llama-eagle3.yaml",
            "--engine",
            "vllm",
            "--release",
            "0.33.0",
            "--format",
            "argv",
            "--offline",
        ],
        check=False,
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout)["argv"][:2] == ["vllm", "serve"]
