"""Agreement with what SGLang's own validators answered: verdict, stage, and the values in force afterwards.

The answers were recorded by running each release's argument code without kernels on a machine that shows a GPU's figures.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tools"))

import recorded_sglang  # a tool, beside the package
from recorded_common import UNKNOWN
from recorded_sglang_reasons import reason

# What follows from the backends that a release chooses for a GPU, which is judged by the page of the comparison alone.
OPEN = {"attention_backend", "page_size", "speculative_moe_runner_backend", "speculative_draft_attention_backend"}


@pytest.mark.parametrize(("name", "machine", "release"), recorded_sglang.cases())
def test_recorded_answers(name: str, machine: str, release: str) -> None:
    for answer in recorded_sglang.answers(name, machine, release):
        says = str(answer.recorded["says"]) if answer.refused and "says" in answer.recorded else ""
        if machine != "cpu" and not reason(name, answer.probe, machine, says):
            assert answer.agrees, f"{answer.probe}: {says}"
        if answer.refused and answer.refusals:
            assert answer.stages_agree, answer.probe
        others = {
            path: (theirs, ours)
            for path, theirs, ours in answer.values()
            if path not in OPEN and ours is not UNKNOWN and not recorded_sglang.same(theirs, ours)
        }
        if answer.probe == "deterministic_eagle":  # without a radix cache where the backend that is chosen has none
            others.pop("disable_radix_cache", None)
        assert not others, f"{answer.probe}: {others}"


@pytest.mark.parametrize("path", [path for path in recorded_sglang.VALUES if path not in OPEN])
def test_little_is_unknown_where_the_gpu_is_named(path: str) -> None:
    ours = [
        ours
        for name, machine, release in recorded_sglang.cases()
        if machine != "cpu"
        for answer in recorded_sglang.answers(name, machine, release)
        for each, _, ours in answer.values()
        if each == path
    ]
    assert sum(value is UNKNOWN for value in ours) <= 0.01 * len(ours)
