"""Launches of vLLM to be loaded for real on a CPU: each method with the drafts it takes and those it does not, and the examples
of the constraints that show only once an engine loads its weights or answers.

Models are tiny, and have what the CPU's kernels need: heads of 32, and every size written down.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from specconf.compat.rows import Constraint
from specconf.compat.view import View
from specconf.findings import Effect, Stage
from specconf.oracle.asking import Question
from specconf.verify.asked import Asked
from specconf.words import JsonValue

Config = Mapping[str, JsonValue]

_SIZES: dict[str, JsonValue] = {
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_attention_heads": 4,
    "num_key_value_heads": 4,
    "head_dim": 32,
    "vocab_size": 1024,
    "max_position_embeddings": 512,
    "rms_norm_eps": 1e-5,
    "hidden_act": "silu",
    "tie_word_embeddings": False,
    "torch_dtype": "float32",
    "bos_token_id": 1,
    "eos_token_id": 2,
    "pad_token_id": 0,
}
# Qwen2 and OPT have no head size of their own: two heads of 32.
_TWO_HEADS: dict[str, JsonValue] = {"num_attention_heads": 2, "num_key_value_heads": 2}


def tiny(architecture: str, model_type: str, layers: int, **others: JsonValue) -> Config:
    """A config of Llama's kind."""
    return _SIZES | {
        "architectures": [architecture],
        "model_type": model_type,
        "num_hidden_layers": layers,
        **others,
    }


# EAGLE-3 reads three layers of its target, by default the third, a middle one and the third from the end.
LLAMA = tiny("LlamaForCausalLM", "llama", 8)
QWEN3 = tiny("Qwen3ForCausalLM", "qwen3", 8)
DRAFT = tiny("LlamaForCausalLM", "llama", 2)
OTHER_VOCABULARY = tiny("LlamaForCausalLM", "llama", 2, vocab_size=512)
EAGLE = tiny("LlamaForCausalLM", "llama", 1, bias=False)
EAGLE3 = tiny("LlamaForCausalLMEagle3", "llama", 1)
EAGLE3_REDUCED = tiny("LlamaForCausalLMEagle3", "llama", 1, draft_vocab_size=768)
EAGLE3_UNNAMED = tiny("LlamaForCausalLM", "llama", 1, draft_vocab_size=768)
DFLASH = tiny(
    "DFlashDraftModel",
    "qwen3",
    2,
    block_size=8,
    layer_types=["full_attention", "full_attention"],
    dflash_config={"mask_token_id": 5, "target_layer_ids": [1, 3]},
)
MEDUSA: Config = {
    "architectures": ["MedusaModel"],
    "model_type": "medusa",
    "hidden_size": 64,
    "num_heads": 3,
    "num_hidden_layers": 1,
    "vocab_size": 1024,
}
# Without code of its own MiMo is read as the Qwen2 that it is, its MTP layers with it.
MIMO = tiny("MiMoForCausalLM", "qwen2", 4, num_nextn_predict_layers=1, **_TWO_HEADS)
OPT: Config = {
    "architectures": ["OPTForCausalLM"],
    "model_type": "opt",
    "hidden_size": 64,
    "word_embed_proj_dim": 64,
    "ffn_dim": 128,
    "num_hidden_layers": 8,
    "num_attention_heads": 2,
    "vocab_size": 1024,
    "max_position_embeddings": 512,
    "do_layer_norm_before": True,
    "activation_function": "relu",
    "torch_dtype": "float32",
    "bos_token_id": 1,
    "eos_token_id": 2,
    "pad_token_id": 0,
}
TARGET, HEAD = "models/target", "models/head"
SPECULATORS: Config = {
    "architectures": ["Eagle3Speculator"],
    "speculators_model_type": "eagle3",
    "speculators_version": "0.3.0",
    "draft_vocab_size": 768,
    "norm_before_residual": False,
    "has_no_defaults_at_init": False,
    "torch_dtype": "float32",
    "transformer_layer_config": dict(tiny("LlamaForCausalLM", "llama", 1)),
    "speculators_config": {
        "algorithm": "eagle3",
        "default_proposal_method": "greedy",
        "proposal_methods": [
            {"proposal_type": "greedy", "speculative_tokens": 3, "verifier_accept_k": 1, "accept_tolerance": 0.0}
        ],
        "verifier": {"name_or_path": TARGET, "architectures": ["LlamaForCausalLM"]},
    },
}

