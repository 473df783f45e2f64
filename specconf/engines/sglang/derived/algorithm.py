"""The algorithm as the engine's own checks see it."""

from __future__ import annotations

from collections.abc import Mapping

from specconf.facts import Derivation, Fact, Facts, Known, Missing, OneOf
from specconf.words import JsonValue

_GEMMA_DRAFTS = {"Gemma4AssistantForCausalLM", "Gemma4UnifiedAssistantForCausalLM"}


def _mapped(fact: Fact, change: Mapping[str, str]) -> Fact:
    if isinstance(fact, Missing):
        return fact
    changed: list[JsonValue] = []
    for value in fact.values:
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


DERIVATIONS: Mapping[str, Derivation] = {"algorithm": algorithm}
