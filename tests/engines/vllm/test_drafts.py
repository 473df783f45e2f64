"""What a draft's config says about it: how many tokens it was trained for, its positions, and inputs of several kinds."""

from __future__ import annotations

import json
from typing import Any

import pytest

from specconf.engines.vllm.derived.positions import draft_rope_sizes_cache
from specconf.facts import Context, Facts, Known
from specconf.models import model_facts
from specconf.models.view import model_view
from specconf.settings import SettingsBuilder
from tests.engines.vllm.support import UNKNOWN, judged

SMALL = {"hidden_size": 64, "num_hidden_layers": 4, "num_attention_heads": 2, "vocab_size": 1024}
LLAMA = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "max_position_embeddings": 512, **SMALL}
HEAD = LLAMA | {"num_hidden_layers": 1, "bias": False}
VISION = LLAMA | {
    "architectures": ["Qwen2_5_VLForConditionalGeneration"],
    "model_type": "qwen2_5_vl",
    "vision_config": {"hidden_size": 64},
}


def met(release: str, config: dict[str, Any], *more: str, **models: Any) -> set[str]:
    """The constraints that a launch meets, without the engine's name."""
    argv = ["vllm", "serve", "/models/target", "--speculative-config", json.dumps(config), *more]
    case = {"release": release, "argv": argv, "target": LLAMA, **models}
    return {(f.constraint or "").partition("/")[2] for f in judged(case).result.findings}


def mtp(tokens: int) -> dict[str, Any]:
    return {"method": "mtp", "num_speculative_tokens": tokens}


def eagle(**more: Any) -> dict[str, Any]:
    return {"method": "eagle", "model": "/models/head", "num_speculative_tokens": 3, **more}


def whole(**more: Any) -> dict[str, Any]:
    return {"method": "draft_model", "model": "/models/draft", "num_speculative_tokens": 3, **more}


@pytest.mark.parametrize(
    ("architecture", "model_type", "layers", "tokens", "refused"),
    [
        ("MiMoForCausalLM", "mimo", {"num_nextn_predict_layers": 2}, 3, True),
        ("MiMoForCausalLM", "mimo", {"num_nextn_predict_layers": 2}, 4, False),
        ("MiMoForCausalLM", "mimo", {"num_nextn_predict_layers": 3}, 2, False),
        # The engine runs the first of its layers only, whatever the config counts.
        ("MiMoV2ForCausalLM", "mimo_v2", {"num_nextn_predict_layers": 3}, 4, False),
        # Not counted: one layer for this family, and no check at all for that.
        ("LongcatFlashForCausalLM", "longcat_flash", {}, 3, False),
        ("DeepseekV3ForCausalLM", "deepseek_v3", {}, 3, False),
        ("DeepseekV3ForCausalLM", "deepseek_v3", {"num_nextn_predict_layers": 2}, 3, True),
    ],
)
def test_draft_tokens_are_a_multiple_of_the_trained_depth(
    architecture: str, model_type: str, layers: dict[str, int], tokens: int, refused: bool
) -> None:
    target = LLAMA | {"architectures": [architecture], "model_type": model_type} | layers
    assert ("mtp-length-divisible" in met("0.33.0", mtp(tokens), target=target)) is refused


def test_a_target_without_mtp_layers_leaves_no_depth_unchecked() -> None:
    argv = ["vllm", "serve", "/models/target", "--speculative-config", json.dumps(mtp(2))]
    result = judged({"release": "0.33.0", "argv": argv, "target": LLAMA}).result
    assert not [item.constraint for item in result.not_checked if "mtp-length" in item.constraint]


@pytest.mark.parametrize(
    ("release", "model_type", "warned"),
    [
        ("0.22.0", "step3p5", True),
        ("0.23.0", "step3p5", False),
        ("0.25.1", "mimo", True),
        ("0.26.0", "inkling_mm_model", False),
        ("0.33.0", "step5", False),
        ("0.33.0", "mimo", True),
    ],
)
def test_repeated_mtp_passes_are_warned_of_but_for_some_families(release: str, model_type: str, warned: bool) -> None:
    target = LLAMA | {"architectures": ["MiMoForCausalLM"], "model_type": model_type, "num_nextn_predict_layers": 1}
    found = met(release, mtp(2), target=target)
    assert any(name.startswith("mtp-drafts-repeatedly") for name in found) is warned


