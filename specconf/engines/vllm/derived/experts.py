"""How many experts the two checkpoints have, as the engine counts them in their configs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from specconf.engines.vllm.derived.speculation import drafter_role
from specconf.facts import Derivation, Fact, Facts, Known, Missing
from specconf.patterns import pattern
from specconf.words import JsonValue

# Config keys in which the engine looks for a number of experts: get_num_experts in vllm/config/model.py (0.11.1) and
# vllm/transformers_utils/model_arch_config_convertor.py (0.33.0).
_EXPERTS = ("num_experts", "moe_num_experts", "n_routed_experts", "num_local_experts")
# Where experts stand that these keys do not name: whoever has one is not called dense.
_EXPERTS_ELSEWHERE = ("block_configs", "ffn_config")

# Classes that have no experts, for a config of which only a part is known.
_DENSE = frozenset(
    {
        "LlamaForCausalLM", "MistralForCausalLM", "Qwen2ForCausalLM", "Qwen3ForCausalLM", "GemmaForCausalLM",
        "Gemma2ForCausalLM", "Gemma3ForCausalLM", "Gemma3ForConditionalGeneration", "Phi3ForCausalLM",
    }
)  # fmt: skip
# Config classes that count experts where the checkpoint's config does not: a missing key says nothing there.
_BRINGS_EXPERTS = pattern(r"moe|mixtral|deepseek|dbrx|jamba|gpt.?oss|grok|llama4|minimax|kimi", re.IGNORECASE)


def _experts(role: str, facts: Facts) -> Fact:
    """The number of experts of a checkpoint; 0 where its config speaks of none at all."""
    unknown: Missing | None = None
    counted = False
    for key in _EXPERTS:
        found = facts.get(f"{role}.config.{key}")
        if not isinstance(found, Known):
            unknown = unknown or (found if isinstance(found, Missing) else Missing(f"{key} of the {role}"))
        elif isinstance(found.value, int) and found.value > 0:
            return Known(found.value)
        elif isinstance(found.value, list) and found.value and isinstance(found.value[0], int):
            return Known(found.value[0])
        else:
            counted = counted or found.value == 0
    if unknown is not None:
        return Known(0) if _is_dense(role, facts) else unknown
    config = facts.get(f"{role}.config")
    if not isinstance(config, Known):
        return config
    other = next(_other_experts(config.value), None)
    if other is not None:
        return Missing(f"the experts of the {role}", f"its config has {other}")
    if not counted and _names_experts(role, facts):
        return Missing(f"the experts of the {role}", "its config gives no number, and its class may")
    return Known(0)


def _is_dense(role: str, facts: Facts) -> bool:
    names = facts.get(f"{role}.architectures")
    if not isinstance(names, Known) or not isinstance(names.value, list) or not names.value:
        return False
    return _DENSE.issuperset(str(name) for name in names.value)


def _names_experts(role: str, facts: Facts) -> bool:
    names = (facts.get(f"{role}.model_type"), facts.get(f"{role}.architectures"))
    return any(isinstance(name, Known) and _BRINGS_EXPERTS.search(str(name.value)) for name in names)


def _other_experts(config: JsonValue) -> Iterator[str]:
    """Keys that speak of experts in another way than the engine's own."""
    if not isinstance(config, dict):
        return
    for key, value in config.items():
        if isinstance(value, dict):
            yield from _other_experts(value)
        if value and key not in _EXPERTS and (key in _EXPERTS_ELSEWHERE or "expert" in key or "moe" in key.lower()):
            yield key


def target_experts(facts: Facts) -> Fact:
    """The number of experts of the target; 0 where it is dense."""
    return _experts("target", facts)


def draft_experts(facts: Facts) -> Fact:
    """The number of experts of the checkpoint that drafts; 0 where it is dense."""
    role = drafter_role(facts)
    return _experts(role, facts) if isinstance(role, str) else role


DERIVATIONS: Mapping[str, Derivation] = {
    "target_experts": target_experts,
    "draft_experts": draft_experts,
}
