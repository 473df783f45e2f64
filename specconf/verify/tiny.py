"""Configs of tiny models, hand-written and just large enough for an engine to read: no weights, no tokenizer.

`TARGETS` holds one of each family by a short name; `draft` makes those of a kind that fit a target, or that
deliberately do not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from specconf.words import JsonValue

Config: TypeAlias = Mapping[str, JsonValue]

CONTEXT = 4096
VOCABULARY = 1024

_BASE: dict[str, JsonValue] = {
    "bos_token_id": 1,
    "eos_token_id": 2,
    "hidden_act": "silu",
    "hidden_size": 128,
    "initializer_range": 0.02,
    "intermediate_size": 256,
    "max_position_embeddings": CONTEXT,
    "num_attention_heads": 4,
    "head_dim": 32,
    "num_hidden_layers": 4,
    "num_key_value_heads": 2,
    "rms_norm_eps": 1e-6,
    "rope_theta": 10000.0,
    "tie_word_embeddings": False,
    "torch_dtype": "bfloat16",
    "use_cache": True,
    "vocab_size": VOCABULARY,
}


def config(architecture: str, model_type: str, **changes: JsonValue) -> dict[str, JsonValue]:
    """A config of an architecture: what every decoder has, and its own keys. A key that is None is left out."""
    whole: dict[str, JsonValue] = {**_BASE, "architectures": [architecture], "model_type": model_type, **changes}
    return {key: value for key, value in whole.items() if value is not None}


_EXPERTS: dict[str, JsonValue] = {
    "num_experts": 8,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": 64,
    "decoder_sparse_step": 1,
    "mlp_only_layers": [],
    "norm_topk_prob": True,
}
_ROUTED: dict[str, JsonValue] = {
    "n_routed_experts": 8,
    "n_shared_experts": 1,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": 64,
    "first_k_dense_replace": 1,
    "n_group": 2,
    "topk_group": 1,
    "norm_topk_prob": True,
    "routed_scaling_factor": 2.5,
    "num_nextn_predict_layers": 1,
    "attention_bias": False,
}
_LATENT: dict[str, JsonValue] = {
    "head_dim": None,
    "num_key_value_heads": 4,
    "q_lora_rank": 64,
    "kv_lora_rank": 64,
    "qk_nope_head_dim": 32,
    "qk_rope_head_dim": 16,
    "v_head_dim": 32,
    "topk_method": "noaux_tc",
    "scoring_func": "sigmoid",
    "moe_layer_freq": 1,
}
_GEMMA3_TEXT = config(
    "Gemma3ForCausalLM",
    "gemma3_text",
    query_pre_attn_scalar=32,
    sliding_window=512,
    hidden_activation="gelu_pytorch_tanh",
    layer_types=["sliding_attention", "sliding_attention", "sliding_attention", "full_attention"],
)
_VISION: dict[str, JsonValue] = {
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_attention_heads": 2,
    "num_hidden_layers": 2,
    "image_size": 56,
    "patch_size": 14,
}

TARGETS: Mapping[str, Config] = {
    "llama": config("LlamaForCausalLM", "llama"),
    "qwen2": config("Qwen2ForCausalLM", "qwen2", head_dim=None),
    "qwen3": config("Qwen3ForCausalLM", "qwen3"),
    "qwen3-moe": config("Qwen3MoeForCausalLM", "qwen3_moe", **_EXPERTS),
    "mixtral": config("MixtralForCausalLM", "mixtral", num_local_experts=8, num_experts_per_tok=2, sliding_window=None),
    "mistral": config("MistralForCausalLM", "mistral", sliding_window=None),
    "phi3": config("Phi3ForCausalLM", "phi3", head_dim=None, pad_token_id=0, original_max_position_embeddings=CONTEXT),
    "granite": config(
        "GraniteForCausalLM",
        "granite",
        head_dim=None,
        attention_multiplier=0.1,
        embedding_multiplier=12.0,
        logits_scaling=8.0,
        residual_multiplier=0.22,
    ),
    "opt": config(
        "OPTForCausalLM",
        "opt",
        head_dim=None,
        num_key_value_heads=None,
        ffn_dim=256,
        word_embed_proj_dim=128,
        activation_function="relu",
        do_layer_norm_before=True,
    ),
    "gemma3": {**_GEMMA3_TEXT},
    "gemma3-vision": {
        "architectures": ["Gemma3ForConditionalGeneration"],
        "model_type": "gemma3",
        "text_config": {key: value for key, value in _GEMMA3_TEXT.items() if key != "architectures"},
        "vision_config": {**_VISION, "model_type": "siglip_vision_model"},
        "mm_tokens_per_image": 16,
        "image_token_index": 1000,
        "boi_token_index": 1001,
        "eoi_token_index": 1002,
        "torch_dtype": "bfloat16",
    },
    "gpt-oss": config(
        "GptOssForCausalLM",
        "gpt_oss",
        num_local_experts=8,
        num_experts_per_tok=2,
        sliding_window=128,
        layer_types=["sliding_attention", "full_attention", "sliding_attention", "full_attention"],
        attention_bias=True,
    ),
    "deepseek-v3": config("DeepseekV3ForCausalLM", "deepseek_v3", **{**_ROUTED, **_LATENT}),
    "deepseek-v2": config(
        "DeepseekV2ForCausalLM", "deepseek_v2", **{**_ROUTED, **_LATENT, "num_nextn_predict_layers": None}
    ),
    "glm4-moe": config("Glm4MoeForCausalLM", "glm4_moe", partial_rotary_factor=0.5, use_qk_norm=False, **_ROUTED),
    "mimo": config("MiMoForCausalLM", "qwen2", head_dim=None, num_nextn_predict_layers=1, attention_bias=True),
    "qwen3-next": config(
        "Qwen3NextForCausalLM",
        "qwen3_next",
        full_attention_interval=4,
        linear_conv_kernel_dim=4,
        linear_key_head_dim=32,
        linear_num_key_heads=2,
        linear_num_value_heads=4,
        linear_value_head_dim=32,
        partial_rotary_factor=0.25,
        shared_expert_intermediate_size=64,
        num_nextn_predict_layers=1,
        layer_types=["linear_attention", "linear_attention", "linear_attention", "full_attention"],
        **_EXPERTS,
    ),
    "ernie-moe": config(
        "Ernie4_5_MoeForCausalLM",
        "ernie4_5_moe",
        moe_num_experts=8,
        moe_k=2,
        moe_intermediate_size=64,
        moe_num_shared_experts=1,
        moe_layer_start_index=1,
        moe_layer_end_index=3,
        moe_layer_interval=1,
        num_nextn_predict_layers=1,
        use_bias=False,
    ),
    "llama-fp8": config(
        "LlamaForCausalLM",
        "llama",
        quantization_config={"quant_method": "fp8", "activation_scheme": "dynamic", "weight_block_size": [128, 128]},
    ),
    "llama-awq": config(
        "LlamaForCausalLM",
        "llama",
        torch_dtype="float16",
        quantization_config={
            "quant_method": "awq",
            "bits": 4,
            "group_size": 128,
            "version": "gemm",
            "zero_point": True,
        },
    ),
}


def text(target: Config) -> Config:
    """The decoder's own part of a config."""
    inner = target.get("text_config")
    return inner if isinstance(inner, dict) else target


