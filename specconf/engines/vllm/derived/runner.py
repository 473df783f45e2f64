"""Which model runner a launch gets, and what of a target decides it; which releases go by what stands in the constraints."""

from __future__ import annotations

import re
from collections.abc import Mapping

from specconf.engines.vllm.derived.members import member
from specconf.facts import Derivation, Fact, Facts, Known, Missing, OneOf
from specconf.words import JsonValue

_RUNNER = "env.VLLM_USE_V2_MODEL_RUNNER"
_EXPERT_KEYS = ("num_experts", "moe_num_experts", "n_routed_experts", "num_local_experts", "block_configs")
# Classes that have no experts, for a config of which only a part is known.
_DENSE = frozenset(
    {
        "LlamaForCausalLM", "MistralForCausalLM", "Qwen2ForCausalLM", "Qwen3ForCausalLM", "GemmaForCausalLM",
        "Gemma2ForCausalLM", "Gemma3ForCausalLM", "Gemma3ForConditionalGeneration", "Phi3ForCausalLM",
    }
)  # fmt: skip
# Config classes that count experts where the checkpoint's config does not: a missing key says nothing there.
_BRINGS_EXPERTS = re.compile(r"moe|mixtral|deepseek|dbrx|jamba|gpt.?oss|grok|llama4|minimax|kimi", re.IGNORECASE)


def v2_runner_forced(facts: Facts) -> Fact:
    """Whether an option takes the V2 model runner whatever else is written: watermarks and HiSparse (0.30.0 on)."""
    asked = (facts.get("asked.watermark_config"), member(facts, "attention_config", "hisparse_config"))
    missing = [fact for fact in asked if not isinstance(fact, Known)]
    return missing[0] if missing else Known(any(fact != Known(None) for fact in asked))


def model_runner(facts: Facts) -> Fact:
    """The model runner of a V1 engine, V1 or V2: as the variable says, which the engine's own choice is resolved into."""
    forced = v2_runner_forced(facts)
    if forced != Known(False):
        return Known("V2") if isinstance(forced, Known) else forced
    asked = facts.get(f"option.{_RUNNER}")
    if isinstance(asked, Missing):
        return asked
    runners: list[JsonValue] = []
    for value in asked.values if isinstance(asked, OneOf) else (asked.value,):
        runner = _runner(value)
        if runner is None:
            return Missing("the model runner", "what its default depends on is not known")
        runners += [runner] if runner not in runners else []
    return OneOf(tuple(runners)) if len(runners) > 1 else Known(runners[0])


def _runner(value: JsonValue) -> str | None:
    """The runner that a value of the variable names; the engine reads it as a whole number."""
    if isinstance(value, bool):
        return "V2" if value else "V1"
    text = str(value).strip()
    return ("V2" if int(text) else "V1") if re.fullmatch(r"[+-]?\d+", text) else None


def has_triton(facts: Facts) -> Fact:
    """Whether there is Triton, which the V2 runner needs: on CUDA and ROCm; elsewhere it depends on what is installed."""
    platform = facts.get("hardware.platform")
    if not isinstance(platform, Known):
        return platform
    if platform.value in ("cuda", "rocm"):
        return Known(True)
    return Missing("the model runner", f"whether Triton is installed for {platform.value} is not known")


def target_experts(facts: Facts) -> Fact:
    """The number of experts that the engine counts in the target's text config; 0 for a dense target."""
    where = facts.get("target.text_config_path")
    if isinstance(where, Missing):
        return where
    inner = f"{where.value}." if isinstance(where, Known) and where.value else ""
    found = {key: facts.get(f"target.config.{inner}{key}") for key in _EXPERT_KEYS}
    unknown = next((fact for fact in found.values() if not isinstance(fact, Known)), None)
    values = [fact.value for fact in found.values() if isinstance(fact, Known)]
    number = next((value for value in values[:-1] if value is not None), None)
    if isinstance(number, list):
        number = number[0] if number else None
    if isinstance(number, int) and number:
        return Known(number)
    if unknown is not None:
        architectures = facts.get("target.architectures")
        dense = isinstance(architectures, Known) and isinstance(architectures.value, list) and architectures.value
        return Known(0) if dense and _DENSE.issuperset(map(str, dense)) else unknown
    if values[-1]:
        return Missing("the target's experts", "they are counted block by block")
    if number is None and _names_experts(facts):
        return Missing("the target's experts", "its config gives no number, and its class may")
    return Known(0)


def _names_experts(facts: Facts) -> bool:
    names = [facts.get("target.model_type"), facts.get("target.architectures")]
    return any(isinstance(name, Known) and _BRINGS_EXPERTS.search(str(name.value)) for name in names)


def target_all_attention(facts: Facts) -> Fact:
    """Whether the target's config lists its layers, and all of them as attention: no hybrid then, whatever its class."""
    layers = facts.get("target.config.layer_types")
    if not isinstance(layers, Known) or not isinstance(layers.value, list):
        return Known(False) if isinstance(layers, Known) else layers
    return Known(all(layer == "attention" for layer in layers.value))


DERIVATIONS: Mapping[str, Derivation] = {
    "v2_runner_forced": v2_runner_forced,
    "model_runner": model_runner,
    "has_triton": has_triton,
    "target_experts": target_experts,
    "target_all_attention": target_all_attention,
}