@pytest.mark.parametrize(
    ("overrides", "kept"),
    [
        ({"rope_parameters": {"rope_type": "yarn", "factor": 4.0}}, True),
        ({"text_config": {"rope_scaling": {"type": "yarn"}}}, True),
        ({"max_position_embeddings": 4096}, True),
        ({"text_config": {"num_experts": 4}}, False),
        ({}, False),
    ],
)
def test_overrides_of_positions_do_not_reach_mtp_layers(overrides: dict[str, Any], kept: bool) -> None:
    target = LLAMA | {"architectures": ["MiMoForCausalLM"], "model_type": "mimo", "num_nextn_predict_layers": 1}
    found = met("0.20.2", mtp(1), "--hf-overrides", json.dumps(overrides), target=target)
    assert ("mtp-keeps-native-positions" in found) is kept


@pytest.mark.parametrize(
    ("experts", "refused"), [("1,2,3", False), ("1,2,3,4", True), ([1, 4], True), (None, False)], ids=str
)
def test_step5_drafts_with_dense_layers(experts: Any, refused: bool) -> None:
    target = LLAMA | {"architectures": ["Step5ForCausalLM"], "model_type": "step5", "num_nextn_predict_layers": 1}
    if experts is not None:
        target |= {"moe_layer_list": experts}
    assert ("mtp-step5-experts" in met("0.33.0", mtp(1), target=target)) is refused


@pytest.mark.parametrize(
    ("rope", "raised"),
    [
        ({}, True),
        ({"rope_scaling": {"rope_type": "llama3", "factor": 8.0}}, True),
        ({"rope_parameters": {"full": {"rope_type": "default"}, "sliding": {"rope_type": "linear"}}}, True),
        ({"rope_parameters": {"full": {"rope_type": "default"}, "sliding": {"rope_type": "yarn"}}}, False),
        ({"rope_scaling": {"type": "yarn", "factor": 2.0}}, False),
    ],
)
def test_positions_are_raised_where_they_only_size_a_cache(rope: dict[str, Any], raised: bool) -> None:
    draft = model_view("draft", model_facts(HEAD | rope))
    facts = Facts(SettingsBuilder("vllm").build(), Context(UNKNOWN.target, draft, {}), default=Known, derivations={})
    assert draft_rope_sizes_cache(facts) == Known(raised)


@pytest.mark.parametrize("release", ["0.27.0", "0.28.0", "0.33.0"])
def test_raised_positions_leave_the_v1_runner_without_drafts(release: str) -> None:
    draft = HEAD | {"max_position_embeddings": 256}
    found = met(release, eagle(), draft=draft, env={"VLLM_USE_V2_MODEL_RUNNER": "0"})
    assert any(name.startswith("no-drafts-beyond-draft-length") for name in found)


@pytest.mark.parametrize(
    ("release", "architecture", "runs_past"),
    [
        ("0.22.0", "Qwen3ForCausalLM", True),
        ("0.22.0", "LlamaForCausalLM", False),
        ("0.23.0", "LlamaForCausalLM", True),
        ("0.25.0", "LlamaForCausalLM", True),
        ("0.26.0", "Qwen2MoeForCausalLM", True),
        ("0.27.0", "LlamaForCausalLM", False),
    ],
)
def test_a_short_head_on_either_runner(release: str, architecture: str, runs_past: bool) -> None:
    found = met(
        release,
        eagle(),
        target=LLAMA | {"architectures": [architecture]},
        draft=HEAD | {"max_position_embeddings": 256},
    )
    assert any(name.startswith("drafts-past-head-v2-runner") for name in found) is runs_past
    if release < "0.25.0":
        assert ("no-drafts-beyond-draft-length-022" in found) is not runs_past


def test_a_target_with_experts_of_its_own_stays_on_the_v1_runner() -> None:
    short = HEAD | {"max_position_embeddings": 256}
    experts = LLAMA | {"architectures": ["OtherMoeForCausalLM"], "num_local_experts": 8}
    found = met("0.25.1", eagle(), target=experts, draft=short)
    assert not any(name.startswith("drafts-past-head-v2-runner") for name in found)