def _shape(target: Config) -> dict[str, JsonValue]:
    """What a head has in common with its target: its sizes, and as many parts to be divided among ranks."""
    decoder = text(target)
    names = (
        "hidden_size",
        "vocab_size",
        "max_position_embeddings",
        "num_attention_heads",
        "num_key_value_heads",
        "head_dim",
    )
    return {name: decoder[name] for name in names if name in decoder}


def _head(architecture: str, model_type: str = "llama", **keys: JsonValue) -> Callable[[Config], Config]:
    def made(target: Config) -> Config:
        return config(architecture, model_type, **{"num_hidden_layers": 1, **_shape(target), **keys})

    return made


def _plain(**keys: JsonValue) -> Callable[[Config], Config]:
    """A smaller model of the target's own family, without MTP layers; of a multimodal one its decoder alone."""

    def made(target: Config) -> Config:
        decoder = {"architectures": target["architectures"], **text(target)}
        if target is not text(target):
            decoder["architectures"] = TARGETS["gemma3"]["architectures"]
        decoder.pop("num_nextn_predict_layers", None)
        decoder.pop("quantization_config", None)
        whole = {**decoder, **keys}
        kinds, layers = whole.get("layer_types"), whole["num_hidden_layers"]
        if isinstance(kinds, list) and isinstance(layers, int):
            whole["layer_types"] = kinds[-layers:]  # the last layer attends fully in every family
        return whole

    return made


