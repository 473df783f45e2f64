"""Against answers of vLLM itself: seven releases were given the same launches, and our verdict has to be theirs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from specconf.findings import Effect, Stage
from specconf.rules.judge import Judgement
from tests.engines.vllm.support import judged

RECORDED = Path(__file__).parent / "recorded"
CONFIGS: dict[str, Any] = json.loads((RECORDED / "configs.json").read_text())
CASES: dict[str, Any] = json.loads((RECORDED / "cases.json").read_text())
VERDICTS: dict[str, dict[str, Any]] = json.loads((RECORDED / "verdicts.json").read_text())

# What a launch alone cannot show: a directory that is not there.
NOT_DECIDABLE = {"bad-draft-missing-path"}
# Refused on the V1 model runner alone, which a CPU takes where no Triton is installed; a launch does not show that either.
WITHOUT_TRITON = {("0.33.0", "x-async-ngram"): "vllm/async-v1-runner"}
_SEEN = {Stage.PARSE, Stage.CONFIG, None}


def verdict(release: str, name: str) -> Judgement:
    case = CASES[name]
    draft = CONFIGS.get(case["draft"]) if case["draft"] else None
    return judged(
        {
            "release": release,
            "argv": case["argv"],
            "target": CONFIGS[case["target"]],
            "draft": draft,
            "facts": {"hardware.platform": "cpu"},  # the engine was asked on one
        }
    )


@pytest.mark.parametrize(("release", "name"), [(r, n) for r in VERDICTS for n in VERDICTS[r]])
def test_verdict(release: str, name: str) -> None:
    recorded = VERDICTS[release][name]
    judgement = verdict(release, name)
    errors = [f for f in judgement.errors if f.stage in _SEEN]
    if recorded["verdict"] == "accept":
        assert [f.message for f in errors] == []
    elif recorded["exception"] == "ImportError":  # a package that was not installed beside the engine
        assert any(f.effect is Effect.NEEDS for f in judgement.findings)
    elif (release, name) in WITHOUT_TRITON:
        assert WITHOUT_TRITON[release, name] in {n.constraint for n in judgement.result.not_checked}
    elif name in NOT_DECIDABLE:
        pytest.skip("a launch does not show what the engine found missing")
    else:
        assert errors, recorded


@pytest.mark.parametrize(("release", "name"), [(r, n) for r in VERDICTS for n in VERDICTS[r]])
def test_method_in_force(release: str, name: str) -> None:
    method = VERDICTS[release][name].get("method")
    if method is None:
        return  # without speculation
    effective = verdict(release, name).result.effective["speculative_config.method"].value
    assert getattr(effective, "value", None) == method


@pytest.mark.parametrize(("release", "name"), [(r, n) for r in VERDICTS for n in VERDICTS[r]])
def test_length_in_force(release: str, name: str) -> None:
    """The number of draft tokens, where the engine fills it in as well."""
    length = VERDICTS[release][name].get("num_speculative_tokens")
    if length is None:
        return
    effective = verdict(release, name).result.effective["speculative_config.num_speculative_tokens"].value
    assert getattr(effective, "value", None) == length


@pytest.mark.parametrize("release", VERDICTS)
def test_a_speculators_checkpoint_speculates_where_the_engine_said_so(release: str) -> None:
    recorded = VERDICTS[release]["ok-speculators-positional"]
    effective = verdict(release, "ok-speculators-positional").result.effective
    assert ("speculative_config.method" in effective) is ("method" in recorded) or recorded["verdict"] == "reject"
