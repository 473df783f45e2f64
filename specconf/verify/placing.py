"""Configs for the models that people's launches name: a config.json of the family that the name, or the checkpoint rows, tell.

Whole configs of published sources are used as they are. Where a row, or a sibling of the same name in another precision,
tells the architecture alone, the config is a tiny one of that architecture, or that of a checkpoint whose whole config is
known. Where nothing tells it, there is none: an invented family would make an invented verdict.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cached_property

from specconf.models.kinds import Kind
from specconf.models.rows import CheckpointRow
from specconf.verify.tiny import TARGETS, Config, draft, list_of, text
from specconf.words import JsonValue

# Keys that lead to files of the repository, or say nothing of the model.
_LEFT_OUT = re.compile(
    r"auto_map|_name_or_path|transformers_version|id2label|label2id|torchscript|task_specific_params"
)
# What names of one model in several precisions and makes differ in.
_MAKE = re.compile(
    r"[-_.](fp8|nvfp4|mxfp4|mxfp8|bf16|awq|gptq|int4|int8|w4a8|w8a8|w4a4|w4a16|a8w8|dynamic|block|quark|preview|instruct|it|chat"
    r"|thinking|base|hf|v\d|\d{4})(?=[-_.]|$)"
)

# A name's beginning, after its owner → the architecture or checkpoint that such names have. Public model cards say so.
FAMILIES: tuple[tuple[str, str], ...] = (
    (r"meta-llama-3-70b|llama-3\.[13]-70b", "meta-llama/Llama-3.3-70B-Instruct"),
    (
        r"(meta-)?llama-3(\.1)?-8b|llama-2-7b|vicuna|hermes|deepseek-r1-distill-llama",
        "meta-llama/Llama-3.1-8B-Instruct",
    ),
    (r"(meta-)?llama-(2|3|3\.[123])-|tinyllama|smollm2", "LlamaForCausalLM"),
    (r"llama-4", "meta-llama/Llama-4-Maverick-17B-128E-Instruct"),
    (r"deepseek-r1-distill-qwen|gte-qwen2", "Qwen2ForCausalLM"),
    (r"deepseek-(v3|v3\.1|v3-0324|r1|r1-0528|v3\.1-terminus)(-|$)", "deepseek-ai/DeepSeek-R1"),
    (r"deepseek-v3\.2", "deepseek-ai/DeepSeek-V3.2"),
    (r"deepseek-v4-(flash|pro)(-|$)", "deepseek-ai/DeepSeek-V4-Flash"),
    (r"qwen2(\.5)?-(?!vl|omni|audio)", "Qwen/Qwen2.5-7B-Instruct"),
    (r"qwen3-next", "Qwen/Qwen3-Next-80B-A3B-Thinking"),
    (r"qwen3-(?!vl|omni|coder-next|embedding|reranker).*a\d+b", "Qwen/Qwen3-235B-A22B"),
    (r"qwen3-\d", "Qwen/Qwen3-8B"),
    (r"qwen3\.[56]-.*a\d+b", "Qwen/Qwen3.5-122B-A10B"),
    (r"qwen3\.[56]-", "Qwen/Qwen3.5-27B"),
    (r"gpt-oss", "openai/gpt-oss-120b"),
    (r"glm-4\.[567](-air|-fp8|-nvfp4|$)", "Glm4MoeForCausalLM"),
    (r"glm-5(\.[12])?(-|$)", "zai-org/GLM-5.2"),
    (r"kimi-k2-", "moonshotai/Kimi-K2-Instruct"),
    (r"kimi-k2\.[567]", "nvidia/Kimi-K2.5-NVFP4"),
    (r"mixtral", "mistralai/Mixtral-8x7B-v0.1"),
    (r"mistral-7b", "MistralForCausalLM"),
    (r"opt-\d", "OPTForCausalLM"),
    (r"mimo-7b", "MiMoForCausalLM"),
    (r"mimo-v2-flash", "XiaomiMiMo/MiMo-V2-Flash"),
    (r"ernie-4\.5-.*a\d+b", "Ernie4_5_MoeForCausalLM"),
    (r"gemma-3-1b", "Gemma3ForCausalLM"),
    (r"gemma-4-(26|31)b", "google/gemma-4-26B-A4B"),
    (r"minimax-m2", "MiniMaxAI/MiniMax-M2.5"),
    (r"nvidia-nemotron-3-super", "nvidia/NVIDIA-Nemotron-3-Super-120B-A12B-FP8"),
)

# What a draft's name tells, most telling first; none: no config of that kind is known.
DRAFT_NAMES: tuple[tuple[str, str | None], ...] = (
    (r"peagle|lilicorr|assistant", None),
    (r"speculator\.eagle3", "speculators-eagle3"),
    (r"speculator\.dflash", "speculators-dflash"),
    (r"speculator\.dspark", "speculators-dspark"),
    (r"eagle-?3(\.1)?", "eagle3"),
    (r"eagle", "eagle"),
    (r"dflash2", "dflash2"),
    (r"dflash", "dflash"),
    (r"dspark", "dspark"),
    (r"medusa", "medusa"),
    (r"accelerator|mlp-speculator", "mlp-speculator"),
)

_FP8: Config = {"quant_method": "fp8", "activation_scheme": "dynamic"}
# What a name tells of the precision, and the config of it; none: it is known to be quantised, not how its config says so.
_PRECISIONS: tuple[tuple[str, Config | None], ...] = (
    (r"nvfp4|fp4", {"quant_method": "modelopt", "quant_algo": "NVFP4"}),
    (r"mxfp\d|w\d+a\d+|int8|gguf|dynamic|block", None),
    (r"awq", {"quant_method": "awq", "bits": 4, "group_size": 128, "version": "gemm", "zero_point": True}),
    (r"gptq", {"quant_method": "gptq", "bits": 4, "group_size": 128, "desc_act": False}),
    (r"fp8", _FP8),
)


def stem(name: str) -> str:
    """A model's name without its owner and what tells one precision or make of it from another."""
    left = name.rstrip("/").rpartition("/")[2].lower()
    while (shorter := _MAKE.sub("", left)) != left:
        left = shorter
    return left


