"""What SGLang makes of the widths of a launch: groups of attention, ranks, and the device it runs on."""

from __future__ import annotations

from typing import Any

import pytest

from specconf.compat.database import load_database
from specconf.engines.registry import get_engine
from specconf.rules.probes import run_probe

_LLAMA = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "num_attention_heads": 12,
    "num_hidden_layers": 2,
}


def _found(*words: str, release: str = "0.5.23", **more: Any) -> set[str]:
    launch = {
        "release": release,
        "argv": ["python", "-m", "sglang.launch_server", "--model-path", "t", *words],
        "target": _LLAMA,
        **more,
    }
    _, judgement = run_probe(load_database("sglang"), get_engine("sglang"), launch)
    return {finding.constraint.removeprefix("sglang/") for finding in judgement.findings if finding.constraint}


@pytest.mark.parametrize(
    "width", [("--dp-size", "3", "--enable-dp-attention"), ("--attn-dp-size", "3")], ids=["switch", "width"]
)
def test_groups_of_attention_are_counted_in_either_spelling(width: tuple[str, ...]) -> None:
    assert "attention-dp-divides" in _found("--tp-size", "4", *width)
    assert "attention-dp-divides" not in _found("--tp-size", "6", *width)


def test_replicas_are_no_groups_of_attention() -> None:
    assert "attention-dp-divides" not in _found("--tp-size", "4", "--dp-size", "3")


def test_the_stages_of_a_pipeline_count_among_the_ranks_of_the_nodes() -> None:
    nodes = ("--nnodes", "2", "--node-rank", "0")
    assert "nodes-divide-unless-joining" in _found("--tp-size", "3", *nodes)
    assert "nodes-divide-unless-joining" not in _found("--tp-size", "3", "--pp-size", "2", *nodes)


def test_context_parallelism_leaves_fewer_ranks_for_the_heads() -> None:
    assert "heads-divide-tp" in _found("--tp-size", "8")
    assert "heads-divide-tp" not in _found("--tp-size", "8", "--attn-cp-size", "2")


@pytest.mark.parametrize(
    ("words", "platform", "refused"),
    [((), "cuda", False), ((), "rocm", False), ((), "xpu", True), (("--device", "xpu"), "cuda", True)],
)
def test_the_device_is_the_one_written_or_the_one_found(words: tuple[str, ...], platform: str, refused: bool) -> None:
    found = _found("--enable-watermark", *words, facts={"hardware.platform": platform})
    assert ("watermark-device" in found) is refused


@pytest.mark.parametrize(("word", "on"), [("1", True), ("Yes", True), ("0", False), ("maybe", False)])
def test_a_switch_of_the_environment_is_read_as_the_engine_reads_it(word: str, on: bool) -> None:
    draft = {"architectures": ["Qwen3DSparkModel"], "model_type": "qwen3", "num_hidden_layers": 1}
    words = ("--speculative-algorithm", "DSPARK", "--speculative-draft-model-path", "d", "--pp-size", "2")
    found = _found(*words, "--disaggregation-mode", "prefill", draft=draft, env={"SGLANG_ENABLE_PP_SPEC": word})
    assert ("pipeline-spec-dspark" in found) is on


@pytest.mark.parametrize(
    ("quantization", "served"),
    [
        ({"quant_method": "mxfp8", "moe_quant_algo": "nvfp4", "moe_quant_format": "nvfp4-pack-quantized"}, True),
        ({"quant_method": "minimax_m3_nvfp4"}, True),
        ({"quant_method": "mxfp8", "moe_quant_algo": "nvfp4", "moe_quant_format": "other"}, False),
        ({"quant_method": "fp8"}, False),
    ],
)
def test_packed_experts_of_minimax_are_told_from_plain_mxfp8(quantization: dict[str, str], served: bool) -> None:
    target = {**_LLAMA, "architectures": ["MiniMaxM3SparseForCausalLM"], "quantization_config": quantization}
    found = _found("--speculative-algorithm", "NGRAM", target=target)
    assert ("minimax-nvfp4-algorithm" in found) is served
    assert "minimax-nvfp4-algorithm" not in _found(
        "--speculative-algorithm", "NGRAM", "--quantization", "fp8", target=target
    )
