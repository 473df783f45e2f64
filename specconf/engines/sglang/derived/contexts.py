"""The context lengths of a launch's two models as SGLang derives them from their configs."""

from __future__ import annotations

from collections.abc import Mapping

from specconf.engines.sglang.derived.switches import by_default
from specconf.facts import Derivation, Fact, Facts, Known, Missing

_ALLOWS = "env.SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN"
# Looked at in this order, before max_position_embeddings.
_FIRST = ("max_sequence_length", "seq_length", "max_seq_len", "model_max_length")
_UNSTRETCHED = ("default", "llama3")


def _length(facts: Facts, role: str) -> Fact:
    """The first length that the config gives, times the factor of its scaling where that names no original length."""
    length = facts.get(f"{role}.max_position_embeddings")
    for key in _FIRST:
        found = facts.get(f"{role}.config.{key}")
        if not isinstance(found, Known):
            return found
        if found.value is not None:
            length = found
            break
    if not isinstance(length, Known) or not isinstance(length.value, int):
        return length if isinstance(length, Missing) else Missing(f"{role}.max_position_embeddings")
    factor = _factor(facts, role)
    return Known(int(length.value * factor)) if isinstance(factor, float) else factor


def _factor(facts: Facts, role: str) -> float | Missing:
    """What the length is multiplied with."""
    kind, original = facts.get(f"{role}.rope_type"), facts.get(f"{role}.rope_original_length")
    if isinstance(kind, Known) and kind.value in _UNSTRETCHED:
        return 1.0
    if isinstance(original, Known) and original.value is not None:
        return 1.0
    factor = facts.get(f"{role}.rope_factor")
    if isinstance(kind, Known) and isinstance(original, Known) and isinstance(factor, Known):
        return float(factor.value) if isinstance(factor.value, int | float) else 1.0
    return next(
        (fact for fact in (kind, original, factor) if isinstance(fact, Missing)), Missing(f"{role}.rope_factor")
    )


def served_context(facts: Facts) -> Fact:
    """The context that the target is served with: the one that is written, else the one of its config."""
    asked = facts.get("option.context_length")
    if not isinstance(asked, Known) or asked.value is not None:
        return asked
    return _length(facts, "target")


def target_context(facts: Facts) -> Fact:
    """The context that the target's own config gives; what a launch overrides in the config is not read."""
    if facts.written("asked.json_model_override_args"):
        return Missing("option.json_model_override_args", "the launch overrides the config")
    return _length(facts, "target")


def draft_context(facts: Facts) -> Fact:
    """The context that the draft's own config gives."""
    return _length(facts, "draft")


def longer_context_allowed(facts: Facts) -> Fact:
    """Whether the environment lets a context be longer than a config gives; images for ROCm set what nobody writes."""
    if not facts.written(_ALLOWS) and facts.get("hardware.platform") == Known("rocm"):
        return Missing(_ALLOWS, "SGLang's images for ROCm set it")
    return by_default(_ALLOWS)(facts)


DERIVATIONS: Mapping[str, Derivation] = {
    "served_context": served_context,
    "target_context": target_context,
    "draft_context": draft_context,
    "longer_context_allowed": longer_context_allowed,
}
