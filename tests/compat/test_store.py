"""The index of a checkout: built once per state of its files, rebuilt when they change, old ones forgotten."""

from __future__ import annotations

import json
import os
import shutil
import time
from pathlib import Path

import platformdirs
import pytest

from specconf.compat import store

COMPAT = Path(__file__).resolve().parents[2] / "compat"


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(platformdirs, "user_cache_dir", lambda _: str(tmp_path / "cache"))
    return Path(shutil.copytree(COMPAT, tmp_path / "compat"))


def test_built_once_and_again_when_a_file_changes(checkout: Path) -> None:
    first = store._built_once(checkout)
    written = (first / "vllm.json").stat().st_mtime_ns
    assert store._built_once(checkout) == first
    assert (first / "vllm.json").stat().st_mtime_ns == written
    scopes = checkout / "vllm" / "scopes.yaml"
    scopes.write_text(scopes.read_text(encoding="utf-8") + "# touched\n", encoding="utf-8")
    second = store._built_once(checkout)
    assert second != first
    assert json.loads((second / "vllm.json").read_bytes())["engine"] == "vllm"


def _states(checkout: Path, number: int, *, age_s: float) -> Path:
    """Take so many states of a checkout into use, each so long ago; the last one's index."""
    scopes = checkout / "vllm" / "scopes.yaml"
    for state in range(number):
        scopes.write_text(scopes.read_text(encoding="utf-8") + f"# {state}\n", encoding="utf-8")
        newest = store._built_once(checkout)
        os.utime(newest, (time.time() - age_s,) * 2)
    return newest


def test_old_states_are_forgotten(checkout: Path, tmp_path: Path) -> None:
    newest = _states(checkout, store._KEPT + 2, age_s=2 * store._IN_USE_S)
    folders = list((tmp_path / "cache").glob("index-*"))
    assert len(folders) == store._KEPT
    assert newest in folders


def test_states_in_use_stay_since_their_parts_are_read_later(checkout: Path, tmp_path: Path) -> None:
    _states(checkout, store._KEPT + 2, age_s=0)
    assert len(list((tmp_path / "cache").glob("index-*"))) == store._KEPT + 2


def test_what_another_process_has_just_forgotten_is_passed_over(tmp_path: Path) -> None:
    for name in ("index-5-gone", "stamp-gone"):
        (tmp_path / name).symlink_to(tmp_path / "nowhere")
    store._forget_old(tmp_path)
