"""The attention backends that serve the draft: its own where one is written, else those of the target."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from specconf.engines.sglang.derived.attention import gpu
from specconf.facts import Derivation, Fact, Facts, Known, Missing, OneOf, either
from specconf.words import JsonValue


def _first(names: tuple[str, ...], facts: Facts) -> Fact:
    """The first of several backends that is set; candidates where one of them may be."""
    found: tuple[JsonValue, ...] = ()
    for name in names:
        fact = facts.get(f"option.{name}")
        if isinstance(fact, Missing):
            return fact
        found += tuple(value for value in fact.values if value is not None)
        if None not in fact.values:
            break
    return either(found) if found else Known(None)


_DECODE = ("decode_attention_backend", "attention_backend")
_PREFILL = ("prefill_attention_backend", "attention_backend")
_DRAFT = "speculative_draft_attention_backend"


def split_backends(facts: Facts) -> Fact:
    """Whether prefill and decode run on different backends."""
    prefill, decode = _first(_PREFILL, facts), _first(_DECODE, facts)
    if isinstance(prefill, Missing) or isinstance(decode, Missing):
        return prefill if isinstance(prefill, Missing) else decode
    if isinstance(prefill, OneOf) and prefill == decode:
        written = [facts.get(f"option.{name[0]}") for name in (_DECODE, _PREFILL)]
        if all(isinstance(fact, Known) and fact.value is None for fact in written):
            return Known(False)
    return either(a != b for a in prefill.values for b in decode.values)


def draft_latent(facts: Facts) -> Fact:
    """Whether the draft is of the target's own family, or one whose config describes latent attention."""
    path = facts.get("option.speculative_draft_model_path")
    if isinstance(path, Known) and path.value in (None, facts.settings.get("model_path")):
        return facts.get("target.latent_attention")
    return facts.get("draft.latent_attention")


def sliding_draft(facts: Facts) -> Fact:
    """Whether every layer of a DFlash draft slides its attention, or the draft says that it is causal."""
    causal, kinds = facts.get("draft.config.is_causal"), facts.get("draft.config.layer_types")
    if isinstance(causal, Missing) or isinstance(kinds, Missing):
        return causal if isinstance(causal, Missing) else kinds
    if causal == Known(True):
        return causal
    layers = facts.get("draft.num_layers")
    listed = kinds.value if isinstance(kinds, Known) else None
    if not isinstance(listed, list) or not listed:
        return Known(False)
    if not isinstance(layers, Known):
        return layers
    return Known(len(listed) == layers.value and set(map(str, listed)) == {"sliding_attention"})


def dflash_fallback(facts: Facts) -> Fact:
    """What a DFlash draft runs on in place of a backend that does not serve it."""
    found = facts.get("hardware.platform")
    return found if isinstance(found, Missing) else either(_fallback(value) for value in found.values)


def _fallback(platform: JsonValue) -> str:
    return "triton" if platform in ("rocm", "xpu") else "flashinfer"


def dflash_causal_fallback(facts: Facts) -> Fact:
    """The same for TensorRT-LLM's attention under a draft that is not causal: FlashAttention 4 on B200."""
    found = gpu(facts)
    if isinstance(found, Missing):
        return OneOf(("fa4", "flashinfer")) if found.needs == "hardware.capability" else found
    return either("fa4" if kind == "blackwell" else _fallback(kind) for kind in found.values)


# Classes with experts though a config may not count them; and those for which a runner is picked on every GPU.
_WITH_EXPERTS = ("DeepseekV", "NemotronH", "Qwen4Exp", "MiniMaxM")
_OWN_RUNNER = ("DeepseekV4", "NemotronH")


def target_moe_runner(facts: Facts) -> Fact:
    """The MoE runner of the target. What the engine makes of auto for experts on newer GPUs or of FP4 is not known."""
    found = facts.get("option.moe_runner_backend")
    experts, architecture = facts.get("target.num_experts"), facts.get("target.architecture")
    named = str(architecture.value) if isinstance(architecture, Known) else ""
    plain = experts in (Known(None), Known(0)) and not named.startswith(_WITH_EXPERTS)
    if found != Known("auto") or plain:
        return found
    capability = facts.get("hardware.capability")
    newer = not isinstance(capability, Known) or not isinstance(capability.value, int | float) or capability.value >= 10
    if newer or named.startswith(_OWN_RUNNER):
        return Missing("the MoE runner that SGLang picks for this target")
    return found


def draft_moe_runner(facts: Facts) -> Fact:
    """The MoE runner of a draft that follows its target's, but for those that serve the target alone."""
    found = target_moe_runner(facts)
    if isinstance(found, Missing):
        return found
    return either(
        "auto" if isinstance(word, str) and word.startswith("lora_") else _runner(word) for word in found.values
    )


def _runner(word: JsonValue) -> JsonValue:
    return "flashinfer_trtllm" if word == "flashinfer_megamoe" else word


DERIVATIONS: Mapping[str, Derivation] = {
    "prefill_backend": partial(_first, _PREFILL),
    "decode_backend": partial(_first, _DECODE),
    "draft_decode_backend": partial(_first, (_DRAFT, *_DECODE)),
    "draft_prefill_backend": partial(_first, (_DRAFT, *_PREFILL)),
    "split_backends": split_backends,
    "draft_latent": draft_latent,
    "sliding_draft": sliding_draft,
    "dflash_fallback": dflash_fallback,
    "dflash_causal_fallback": dflash_causal_fallback,
    "target_moe_runner": target_moe_runner,
    "draft_moe_runner": draft_moe_runner,
}
