"""Hand-written model configs, just large enough for an engine to read: no weights, no tokenizer."""

from __future__ import annotations

from typing import Any

_BASE: dict[str, Any] = {
    "bos_token_id": 1,
    "eos_token_id": 2,
    "hidden_act": "silu",
    "hidden_size": 128,
    "initializer_range": 0.02,
    "intermediate_size": 256,
    "max_position_embeddings": 4096,
    "num_attention_heads": 4,
    "head_dim": 32,
    "num_hidden_layers": 2,
    "num_key_value_heads": 2,
    "rms_norm_eps": 1e-6,
    "rope_theta": 10000.0,
    "tie_word_embeddings": False,
    "torch_dtype": "bfloat16",
    "use_cache": True,
    "vocab_size": 1024,
}


def config(architecture: str, model_type: str, **changes: Any) -> dict[str, Any]:
    """A config of an architecture."""
    return {**_BASE, "architectures": [architecture], "model_type": model_type, **changes}


LLAMA = config("LlamaForCausalLM", "llama")
LLAMA_SMALL = config("LlamaForCausalLM", "llama", num_hidden_layers=1)
QWEN3 = config("Qwen3ForCausalLM", "qwen3")
QWEN3_SMALL = config("Qwen3ForCausalLM", "qwen3", num_hidden_layers=1)
QWEN3_OTHER_VOCABULARY = config("Qwen3ForCausalLM", "qwen3", num_hidden_layers=1, vocab_size=512)
EAGLE_HEAD = config("LlamaForCausalLMEagle", "llama", num_hidden_layers=1)
EAGLE3_HEAD = config("LlamaForCausalLMEagle3", "llama", num_hidden_layers=1, draft_vocab_size=512)
