"""Hand-written model configs, just large enough for an engine to read: no weights, no tokenizer."""

from __future__ import annotations

from typing import Any

from specconf.verify.filling import filled


def config(architecture: str, model_type: str, **changes: Any) -> dict[str, Any]:
    """A config of an architecture."""
    return filled({"architectures": [architecture], "model_type": model_type, **changes})


LLAMA = config("LlamaForCausalLM", "llama")
LLAMA_SMALL = config("LlamaForCausalLM", "llama", num_hidden_layers=1)
QWEN3 = config("Qwen3ForCausalLM", "qwen3")
QWEN3_SMALL = config("Qwen3ForCausalLM", "qwen3", num_hidden_layers=1)
QWEN3_OTHER_VOCABULARY = config("Qwen3ForCausalLM", "qwen3", num_hidden_layers=1, vocab_size=512)
EAGLE_HEAD = config("LlamaForCausalLMEagle", "llama", num_hidden_layers=1)
EAGLE3_HEAD = config("LlamaForCausalLMEagle3", "llama", num_hidden_layers=1, draft_vocab_size=512)
