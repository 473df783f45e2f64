"""Whole config.json contents from parts: what an engine reads of every model, beside the keys that an example is about."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_SHAPE: dict[str, Any] = {
    "bos_token_id": 1,
    "eos_token_id": 2,
    "head_dim": 32,
    "hidden_act": "silu",
    "hidden_size": 128,
    "initializer_range": 0.02,
    "intermediate_size": 256,
    "max_position_embeddings": 4096,
    "num_attention_heads": 4,
    "num_hidden_layers": 2,
    "num_key_value_heads": 2,
    "rms_norm_eps": 1e-6,
    "rope_theta": 10000.0,
    "tie_word_embeddings": False,
    "torch_dtype": "bfloat16",
    "use_cache": True,
    "vocab_size": 1024,
}


# Where transformers' name is not the architecture's own in small letters.
_MODEL_TYPES = {
    "MiMo": "qwen2",  # its own class is remote code that reads the same keys
    "LlamaForCausalLMEagle": "llama",
    "LlamaForCausalLMEagle3": "llama",
    "Eagle": "llama",
    "Eagle3": "llama",
    "EagleLlama": "llama",
    "Eagle3Llama": "llama",
    "LlamaEagle3": "llama",
    "OPT": "opt",
    "GptOss": "gpt_oss",
    "DeepseekV3": "deepseek_v3",
}
# A draft's config is of the class of the model it is built like.
_DRAFT = re.compile(r"Eagle|MTP|NextN|DSpark|DFlash|Medusa|MLPSpeculator|PEagle|Speculator|Draft")
_BASES = (
    ("Qwen3Moe", "qwen3_moe"),
    ("Qwen3", "qwen3"),
    ("Qwen2", "qwen2"),
    ("DeepSeek", "deepseek_v3"),
    ("Deepseek", "deepseek_v3"),
    ("Glm4Moe", "glm4_moe"),
    ("MiMo", "qwen2"),
    ("Mistral", "mistral"),
)
_HEAD = re.compile(r"For(CausalLM|ConditionalGeneration|\w+)(NextN|Eagle3?|MTP)?$|(Model|MTP|MTPModel|LMHeadModel)$")

_LATENT: dict[str, Any] = {
    "kv_lora_rank": 16,
    "q_lora_rank": 32,
    "qk_nope_head_dim": 32,
    "qk_rope_head_dim": 16,
    "v_head_dim": 32,
}
_INDEXED: dict[str, Any] = {"index_head_dim": 32, "index_n_heads": 4, "index_topk": 64}
_WINDOWED: dict[str, Any] = {"sliding_window": 128}
# What engines read of these families without asking whether it is there.
_FURTHER: Mapping[str, Mapping[str, Any]] = {
    "DeepseekV2": _LATENT,
    "DeepseekV3": _LATENT,
    "DeepseekV32": _INDEXED,
    "DeepseekV4": _LATENT | _INDEXED | _WINDOWED | {"rope_scaling": {"rope_type": "yarn", "factor": 1.0}},
    "Exaone4": _WINDOWED,
    "IQuestQ1ForCausalLM": {"use_hybrid_layers": False, "rotary_dim": 16},
    "MiMoV2": _WINDOWED | {"swa_head_dim": 32, "swa_num_attention_heads": 4, "swa_num_key_value_heads": 2},
    "MuseGlimmer": _WINDOWED,
    "Step3p5": _WINDOWED | {"num_attention_groups": 2},
}
# Lists, and one text, with one entry a layer: the first layer's, and that of all others.
_LAYERED: Mapping[str, tuple[str, Any, Any]] = {
    "DeepseekV4": ("compress_ratios", 0, 4),
    "Exaone4": ("layer_types", "full_attention", "sliding_attention"),
    "MiMoV2": ("hybrid_layer_pattern", 0, 1),
    "NemotronH": ("hybrid_override_pattern", "M", "*"),
    "MuseGlimmer": ("layer_types", "full_attention", "sliding_attention"),
    "Step3p5": ("layer_types", "full_attention", "sliding_attention"),
}
# Configs whose decoder is described by an inner config of this type.
_NOTHING_PER_LAYER = {"hidden_size_per_layer_input": 0, "vocab_size_per_layer_input": 0}
_INNER = {"Gemma4ForConditionalGeneration": "gemma4_text", "Gemma4Assistant": "gemma4_text"}


def model_type(architecture: str) -> str:
    """Transformers' name of an architecture's config, as its own classes are named: `Qwen3MoeForCausalLM` → `qwen3_moe`."""
    stem = _HEAD.sub("", architecture)
    if _DRAFT.search(architecture):
        return next((name for prefix, name in _BASES if architecture.startswith(prefix)), "llama")
    for name in (architecture, stem):
        if name in _MODEL_TYPES:
            return _MODEL_TYPES[name]
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", stem).lower().replace("_v_", "_v")


def filled(config: Mapping[str, Any]) -> dict[str, Any]:
    """A config with every key that an engine reads of a small model; what is given stays, and its heads fit its width."""
    whole = {**_SHAPE, **config}
    named = config.get("architectures")
    if "model_type" not in config and isinstance(named, list) and named and "speculators_config" not in config:
        whole["model_type"] = model_type(str(named[0]))
    if isinstance(named, list) and named:
        whole = _of_family(str(named[0]), whole) | dict(config)
    if "hidden_size" in config or "num_attention_heads" in config:
        heads = max(1, int(whole["num_attention_heads"] or 1))
        whole["num_key_value_heads"] = config.get("num_key_value_heads", heads)
        whole["head_dim"] = config.get("head_dim", max(1, int(whole["hidden_size"]) // heads))
    inner = next((kind for prefix, kind in _INNER.items() if named and str(named[0]).startswith(prefix)), None)
    if inner is not None and "text_config" not in config:
        own = ("architectures", "text_config")
        text = {key: value for key, value in whole.items() if key not in own}
        whole["text_config"] = text | {"model_type": inner, **_NOTHING_PER_LAYER}
    return whole


def _of_family(architecture: str, whole: Mapping[str, Any]) -> dict[str, Any]:
    """A config with what the engines read of its family alone; a draft's layers are not those of its target."""
    found = dict(whole)
    for prefix, keys in _FURTHER.items():
        if architecture.startswith(prefix):
            found |= keys
    for prefix, (key, first, others) in _LAYERED.items():
        if architecture.startswith(prefix):
            entries = [first, *[others] * (int(whole["num_hidden_layers"] or 1) - 1)]
            found[key] = "".join(entries) if first == "M" else entries
    return found