@pytest.mark.parametrize(
    ("target", "more", "refused"),
    [
        (VISION, (), True),
        (LLAMA, (), False),
        (VISION, ("--language-model-only",), False),
        (VISION, ("--limit-mm-per-prompt", '{"image":0}'), False),
    ],
)
def test_a_draft_model_beside_a_multimodal_target(target: dict[str, Any], more: tuple[str, ...], refused: bool) -> None:
    found = met("0.20.2", whole(), *more, target=target, draft=LLAMA)
    assert ("draft-model-multimodal" in found) is refused


def test_whether_limits_leave_a_target_multimodal_is_not_known() -> None:
    argv = ["vllm", "serve", "/models/target", "--speculative-config", json.dumps(whole())]
    case = {"release": "0.20.2", "target": VISION, "draft": LLAMA}
    limited = judged(case | {"argv": [*argv, "--limit-mm-per-prompt", '{"image":0}']}).result
    assert "vllm/draft-model-multimodal" in {item.constraint for item in limited.not_checked}
    assert "vllm/draft-model-multimodal" not in {i.constraint for i in judged(case | {"argv": argv}).result.not_checked}


@pytest.mark.parametrize(
    ("config", "tokens", "refused"),
    [(whole(), 3, True), (eagle(), 3, False), (eagle(method="eagle3", parallel_drafting=True), 3, True),
     (eagle(method="eagle3", parallel_drafting=True), 1, False)],
)  # fmt: skip
def test_drafts_that_take_more_slots_than_the_target(config: dict[str, Any], tokens: int, refused: bool) -> None:
    config = config | {"num_speculative_tokens": tokens, "disable_padded_drafter_batch": True}
    draft = (HEAD if "eagle" in config["method"] else LLAMA) | {"pard_token": 5}
    assert ("padded-batch-needed" in met("0.24.0", config, draft=draft)) is refused


@pytest.mark.parametrize(
    ("release", "key", "known"),
    [
        ("0.19.1", "pard_token", True),
        ("0.20.0", "mask_token_id", False),
        ("0.27.1", "mask_token_id", False),
        ("0.28.0", "mask_token_id", True),
        ("0.28.0", "dspark_noise_token_id", True),
    ],
)
def test_the_mask_token_of_a_parallel_draft(release: str, key: str, known: bool) -> None:
    found = met(release, whole(parallel_drafting=True), draft=LLAMA | {key: 5})
    assert any(name.startswith("parallel-drafting-token") for name in found) is not known


@pytest.mark.parametrize(
    ("release", "method", "ignored"),
    [("0.9.2", "eagle", True), ("0.12.0", "eagle3", True), ("0.33.0", "eagle", True), ("0.33.0", "draft_model", False),
     ("0.29.0", "dspark", True), ("0.30.0", "dspark", False)],
)  # fmt: skip
def test_the_draft_is_as_parallel_as_the_target(release: str, method: str, ignored: bool) -> None:
    config = {"method": method, "model": "/models/d", "num_speculative_tokens": 3, "draft_tensor_parallel_size": 1}
    found = met(release, config, "-tp", "2", draft=LLAMA if method == "draft_model" else HEAD)
    assert any(name.startswith("draft-tp-ignored") for name in found) is ignored


def test_the_quantization_of_the_target_shows_for_its_own_mtp_layers() -> None:
    target = LLAMA | {"architectures": ["MiMoForCausalLM"], "model_type": "mimo", "num_nextn_predict_layers": 1}
    argv = ["vllm", "serve", "/models/target", "--quantization", "fp8", "--speculative-config", json.dumps(mtp(1))]
    effective = judged({"release": "0.33.0", "argv": argv, "target": target}).result.effective
    assert effective["speculative_config.quantization"].value == Known("fp8")


def test_a_longer_draft_is_cut_to_the_target() -> None:
    argv = ["vllm", "serve", "/models/target", "--speculative-config", json.dumps(whole())]
    draft = LLAMA | {"max_position_embeddings": 4096}
    effective = judged({"release": "0.20.2", "argv": argv, "target": LLAMA, "draft": draft}).result.effective
    assert effective["speculative_config.max_model_len"].value == Known(512)