def _speculators(kind: str, architecture: str, family: str) -> Callable[[Config], Config]:
    """A checkpoint of the speculators library, which names the model that verifies."""

    def made(target: Config) -> Config:
        layer = config("", family, num_hidden_layers=1, **_shape(target))
        return {
            "architectures": [architecture],
            "speculators_model_type": kind,
            "speculators_version": "0.1.0",
            "draft_vocab_size": 768,
            "mask_token_id": 5,
            "aux_hidden_state_layer_ids": [1, 2],
            "block_size": 8,
            "transformer_layer_config": {key: value for key, value in layer.items() if key != "architectures"},
            "speculators_config": {
                "algorithm": kind,
                "default_proposal_method": "greedy",
                "proposal_methods": [{"proposal_type": "greedy", "speculative_tokens": 3}],
                "verifier": {"name_or_path": "models/target", "architectures": list_of(target)},
            },
            "torch_dtype": "bfloat16",
        }

    return made


def list_of(target: Config) -> list[JsonValue]:
    """The architectures that a config names."""
    named = target.get("architectures")
    return list(named) if isinstance(named, list) else []


_BLOCK: dict[str, JsonValue] = {
    "num_hidden_layers": 2,
    "block_size": 8,
    "mask_token_id": 5,
    "layer_types": ["full_attention", "full_attention"],
    "dflash_config": {"mask_token_id": 5, "target_layer_ids": [1, 2]},
}

_SPARK: dict[str, JsonValue] = {**_BLOCK, "dflash_config": None, "target_layer_ids": [1, 2], "markov_rank": 8}

DRAFTS: Mapping[str, Callable[[Config], Config]] = {
    "same": _plain(num_hidden_layers=2),
    "one-layer": _plain(num_hidden_layers=1),
    "other-vocabulary": _plain(num_hidden_layers=2, vocab_size=VOCABULARY // 2),
    "longer": _plain(num_hidden_layers=2, max_position_embeddings=2 * CONTEXT),
    "shorter": _plain(num_hidden_layers=2, max_position_embeddings=CONTEXT // 2),
    "fp8": _plain(num_hidden_layers=2, quantization_config={"quant_method": "fp8", "activation_scheme": "dynamic"}),
    "llama": lambda _: config("LlamaForCausalLM", "llama", num_hidden_layers=2),
    "eagle": _head("LlamaForCausalLM", bias=False),
    "eagle-class": _head("LlamaForCausalLMEagle"),
    "eagle3": _head("LlamaForCausalLMEagle3", draft_vocab_size=512),
    "eagle3-short": _head("LlamaForCausalLMEagle3", draft_vocab_size=512, max_position_embeddings=CONTEXT // 2),
    "speculators-eagle3": _speculators("eagle3", "Eagle3Speculator", "llama"),
    "speculators-dflash": _speculators("dflash", "DFlashSpeculator", "qwen3"),
    "speculators-dspark": _speculators("dspark", "DSparkSpeculator", "qwen3"),
    "medusa": lambda target: {
        "hidden_size": text(target)["hidden_size"],
        "vocab_size": text(target)["vocab_size"],
        "architectures": ["MedusaModel"],
        "model_type": "medusa",
        "num_heads": 3,
        "num_hidden_layers": 1,
        "torch_dtype": "bfloat16",
    },
    "mlp-speculator": lambda target: {
        "architectures": ["MLPSpeculatorPreTrainedModel"],
        "model_type": "mlp_speculator",
        "vocab_size": text(target)["vocab_size"],
        "emb_dim": text(target)["hidden_size"],
        "inner_dim": 64,
        "n_predict": 3,
        "top_k_tokens_per_head": [5, 3, 1],
        "n_candidates": 5,
        "torch_dtype": "bfloat16",
    },
    "dflash": _head("DFlashDraftModel", "qwen3", **_BLOCK),
    "dflash2": _head("DFlash2DraftModel", "qwen3", **_BLOCK),
    "dspark": _head("Qwen3DSparkModel", "qwen3", **_SPARK),
}


def draft(kind: str, target: Config) -> Config:
    """The config of a draft of a kind for a target."""
    return DRAFTS[kind](target)