# name, target, speculation, draft, other words. A draft is the model `models/head`.
_LAUNCHES: tuple[tuple[str, Config, dict[str, JsonValue] | None, Config | None, tuple[str, ...]], ...] = (
    ("target alone", LLAMA, None, None, ()),
    ("Qwen3 alone", QWEN3, None, None, ()),
    ("ngram", LLAMA, {"method": "ngram", "prompt_lookup_min": 1, "prompt_lookup_max": 3}, None, ()),
    ("ngram, length 0", LLAMA, {"method": "ngram", "num_speculative_tokens": 0}, None, ()),
    ("ngram, pipeline of 2", LLAMA, {"method": "ngram"}, None, ("-pp", "2")),
    ("suffix", LLAMA, {"method": "suffix", "num_speculative_tokens": 8}, None, ()),
    ("draft model", LLAMA, {"method": "draft_model"}, DRAFT, ()),
    ("draft model, method left out", LLAMA, {}, DRAFT, ()),
    ("draft model of another vocabulary", LLAMA, {"method": "draft_model"}, OTHER_VOCABULARY, ()),
    ("draft model on Qwen3", QWEN3, {"method": "draft_model"}, tiny("Qwen3ForCausalLM", "qwen3", 2), ()),
    ("eagle", LLAMA, {"method": "eagle"}, EAGLE, ()),
    ("eagle3", LLAMA, {"method": "eagle3"}, EAGLE3, ()),
    ("eagle3, reduced vocabulary", LLAMA, {"method": "eagle3"}, EAGLE3_REDUCED, ()),
    ("eagle3 on Qwen3", QWEN3, {"method": "eagle3"}, EAGLE3_REDUCED, ()),
    ("eagle head as eagle3", LLAMA, {"method": "eagle3"}, EAGLE, ()),
    ("eagle3 head as eagle", LLAMA, {"method": "eagle"}, EAGLE3_REDUCED, ()),
    ("eagle3 head that names Llama, as eagle", LLAMA, {"method": "eagle"}, EAGLE3_UNNAMED, ()),
    ("whole model as eagle", LLAMA, {"method": "eagle"}, DRAFT, ()),
    ("eagle head as draft model", LLAMA, {"method": "draft_model"}, EAGLE, ()),
    ("dflash", LLAMA, {"method": "dflash"}, DFLASH, ()),
    ("medusa", LLAMA, {"method": "medusa"}, MEDUSA, ()),
    ("speculators as draft", LLAMA, {"method": "eagle3"}, SPECULATORS, ()),
    ("mtp on MiMo, 1 token", MIMO, {"method": "mtp", "num_speculative_tokens": 1}, None, ()),
    ("mtp on MiMo, 3 tokens", MIMO, {"method": "mtp"}, None, ()),
    ("mtp on Llama", LLAMA, {"method": "mtp", "num_speculative_tokens": 1}, None, ()),
    ("eagle on OPT", OPT, {"method": "eagle"}, EAGLE, ()),
    ("eagle3 on OPT", OPT, {"method": "eagle3"}, EAGLE3_REDUCED, ()),
)

# An effect that a start or its first request shows; the others leave an engine that answers.
_SHOWN = frozenset({Effect.REJECTS, Effect.CRASHES})
_LATE = frozenset({Stage.WORKER, Stage.LOAD, Stage.REQUEST})


def methods() -> list[Asked]:
    """Each method with the drafts it takes and those it does not."""
    found = [
        Asked(f"load {name}", _question(target, speculation, draft, words))
        for name, target, speculation, draft, words in _LAUNCHES
    ]
    positional = Question(("vllm", "serve", HEAD), models={TARGET: LLAMA, HEAD: SPECULATORS})
    return [*found, Asked("load speculators as the model", positional)]


def _question(
    target: Config, speculation: dict[str, JsonValue] | None, draft: Config | None, words: tuple[str, ...]
) -> Question:
    models = {TARGET: target} | ({HEAD: draft} if draft is not None else {})
    argv = ["vllm", "serve", TARGET]
    if speculation is not None:
        default: dict[str, JsonValue] = {"num_speculative_tokens": 3}
        keys = default | ({"model": HEAD} if draft is not None else {}) | speculation
        argv += ["--speculative-config", json.dumps(keys)]
    return Question((*argv, *words), models=models)


def examples(view: View) -> list[Asked]:
    """Probe and twin of each constraint of this release that shows itself late, where a CPU can be asked; each once."""
    found: dict[str, Asked] = {}
    for constraint, holds in view.constraints:
        if holds is not True or constraint.common or not constraint.evaluated:
            continue
        if constraint.stage in _LATE and constraint.effect in _SHOWN:
            for asked in _of(constraint):
                found.setdefault(asked.question.key, asked)
    return list(found.values())


def _of(constraint: Constraint) -> Iterator[Asked]:
    for name in ("probe", "twin"):
        example = constraint.examples().get(name)
        if example is not None and _askable(example):
            yield Asked(f"{constraint.id} {name}", _of_example(example))


def _askable(example: Mapping[str, Any]) -> bool:
    """Whether an example is about what a CPU and a config.json have: no GPU, no other instance, no tensors of its own."""
    facts = dict(example.get("facts") or {})
    return (
        facts in ({}, {"hardware.platform": "cpu"})
        and not example.keys() & {"target_tensors", "draft_tensors"}
        and "target" in example
    )


def _of_example(example: Mapping[str, Any]) -> Question:
    argv = tuple(str(word).replace("/models/", "models/") for word in example["argv"])
    named = sorted({name for word in argv for name in re.findall(r"models/[\w.-]+", word)})
    target = next(word for word in argv if word.startswith("models/"))
    models = {target: completed(example["target"])}
    draft = example.get("draft")
    if draft is not None:
        models |= {name: completed(draft) for name in named if name != target}
    env = {str(name): str(value) for name, value in (example.get("env") or {}).items()}
    return Question(argv, env, dict(example.get("files") or {}), models)


def completed(config: Mapping[str, Any]) -> Config:
    """A config with the sizes that an example leaves out, since it is only read there and loaded here."""
    if "hidden_size" not in config:
        return dict(config)
    if config.get("model_type") == "opt":
        return {**OPT, **config, "num_attention_heads": 2}
    sizes = dict(_SIZES)
    heads = config.get("num_attention_heads", sizes["num_attention_heads"])
    sizes["num_key_value_heads"] = heads
    return {**sizes, **config}
