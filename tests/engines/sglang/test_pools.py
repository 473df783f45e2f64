"""Recurrent state, the backends of a pair, and what a launch's caches end up as."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import pytest

from specconf.compat.database import Database
from specconf.engines.sglang import ENGINE
from specconf.engines.sglang.derived import DERIVATIONS
from specconf.facts import Fact, Facts, Known, Missing
from specconf.rules.judge import Judgement
from specconf.rules.probes import run_probe
from specconf.words import JsonValue
from tests.engines.sglang.support import in_force

PROGRAM = ["python", "-m", "sglang.launch_server", "--model-path", "t"]
SHAPE = {"vocab_size": 1024, "hidden_size": 128, "num_hidden_layers": 2}
QWEN = {"architectures": ["Qwen3NextForCausalLM"], "model_type": "qwen3_next", **SHAPE}
LFM = {"architectures": ["Lfm2ForCausalLM"], "model_type": "lfm2", **SHAPE}
GPT_OSS = {"architectures": ["GptOssForCausalLM"], "model_type": "gpt_oss", **SHAPE}
STEPS = ["--speculative-num-steps", "1", "--speculative-eagle-topk", "1", "--speculative-num-draft-tokens", "2"]
MTP = ["--speculative-algorithm", "NEXTN", *STEPS]
GRANITE = "GraniteMoeHybridForCausalLM"
COMPRESS = "option.env.SGLANG_OPT_USE_ONLINE_COMPRESS"


class _Given:
    """Facts that are given one by one; any other is missing."""

    def __init__(self, facts: Mapping[str, JsonValue]) -> None:
        self._facts = facts

    def get(self, path: str) -> Fact:
        return Known(self._facts[path]) if path in self._facts else Missing(path)


def _derived(name: str, facts: Mapping[str, JsonValue]) -> Fact:
    return DERIVATIONS[name](cast(Facts, _Given(facts)))


@pytest.mark.parametrize(
    ("architecture", "layers", "seen"),
    [
        ("Qwen3NextForCausalLM", None, "Qwen3NextForCausalLM"),
        (GRANITE, ["mamba", "attention"], GRANITE),
        (GRANITE, ["attention", "attention"], None),
        (GRANITE, None, None),
    ],
)
def test_a_granite_hybrid_counts_only_with_mamba_layers(architecture: str, layers: JsonValue, seen: str | None) -> None:
    facts = {"target.architecture": architecture, "target.config.layer_types": layers}
    assert _derived("recurrent_architecture", facts) == Known(seen)


def test_what_is_not_known_of_a_granite_hybrid_stays_unknown() -> None:
    assert isinstance(_derived("recurrent_architecture", {"target.architecture": GRANITE}), Missing)
    assert isinstance(_derived("recurrent_architecture", {}), Missing)


@pytest.mark.parametrize(
    ("both", "own", "found"),
    [("triton", None, "triton"), ("triton", "fa3", "fa3"), (None, "fa3", "fa3"), (None, None, None)],
)
def test_a_phase_without_a_backend_of_its_own_takes_that_for_both(
    both: str | None, own: str | None, found: str | None
) -> None:
    for phase in ("prefill", "decode"):
        fact = _derived(f"{phase}_reader", {"option.attention_backend": both, f"option.{phase}_attention_backend": own})
        assert fact == (Missing("option.attention_backend") if found is None else Known(found))


@pytest.mark.parametrize(("text", "value"), [("1", True), ("false", False), (True, True)])
def test_a_switch_in_the_environment_is_read_as_the_engine_reads_it(text: JsonValue, value: bool) -> None:
    assert _derived("online_compress", {COMPRESS: text}) == Known(value)


def test_a_switch_that_the_engine_cannot_read_is_not_known() -> None:
    assert isinstance(_derived("online_compress", {COMPRESS: "perhaps"}), Missing)


def _judged(database: Database, release: str, *words: str, target: dict[str, Any]) -> Judgement:
    return run_probe(database, ENGINE, {"release": release, "argv": [*PROGRAM, *words], "target": target})[1]


@pytest.mark.parametrize(
    ("release", "words", "target", "strategy", "overlap_off"),
    [
        ("0.5.12", ["--disable-radix-cache"], QWEN, "no_buffer", False),
        ("0.5.20", [], QWEN, "extra_buffer", False),
        ("0.5.20", [], LFM, "no_buffer", True),
    ],
)
def test_what_auto_becomes(
    database: Database, release: str, words: list[str], target: dict[str, Any], strategy: str, overlap_off: bool
) -> None:
    judged = _judged(database, release, *MTP, *words, target=target)
    assert in_force(judged, "mamba_radix_cache_strategy") == strategy
    assert bool(in_force(judged, "disable_overlap_schedule")) is overlap_off


def test_a_decode_node_has_no_radix_cache_and_so_no_quarrel_with_it(database: Database) -> None:
    alone = _judged(database, "0.5.12", *MTP, target=QWEN)
    node = _judged(database, "0.5.12", *MTP, "--disaggregation-mode", "decode", target=QWEN)
    assert in_force(node, "disable_radix_cache") is True
    assert "sglang/hybrid-target-radix-cache" in {f.constraint for f in alone.errors}
    assert node.errors == []


@pytest.mark.parametrize(("release", "off"), [("0.5.7", True), ("0.5.8.post1", True), ("0.5.9", False)])
def test_the_windows_of_gpt_oss_while_it_speculates(database: Database, release: str, off: bool) -> None:
    judged = _judged(
        database, release, "--speculative-algorithm", "NGRAM", "--attention-backend", "triton", target=GPT_OSS
    )
    assert bool(in_force(judged, "disable_hybrid_swa_memory")) is off
