"""vLLM's recorded answers beside ours: the committed comparison is what our rules say today."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import recorded_vllm  # noqa: E402  # a tool, beside the package


@cache
def found() -> tuple[Any, ...]:
    return tuple(recorded_vllm.answers())


def test_the_page_is_current() -> None:
    """A refusal that another rule answers than before shows here, beside the engine's own words."""
    assert recorded_vllm.page(found()) == recorded_vllm.PAGE.read_text("utf-8"), "run: python tools/recorded_vllm.py"


def test_what_is_said_to_be_in_force_is_what_the_engine_had() -> None:
    """Method, draft tokens and asynchronous scheduling: where ours is known it is the engine's."""
    paths = {
        "method": "speculative_config.method",
        "num_speculative_tokens": "speculative_config.num_speculative_tokens",
        "async_scheduling": "async_scheduling",
    }
    wrong = [
        (answer.release, answer.case, key, answer.in_force(path))
        for answer in found()
        for key, path in paths.items()
        if key in answer.recorded and answer.in_force(path) not in (answer.recorded[key], recorded_vllm.UNKNOWN)
    ]
    assert wrong == []


@pytest.mark.parametrize("release", list(dict.fromkeys(answer.release for answer in found())))
def test_nearly_all_verdicts_agree(release: str) -> None:
    own = [answer for answer in found() if answer.release == release]
    assert len(own) == 58
    assert sum(answer.agrees for answer in own) >= 56


def test_recorded_answers_are_cut_to_their_first_words(tmp_path: Path) -> None:
    line = '{"case": "a", "verdict": "reject", "kind": "argparse", "msg": "usage: x error: one two 3 4 5 6 7 8 9 10 11 12 13"}'
    (tmp_path / "vllm-1.0.jsonl").write_text('{"event": "import"}\n' + line + "\n")
    read = recorded_vllm.read_recorded(tmp_path)
    assert read == {
        "1.0": {"a": {"verdict": "reject", "exception": "argparse", "says": "one two 3 4 5 6 7 8 9 10 11 12"}}
    }
