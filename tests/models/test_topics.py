"""The facts of one topic each: latent attention, experts, positions, quantization, heads."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specconf.models import FACT_NAMES, Missing, model_facts
from specconf.models.reading import LARGEST

YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768}
LAYERED = {"sliding_attention": {"rope_type": "default"}, "full_attention": {"rope_type": "linear", "factor": 2.0}}

TABLE: list[tuple[dict[str, Any], dict[str, Any]]] = [
    (
        {"kv_lora_rank": 512, "q_lora_rank": 1536, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128},
        {"latent_attention": True, "kv_lora_rank": 512, "q_lora_rank": 1536, "qk_rope_head_dim": 64, "v_head_dim": 128},
    ),
    ({"kv_lora_rank": 512, "q_lora_rank": None}, {"latent_attention": True, "q_lora_rank": None}),
    ({"text_config": {"kv_lora_rank": 512}}, {"latent_attention": True, "kv_lora_rank": 512}),
    ({"num_attention_heads": 4}, {"latent_attention": False, "kv_lora_rank": None}),
    (
        {"n_routed_experts": 256, "num_experts_per_tok": 8, "n_shared_experts": 1, "moe_intermediate_size": 2048,
         "intermediate_size": 18432, "first_k_dense_replace": 3},
        {"num_experts": 256, "experts_per_token": 8, "shared_experts": 1, "expert_width": 2048, "width": 18432,
         "dense_first": 3},
    ),
    (
        {"num_local_experts": 8, "num_experts_per_tok": 2, "intermediate_size": 14336},
        {"num_experts": 8, "experts_per_token": 2, "expert_width": 14336},
    ),
    ({"moe_num_experts": [64, 64], "moe_k": 6}, {"num_experts": 64, "experts_per_token": 6}),
    ({"block_configs": [{"block_type": "moe", "n_routed_experts": 4}, {"block_type": "mamba"}]}, {"num_experts": 4}),
    ({"intermediate_size": 64}, {"num_experts": 0, "width": 64, "expert_width": None, "shared_expert_width": None}),
    ({"max_position_embeddings": 4096}, {"rope_type": "default", "rope_factor": None, "context_length": 4096}),
    (
        {"max_position_embeddings": 4096, "rope_scaling": {"type": "linear", "factor": 2.0}, "rope_theta": 10000.0},
        {"rope_type": "linear", "rope_factor": 2.0, "rope_theta": 10000.0, "context_length": 8192},
    ),
    ({"max_position_embeddings": 4096, "rope_scaling": {"type": "dynamic", "factor": 4}}, {"context_length": 16384}),
    ({"max_position_embeddings": 4096, "rope_scaling": {"rope_type": "llama3", "factor": 8}}, {"context_length": 4096}),
    ({"max_position_embeddings": 4096, "rope_scaling": {"type": "mrope"}}, {"context_length": 4096}),
    (
        {"model_type": "gemma3", "max_position_embeddings": 4096, "rope_scaling": {"rope_type": "linear", "factor": 8}},
        {"context_length": 4096},
    ),
    ({"max_position_embeddings": 131072, "rope_scaling": YARN}, {"rope_type": "yarn", "context_length": 131072}),
    (
        {"max_position_embeddings": 4096, "rope_parameters": {"rope_type": "linear", "factor": 2, "rope_theta": 5.0}},
        {"rope_factor": 2, "rope_theta": 5.0, "context_length": 8192},
    ),
    ({"max_position_embeddings": 4096, "rope_parameters": LAYERED}, {"rope_type": "linear"}),
    ({"max_position_embeddings": 4096, "seq_length": 2048}, {"context_length": 2048}),
    ({"max_position_embeddings": 2048, "model_max_length": 131072}, {"context_length": 131072}),
    ({"sliding_window": 4096}, {"sliding_window": 4096}),
    ({"sliding_window": 4096, "use_sliding_window": False}, {"sliding_window": None}),
    ({}, {"quantization": None, "quantization_ignores": None, "quantization_ignores_mtp": None}),
    (
        {"num_hidden_layers": 4, "quantization_config": {"quant_method": "awq", "bits": 4, "modules_to_not_convert": ["mtp"]}},
        {"quantization": "awq", "quantization_bits": 4, "quantization_ignores": ["mtp"],
         "quantization_ignores_mtp": True, "quantization_ignores_projection": True},
    ),
    (
        {"num_hidden_layers": 4, "quantization_config": {"quant_method": "fp8", "ignored_layers": ["model.layers.4.x"]}},
        {"quantization_ignores_mtp": True, "quantization_ignores_projection": False},
    ),
    (
        {"num_hidden_layers": 4, "quantization_config": {"quant_method": "x", "ignore": ["re:.*layers\\.3.*", "lm_head"]}},
        {"quantization_ignores_mtp": False},
    ),
    (
        {"quantization_config": {"quant_method": "modelopt", "quant_algo": "NVFP4", "ignore": ["mtp.layers.0*"]}},
        {"quantization_format": "NVFP4", "quantization_ignores_mtp": True, "quantization_ignores_projection": False},
    ),
    (
        {"quantization_config": {"quant_method": "gptq", "dynamic": {"-:.*mtp.*": {}, "+:.*a": {}}}},
        {"quantization_ignores": [".*mtp.*"], "quantization_ignores_mtp": True},
    ),
    (
        {"quantization_config": {"quant_method": "modelopt", "quantized_layers": {"model.layers.0.mlp.up_proj": {}}}},
        {"quantization_ignores_mtp": True, "quantization_ignores_projection": True},
    ),
    (
        {"quantization_config": {"quant_method": "compressed-tensors", "config_groups": {"g": {"targets": ["Linear"]}}}},
        {"quantization_ignores_mtp": False},
    ),
    ({"quantization_config": {"quant_method": "bitsandbytes", "load_in_4bit": True}}, {"quantization_bits": 4}),
    ({"quantization_config": {"quant_method": "fp8"}}, {"quantization_ignores": None, "quantization_ignores_mtp": False}),
    ({"compression_config": {"quant_method": "compressed-tensors", "format": "pack"}}, {"quantization_format": "pack"}),
    (
        {"eagle_config": {"eagle_aux_hidden_state_layer_ids": [1, 2], "use_aux_hidden_state": False}},
        {"aux_layers": [1, 2], "reads_target_layers": False},
    ),
    ({"dflash_config": {"target_layer_ids": [0, 5], "mask_token_id": 9}}, {"aux_layers": [1, 6], "mask_token_id": 9}),
    (
        {"dspark_target_layer_ids": [3], "dspark_block_size": 5, "dspark_noise_token_id": 7},
        {"aux_layers": [4], "block_size": 5, "mask_token_id": 7},
    ),
    ({"pard_token": 3, "mask_token_id": None}, {"mask_token_id": 3}),
    (
        {
            "speculators_model_type": "eagle3",
            "speculators_config": {
                "proposal_methods": [{"speculative_tokens": 5}],
                "verifier": {"name_or_path": "o/t", "architectures": ["LlamaForCausalLM"]},
            },
        },
        {"draft_kind": "eagle3", "verifier": "o/t", "verifier_architecture": "LlamaForCausalLM", "published_tokens": 5},
    ),
    ({"architectures": ["LlamaForCausalLM"]}, {"aux_layers": None, "verifier": None, "block_size": None}),
]  # fmt: skip


@pytest.mark.parametrize(("config", "expected"), TABLE)
def test_known(config: dict[str, Any], expected: dict[str, Any]) -> None:
    facts = model_facts(config)
    found = {path: facts.get(path) for path in expected}
    assert {path: None if isinstance(v, Missing) and v.absent else v for path, v in found.items()} == expected


UNKNOWN: list[tuple[dict[str, Any], str, str]] = [
    ({"kv_lora_rank": "512"}, "kv_lora_rank", "not a whole number"),
    ({"hidden_size": -1}, "hidden_size", "no size"),
    ({"vocab_size": LARGEST + 1}, "vocab_size", "no size"),
    ({"rope_theta": float("nan")}, "rope_theta", "no number"),
    ({"rope_theta": "1e6"}, "rope_theta", "not a number"),
    ({"rope_scaling": "yarn"}, "rope_type", "not a mapping"),
    ({"rope_scaling": {"a": {"type": "yarn"}, "b": {"type": "linear"}}}, "rope_type", "differs by layer"),
    ({"moe_num_experts": [64, 32]}, "num_experts", "differs by layer"),
    ({"block_configs": 3}, "num_experts", "not a list"),
    ({"quantization_config": {"ignore": 4}}, "quantization_ignores_mtp", "not a list of names"),
    ({"quantization_config": {"ignore": ["layers.3.x"]}}, "quantization_ignores_mtp", "no num_hidden_layers"),
    (
        {"quantization_config": {"config_groups": {"g": {"targets": ["re:model.layers.*"]}}}},
        "quantization_ignores_mtp",
        "patterns",
    ),
    ({"quantization_config": {"quantized_layers": {"mtp.fc": {}}}}, "quantization_ignores_projection", "in part"),
    ({"dflash_config": {"target_layer_ids": ["x"]}}, "aux_layers", "not a list of whole numbers"),
    ({"max_position_embeddings": 40960, "rope_scaling": YARN}, "context_length", "differs by release"),
    ({"hidden_size": 4}, "context_length", "gives no length"),
]


@pytest.mark.parametrize(("config", "path", "reason"), UNKNOWN)
def test_what_cannot_be_read_is_unknown_and_says_why(config: dict[str, Any], path: str, reason: str) -> None:
    found = model_facts(config).get(path)
    assert isinstance(found, Missing)
    assert reason in found.reason


def test_a_quantization_file_beside_the_config_lists_what_it_left_out() -> None:
    facts = model_facts({}, quantization_file={"quant_algo": "NVFP4", "exclude_modules": ["mtp*"]})
    assert facts.get("quantization") == "modelopt_fp4"
    assert (facts.get("quantization_format"), facts.get("quantization_ignores_mtp")) == ("NVFP4", True)
    assert model_facts({}, quantization_file={"quant_algo": "FP8"}).get("quantization") == "modelopt"


keys = st.sampled_from(
    [
        "kv_lora_rank", "q_lora_rank", "n_routed_experts", "moe_k", "block_configs", "moe_intermediate_size",
        "rope_scaling", "rope_parameters", "rope_theta", "max_position_embeddings", "model_max_length", "sliding_window",
        "use_sliding_window", "quantization_config", "compression_config", "num_hidden_layers", "dflash_config",
        "eagle_config", "target_layer_ids", "block_size", "mask_token_id", "speculators_config", "model_type",
    ]
)  # fmt: skip
inner_keys = keys | st.sampled_from(
    ["rope_type", "type", "factor", "original_max_position_embeddings", "quant_method", "ignore", "dynamic", "bits",
     "format", "verifier", "proposal_methods", "mask_token_id", "n_routed_experts", "config_groups",
     "targets", "quantized_layers"]
)  # fmt: skip
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(inner_keys, inner, max_size=4),
    max_leaves=8,
)


@settings(max_examples=300, deadline=None)
@given(
    st.dictionaries(keys, values, max_size=6),
    st.none() | st.dictionaries(inner_keys, values, max_size=3),
    st.booleans(),
)
def test_no_config_crashes_and_no_number_is_absurd(config: dict[str, Any], beside: Any, complete: bool) -> None:
    facts = model_facts(config, complete=complete, quantization_file=beside)
    for name in FACT_NAMES:
        found = facts.get(name)
        if name in {"context_length", "num_experts", "kv_lora_rank", "sliding_window", "block_size"}:
            assert isinstance(found, Missing) or found is None or (type(found) is int and found >= 0)
