"""Sizes on disk."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from specconf.oracle.environment import MARKER, Environment, find
from specconf.oracle.sizes import size_of

BIG, SMALL = 4_000_000, 1_000_000


def _file(path: Path, size: int) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x" * size)
    return path


def _environment(root: Path, release: str, base: str) -> Environment:
    folder = root / f"vllm-{release}"
    for venv, noted in ((root / base, {"until": None}), (folder, _record(release, base))):
        _file(venv / "bin" / "python", 1)
        (venv / MARKER).write_text(json.dumps(noted))
    _file(folder / "sources" / "vllm.py", SMALL)
    found = find("vllm", release, root)
    assert found is not None
    return found


def _record(release: str, base: str) -> dict[str, object]:
    return {
        "engine": "vllm",
        "release": release,
        "archive": "a",
        "sha256": "0",
        "torch": "torch==1",
        "base": base,
        "requirements": [],
    }


def test_a_file_in_the_cache_alone_is_own_and_one_in_another_base_is_shared(tmp_path: Path) -> None:
    first, second = _environment(tmp_path, "1", "base-a"), _environment(tmp_path, "2", "base-b")
    torch = _file(tmp_path / "uv-cache" / "torch", BIG)
    other = _file(tmp_path / "uv-cache" / "other", SMALL)
    for base in ("base-a", "base-b"):
        os.link(torch, tmp_path / base / "torch")
    os.link(torch, tmp_path / "base-a" / "torch-again")
    os.link(other, tmp_path / "base-a" / "other")
    assert size_of(first).shared == pytest.approx(BIG / 1e6, rel=0.05)
    assert size_of(first).own == pytest.approx(2 * SMALL / 1e6, rel=0.05)
    assert size_of(second).own == pytest.approx(SMALL / 1e6, rel=0.05)


def test_a_base_of_two_environments_is_shared(tmp_path: Path) -> None:
    first = _environment(tmp_path, "1", "base-a")
    _file(tmp_path / "base-a" / "torch", BIG)
    assert size_of(first).shared == 0
    _environment(tmp_path, "2", "base-a")
    assert size_of(first).shared == pytest.approx(BIG / 1e6, rel=0.05)
