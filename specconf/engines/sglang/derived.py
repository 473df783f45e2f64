"""Facts under `derived.` that SGLang computes from several settings before its checks look at them."""

from __future__ import annotations

from collections.abc import Mapping

from specconf.engines.sglang.schedule import SPEC_V2, truth
from specconf.facts import Derivation, Fact, Facts, Known, Missing, OneOf
from specconf.words import JsonValue

_GEMMA_DRAFTS = {"Gemma4AssistantForCausalLM", "Gemma4UnifiedAssistantForCausalLM"}


def _mapped(fact: Fact, change: Mapping[str, str]) -> Fact:
    if isinstance(fact, Missing):
        return fact
    values = fact.values if isinstance(fact, OneOf) else (fact.value,)
    changed: list[JsonValue] = []
    for value in values:
        word = change.get(value.upper(), value.upper()) if isinstance(value, str) else value
        if word not in changed:
            changed.append(word)
    return Known(changed[0]) if len(changed) == 1 else OneOf(tuple(changed))


def algorithm(facts: Facts) -> Fact:
    """The algorithm as the engine's own checks see it: upper case, NEXTN as EAGLE, Gemma 4 assistants as their own."""
    found = _mapped(facts.get("option.speculative_algorithm"), {"NEXTN": "EAGLE"})
    if not isinstance(found, Known) or found.value != "EAGLE":
        return found
    architecture = facts.get("draft.architecture")
    if isinstance(architecture, Known) and architecture.value in _GEMMA_DRAFTS:
        return Known("FROZEN_KV_MTP")
    return found


def attention_dp(facts: Facts) -> Fact:
    """Whether attention is data-parallel: its own width, or the older switch with a width above one."""
    width = facts.get("option.attn_dp_size")
    if isinstance(width, Known) and isinstance(width.value, int) and width.value > 1:
        return Known(True)
    switch = facts.get("option.enable_dp_attention")
    if isinstance(switch, Known) and switch.value is not True:
        return width if isinstance(width, Missing) else Known(False)
    groups = facts.get("option.dp_size")
    if isinstance(switch, Known) and isinstance(groups, Known) and isinstance(groups.value, int):
        return Known(groups.value > 1)
    return groups if isinstance(groups, Missing) else Missing("option.enable_dp_attention")


def spec_v2(facts: Facts) -> Fact:
    """What SGLANG_ENABLE_SPEC_V2 says, or its default in the release."""
    found = facts.get(f"option.{SPEC_V2}")
    if not isinstance(found, Known):
        return found
    value = truth(found.value)
    return Missing(SPEC_V2, "no boolean that SGLang reads") if value is None else Known(value)


def one_backend_for_both(facts: Facts) -> Fact:
    """Whether prefill and decode are given the same backend, which then stands for the attention backend.

    Words that were not read are not taken to replace a backend that is written.
    """
    names = ("prefill_attention_backend", "decode_attention_backend")
    prefill, decode = (facts.get(f"option.{name}") for name in names)
    if isinstance(prefill, Known) and isinstance(decode, Known):
        return Known(prefill.value is not None and prefill == decode)
    if "attention_backend" in facts.settings and not all(name in facts.settings for name in names):
        return Known(False)
    return next((fact for fact in (prefill, decode) if isinstance(fact, Missing)), Missing("option.attention_backend"))


def lora(facts: Facts) -> Fact:
    """Whether adapters are served."""
    found = [facts.get(f"option.{name}") for name in ("enable_lora", "lora_paths")]
    if any(isinstance(fact, Known) and fact.value not in (None, False, []) for fact in found):
        return Known(True)
    return next((fact for fact in found if isinstance(fact, Missing)), Known(False))


def drafts_itself(facts: Facts) -> Fact:
    """Whether the target's own checkpoint is opened as the draft: no draft path is given, or the same."""
    draft, target = facts.get("option.speculative_draft_model_path"), facts.get("option.model_path")
    if not isinstance(draft, Known) or draft.value is None:
        return Known(True) if isinstance(draft, Known) else draft
    return target if isinstance(target, Missing) else Known(draft == target)


def shows_no_mtp_layers(facts: Facts) -> Fact:
    """Whether the target's config counts its MTP layers and counts none; a family that does not count them shows nothing."""
    layers = facts.get("target.mtp_layers")
    return Known(isinstance(layers, Known) and layers.value == 0)


def mtp_without_layers(facts: Facts) -> Fact:
    """Whether the target drafts for itself and its own config shows no MTP layers."""
    itself = drafts_itself(facts)
    if not isinstance(itself, Known) or itself.value is False:
        return itself
    layers = facts.get("target.mtp_layers")
    return Known(layers.value == 0) if isinstance(layers, Known) else layers


def mtp_releases(facts: Facts) -> Fact:
    """The releases that draft with this target's own layers, as words for a message."""
    from specconf.compat.database import load_database

    architecture = facts.get("target.architecture")
    if not isinstance(architecture, Known):
        return architecture
    database = load_database("sglang")
    rows = [row for row in database.tables["mtp_targets"].rows if row.value == architecture.value]
    starts = [low for row in rows for low, _ in row.ranges.holds_in]
    return Known(f"SGLang {database.line.names[min(starts)]} or newer" if starts else "a target that SGLang drafts for")


DERIVATIONS: Mapping[str, Derivation] = {
    "algorithm": algorithm,
    "attention_dp": attention_dp,
    "spec_v2": spec_v2,
    "one_backend_for_both": one_backend_for_both,
    "lora": lora,
    "drafts_itself": drafts_itself,
    "mtp_releases": mtp_releases,
    "mtp_without_layers": mtp_without_layers,
    "shows_no_mtp_layers": shows_no_mtp_layers,
}