class Placer:
    """Configs by the checkpoint rows of the database."""

    def __init__(self, rows: Mapping[str, CheckpointRow]) -> None:
        self._rows = rows

    @cached_property
    def _whole(self) -> Mapping[str, Config]:
        """Architecture → the first whole config of it among the rows of plain models, or else a tiny one in a usual size."""
        rows = sorted((row for row in self._all() if _is_whole(row)), key=lambda row: (not row.complete, row.id))
        found: dict[str, Config] = {}
        for row in rows:
            if row.kind is Kind.PLAIN:
                found.setdefault(str(list_of(row.config)[0]), row.config)
        for tiny in TARGETS.values():
            found.setdefault(str(list_of(tiny)[0]), roomy(tiny))
        return found

    @cached_property
    def _stems(self) -> Mapping[str, CheckpointRow]:
        """The stem of a name → a row of that stem that tells the architecture."""
        found: dict[str, CheckpointRow] = {}
        for row in self._all():
            if list_of(row.config):
                found.setdefault(stem(row.id), row)
        return found

    def _all(self) -> Iterable[CheckpointRow]:
        return (self._rows[name] for name in sorted(self._rows))

    def target(self, name: str) -> Config | None:
        """The config of a model that serves; None where nothing tells it."""
        row = self._rows.get(name)
        if row is not None and _is_whole(row):
            return cleaned(row.config)
        family = self._family(name)
        return None if family is None else _in_precision(family, name)

    def _family(self, name: str) -> Config | None:
        row = self._rows.get(name)
        if row is None or not list_of(row.config):
            row = self._stems.get(stem(name))
        if row is not None:
            known = self._whole.get(str(list_of(row.config)[0]))
            # What a row of a family with code of its own says is for that code.
            return known if known is None or row.remote_code else {**known, **row.config}
        last = name.rstrip("/").rpartition("/")[2].lower()
        place = next((place for pattern, place in FAMILIES if re.match(pattern, last)), None)
        if place is None:
            return None
        return self._rows[place].config if "/" in place else self._whole.get(place)

    def draft(self, name: str, target: Config) -> Config | None:
        """The config of a draft for a target; None where nothing tells it."""
        row = self._rows.get(name)
        if row is not None and _is_whole(row):
            return cleaned(row.config)
        last = name.rstrip("/").rpartition("/")[2].lower()
        for pattern, kind in DRAFT_NAMES:
            if re.search(pattern, last):
                return draft(kind, target) if kind is not None else None
        return self.target(name)


def _is_whole(row: CheckpointRow) -> bool:
    shown = (row.complete or len(row.config) > 15) and row.remote_code is not True
    return shown and bool(list_of(row.config)) and isinstance(row.config.get("model_type"), str)


# Divisible by what people divide models by, and as long as their contexts.
_ROOM: Config = {
    "hidden_size": 4096,
    "intermediate_size": 8192,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "max_position_embeddings": 131072,
}


def roomy(tiny: Config) -> Config:
    """A tiny config in a size that people's launches fit: they split it into many parts and serve long contexts."""
    if text(tiny) is not tiny:
        return tiny
    return {
        **tiny,
        **{key: value for key, value in _ROOM.items() if key in tiny},
        **({"head_dim": 128} if "head_dim" in tiny else {}),
    }


def cleaned(shown: Config) -> Config:
    """A config without the keys that lead to files beside it."""
    kept = {key: value for key, value in shown.items() if not _LEFT_OUT.fullmatch(key)}
    return {key: dict(cleaned(value)) if isinstance(value, dict) else value for key, value in kept.items()}


def _in_precision(family: Config, name: str) -> Config | None:
    """A family's config in the precision that a name tells; None where it is one whose config is not known."""
    plain: dict[str, JsonValue] = {key: value for key, value in family.items() if key != "quantization_config"}
    last = name.rpartition("/")[2].lower()
    for pattern, precision in _PRECISIONS:
        if re.search(pattern, last):
            return None if precision is None else cleaned({**plain, "quantization_config": dict(precision)})
    return cleaned(plain)
