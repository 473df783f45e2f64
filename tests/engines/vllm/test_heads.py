"""Block-drafting heads (DFlash, DSpark, LiLiCorr): what their configs decide."""

from __future__ import annotations

import json
from typing import Any

import pytest

from specconf.engines.vllm.derived import DERIVATIONS
from specconf.facts import Known
from specconf.rules.checker import CheckResult
from tests.engines.vllm.support import judged

SIZES = {"hidden_size": 64, "num_attention_heads": 4, "vocab_size": 1024, "max_position_embeddings": 512}
TARGET = SIZES | {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "num_hidden_layers": 8}
DFLASH: dict[str, Any] = SIZES | {
    "architectures": ["DFlashDraftModel"],
    "model_type": "qwen3",
    "num_hidden_layers": 2,
    "dflash_config": {"mask_token_id": 5, "target_layer_ids": [1, 7]},
}
OFF = {"VLLM_USE_V2_MODEL_RUNNER": "0"}
THINKER = SIZES | {"num_hidden_layers": 8, "num_key_value_heads": 2, "head_dim": 16}
OMNI = {
    "architectures": ["Qwen3OmniMoeForConditionalGeneration"],
    "model_type": "qwen3_omni_moe",
    "thinker_config": {"text_config": THINKER},
}
OMNI_DRAFT: dict[str, Any] = THINKER | {
    "architectures": ["Qwen3OmniDSparkModel"],
    "model_type": "qwen3",
    "target_hidden_size": 64,
    "block_size": 4,
    "use_aux_hidden_state": True,
    "target_layer_ids": [1, 3],
    "markov_rank": 8,
    "markov_head_type": "vanilla",
}


def result(
    method: str,
    draft: dict[str, Any] | None,
    *,
    target: dict[str, Any] = TARGET,
    env: dict[str, str] | None = None,
    k: int = 4,
) -> CheckResult:
    config = {"method": method, "model": "/models/head", "num_speculative_tokens": k}
    argv = ["vllm", "serve", "/models/target", "--speculative-config", json.dumps(config)]
    return judged({"release": "0.33.0", "argv": argv, "env": env or {}, "target": target, "draft": draft}).result


def found(of: CheckResult) -> set[str]:
    return {finding.constraint for finding in of.findings}


@pytest.mark.parametrize(
    ("layers", "mixed"),
    [
        ({"layer_types": ["sliding_attention", "full_attention"]}, True),
        ({"layer_types": ["sliding_attention", "sliding_attention"]}, False),
        ({"layer_types": ["full_attention", "full_attention"]}, False),
        ({}, False),
        ({"use_sliding_window": True}, None),
    ],
)
def test_a_draft_with_both_kinds_of_layers_needs_the_v2_runner(layers: dict[str, Any], mixed: bool | None) -> None:
    judged_ = result("dflash", DFLASH | layers, env=OFF)
    assert ("vllm/mixed-dflash-needs-v2" in found(judged_)) is (mixed is True)
    assert ("vllm/mixed-dflash-needs-v2" in {n.constraint for n in judged_.not_checked}) is (mixed is None)


@pytest.mark.parametrize(("taps", "refused"), [([1, 7], False), ([1, 8], True), ([], False)])
def test_a_draft_may_not_tap_layers_that_the_target_does_not_have(taps: list[int], refused: bool) -> None:
    draft = DFLASH | {"dflash_config": {"target_layer_ids": taps}}
    assert ("vllm/dflash-taps" in found(result("dflash", draft))) is refused


@pytest.mark.parametrize(
    ("block", "k", "refused"),
    [
        ({"dflash_config": {"block_size": 5}, "block_size": 3}, 4, False),
        ({"dflash_config": {"block_size": 4}}, 4, True),
        ({"block_size": 4}, 4, True),
    ],
)
def test_the_block_of_a_lilicorr_draft(block: dict[str, Any], k: int, refused: bool) -> None:
    draft = DFLASH | {"architectures": ["LiLiCorrDraftModel"]} | block
    assert ("vllm/lilicorr-length" in found(result("dflash", draft, k=k))) is refused


@pytest.mark.parametrize(
    ("changed", "fault"),
    [
        ({}, None),
        ({"architectures": ["Qwen3DSparkModel"]}, "is no Qwen3OmniDSparkModel"),
        ({"block_size": 5}, "is not its block size 5"),
        ({"block_size": None}, "has no block_size"),
        ({"block_size": 5, "dflash_config": {"block_size": 4}}, None),
        ({"head_dim": 32}, "head_dim 32 is not the target's 16"),
        ({"target_hidden_size": 128}, "target_hidden_size 128"),
        ({"use_aux_hidden_state": None}, "use_aux_hidden_state is not true"),
        ({"target_layer_ids": [3, 1]}, "do not rise"),
        ({"target_layer_ids": [1, 8]}, "not all layers of the target"),
        ({"target_layer_ids": None}, "has no target_layer_ids"),
        ({"markov_rank": 0}, "has no markov_rank"),
        ({"markov_head_type": "gated"}, "markov_head_type is gated"),
        ({"sample_from_anchor": False}, "does not sample from the anchor"),
        ({"rope_scaling": {"mrope_section": [1, 2]}}, "defines mrope_section"),
        ({"draft_vocab_size": 4096}, "larger than the target's 1024"),
    ],
)
def test_a_draft_for_qwen3_omni_fits_its_target(changed: dict[str, Any], fault: str | None) -> None:
    of = result("dspark", OMNI_DRAFT | changed, target=OMNI)
    messages = [f.message for f in of.findings if f.constraint == "vllm/dspark-omni-draft"]
    assert bool(messages) is (fault is not None)
    assert not messages or str(fault) in messages[0]


def test_another_target_takes_any_dspark_draft() -> None:
    assert "vllm/dspark-omni-draft" not in found(result("dspark", OMNI_DRAFT | {"block_size": 5}))


@pytest.mark.parametrize(
    ("method", "architecture", "expected"),
    [
        ("eagle", "LlamaForCausalLM", "EagleLlamaForCausalLM"),
        ("eagle", "EagleDeepSeekMTPModel", "EagleDeepSeekMTPModel"),
        ("eagle", "LlamaForCausalLMEagle3", "EagleLlamaForCausalLMEagle3"),
        ("eagle3", "LlamaForCausalLM", "Eagle3LlamaForCausalLM"),
        ("eagle3", "LlamaForCausalLMEagle3", "LlamaForCausalLMEagle3"),
        ("dflash", "DFlashDraftModel", "DFlashDraftModel"),
        ("dflash", "LiLiCorrDraftModel", "LiLiCorrDraftModel"),
        ("dflash", "Qwen3ForCausalLM", "DFlashQwen3ForCausalLM"),
        ("draft_model", "Qwen3ForCausalLM", "Qwen3ForCausalLM"),
    ],
)
def test_a_method_names_the_class_of_its_head(method: str, architecture: str, expected: str) -> None:
    class Shown:
        def get(self, path: str) -> Known:
            return Known({"draft.architectures": [architecture]}.get(path, method))

    assert DERIVATIONS["draft_classes"](Shown()) == Known([expected])  # type: ignore[arg-type]
