"""Facts of positions and inputs: RoPE of target and draft, what overrides of configs do to it, and multimodal targets."""

from __future__ import annotations

from collections.abc import Mapping

from specconf.facts import Derivation, Fact, Facts, Known, Missing
from specconf.words import JsonValue

_ROPE_KEYS = ("rope_parameters", "rope_scaling")
# Kinds of RoPE for which the engine takes max_position_embeddings only as the size of a cache: _CACHE_ONLY_ROPE_TYPES
# in vllm/config/speculative.py (0.33.0).
_SIZES_A_CACHE = ("default", "linear", "llama3", "ntk", "proportional")


def _rope(facts: Facts, role: str) -> Fact | list[Mapping[str, JsonValue]]:
    """The RoPE settings of a config: one, or one for each kind of layer; none where it has none."""
    found: list[Mapping[str, JsonValue]] = []
    for key in _ROPE_KEYS:
        fact = facts.get(f"{role}.config.{key}")
        if not isinstance(fact, Known):
            return fact
        if isinstance(fact.value, dict):
            nested = [part for part in fact.value.values() if isinstance(part, dict)]
            found += nested or [fact.value]
    return found


def draft_rope_sizes_cache(facts: Facts) -> Fact:
    """Whether a longer max_position_embeddings would leave the draft's RoPE as it is, but for the size of its cache."""
    found = _rope(facts, "draft")
    if not isinstance(found, list):
        return found
    kinds = [rope.get("rope_type", rope.get("type", "default")) for rope in found]
    return Known(all(kind in _SIZES_A_CACHE for kind in kinds))


def _is_text_model(facts: Facts, role: str) -> bool:
    """Whether the name of a checkpoint's class says that it is a language model alone."""
    name = facts.get(f"{role}.architecture")
    return isinstance(name, Known) and str(name.value).endswith("ForCausalLM")


def draft_uses_mrope(facts: Facts) -> Fact:
    """Whether the draft has positions of several dimensions (M-RoPE), which only multimodal models have."""
    found = _rope(facts, "draft")
    if isinstance(found, list):
        return Known(any("mrope_section" in rope for rope in found))
    return Known(False) if _is_text_model(facts, "draft") else found


_STRETCHES = (*_ROPE_KEYS, "max_position_embeddings")
_NESTED = ("text_config", "llm_config", "language_config")


def target_only_positions(facts: Facts) -> Fact:
    """Whether --hf-overrides changes the target's RoPE or its number of positions, which a draft's config does not get."""
    asked = facts.get("asked.hf_overrides")
    if not isinstance(asked, Known):
        return asked
    if not isinstance(asked.value, dict):
        return Known(False) if asked.value is None else Missing("the members of --hf-overrides")
    parts = [asked.value, *(part for key in _NESTED if isinstance(part := asked.value.get(key), dict))]
    return Known(any(key in part for part in parts for key in _STRETCHES))


# Keys that only the configs of multimodal models have.
_MULTIMODAL_KEYS = (
    "vision_config",
    "audio_config",
    "thinker_config",
    "embd_layer",
    "visual",
    "vision_tower",
    "mm_vision_tower",
)


def target_is_multimodal(facts: Facts) -> Fact:
    """Whether the target takes images or sounds in this launch, as far as its config and the launch's limits show."""
    text_only = facts.get("asked.language_model_only")
    if isinstance(text_only, Known) and text_only.value is True:
        return Known(False)
    unknown: Fact | None = None
    for key in _MULTIMODAL_KEYS:
        fact = facts.get(f"target.config.{key}")
        if isinstance(fact, Known) and fact.value is not None:
            return _multimodal_by_name(facts)
        unknown = unknown or (None if isinstance(fact, Known) else fact)
    return Known(False) if unknown is None or _is_text_model(facts, "target") else unknown


def _multimodal_by_name(facts: Facts) -> Fact:
    """Of a config with a part for images or sounds: whether its class takes them and the launch leaves them allowed."""
    name, limits = facts.get("target.architecture"), facts.get("asked.limit_mm_per_prompt")
    if not isinstance(name, Known):
        return name
    if limits != Known(None) or not str(name.value).endswith("ForConditionalGeneration"):
        return Missing("whether the target takes images", "its class or --limit-mm-per-prompt decides")
    return Known(True)


def draft_heads_per_rank(facts: Facts) -> Fact:
    """The attention heads of the draft on each rank, which the engine splits as it splits the target's."""
    heads, size = facts.get("draft.num_heads"), facts.get("option.tensor_parallel_size")
    for fact in (heads, size):
        if not isinstance(fact, Known):
            return fact
    assert isinstance(heads, Known)
    assert isinstance(size, Known)
    if not (isinstance(heads.value, int) and isinstance(size.value, int) and size.value > 0):
        return Missing("the attention heads of the draft on each rank")
    return Known(heads.value // size.value)


DERIVATIONS: Mapping[str, Derivation] = {
    "draft_rope_sizes_cache": draft_rope_sizes_cache,
    "draft_uses_mrope": draft_uses_mrope,
    "target_only_positions": target_only_positions,
    "target_is_multimodal": target_is_multimodal,
    "draft_heads_per_rank": draft_heads_per_rank,
}
