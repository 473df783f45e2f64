"""What the config of a block-drafting head (DFlash, DSpark, LiLiCorr, XPress) says that rules ask for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from specconf.engines.vllm.derived.speculation import CONFIG, drafter, drafter_role
from specconf.facts import Derivation, Fact, Facts, Known, Missing, OneOf
from specconf.words import JsonValue


def draft_layers_mixed(facts: Facts) -> Fact:
    """Whether the draft lists some of its layers, and not all, as sliding attention."""
    layers = facts.get("draft.config.layer_types")
    if not isinstance(layers, Known):
        return layers
    if isinstance(layers.value, list):
        sliding = sum(layer == "sliding_attention" for layer in layers.value)
        return Known(0 < sliding < len(layers.value))
    nested = facts.get("draft.config.speculators_model_type")
    slides = facts.get("draft.config.use_sliding_window")
    if nested == Known(None) and slides in (Known(None), Known(False)):
        return Known(False)
    return Missing("draft config.layer_types", "the draft's config class fills them in")


def _first(facts: Facts, *paths: str) -> Fact:
    """The first of several config keys of the draft that is not None."""
    for path in paths:
        fact = facts.get(f"draft.config.{path}")
        if fact != Known(None):
            return fact
    return Known(None)


def drafter_architectures(facts: Facts) -> Fact:
    """The architectures of whichever checkpoint drafts; an empty list where none is named."""
    found = drafter(facts, "architectures")
    return Known([]) if found == Known(None) else found


# What a method puts before the architecture of its head, unless it stands there, or at the end, already: EAGLEConfig in
# vllm/transformers_utils/configs/eagle.py (0.10.1 to 0.33.0).
_PREFIXES: Mapping[JsonValue, tuple[str, tuple[str, ...]]] = {
    "eagle": ("Eagle", ()),
    "eagle3": ("Eagle3", ("Eagle3",)),
    "dflash": ("DFlash", ("DFlash", "LiLiCorrDraftModel")),
}


def draft_classes(facts: Facts) -> Fact:
    """The classes that the engine looks for to load a head: its architectures, with the method before them."""
    method, names = facts.get(f"option.{CONFIG}.method"), facts.get("draft.architectures")
    for fact in (method, names):
        if not isinstance(fact, Known):
            return fact if isinstance(fact, Missing) else Missing("the method that the engine ends up with")
    assert isinstance(method, Known)
    assert isinstance(names, Known)
    if not isinstance(names.value, list):
        return Missing("draft architectures")
    if isinstance(method.value, list | dict) or method.value not in _PREFIXES:
        return names
    prefix, endings = _PREFIXES[method.value]
    texts = [str(name) for name in names.value]
    return Known([name if name.startswith(prefix) or name.endswith(endings) else prefix + name for name in texts])


def lilicorr_block_size(facts: Facts) -> Fact:
    """The block size that a LiLiCorr draft was trained for."""
    return _first(facts, "dflash_config.block_size", "block_size")


def draft_taps_beyond_target(facts: Facts) -> Fact:
    """Whether a DFlash draft taps hidden states of layers that the target does not have."""
    taps, layers = _first(facts, "dflash_config.target_layer_ids"), facts.get("target.num_layers")
    for fact in (taps, layers):
        if not isinstance(fact, Known):
            return fact
    assert isinstance(taps, Known)
    assert isinstance(layers, Known)
    numbers = [tap for tap in taps.value if isinstance(tap, int)] if isinstance(taps.value, list) else []
    if not numbers:
        return Known(False)
    if not isinstance(layers.value, int):
        return Missing("target num_layers")
    return Known(max(numbers) >= layers.value)


def drafter_vocab(facts: Facts) -> Fact:
    """The size of the vocabulary that the drafting checkpoint's head scores."""
    role = drafter_role(facts)
    if not isinstance(role, str):
        return role
    reduced = facts.get(f"{role}.draft_vocab_size")
    whole = facts.get(f"{role}.vocab_size")
    found = whole if reduced in (Known(None), Known(0)) else reduced
    return Missing(f"{role} vocab_size") if found == Known(None) else found


# Families whose config class serves the size without the padding that the config gives beside it.
_UNPADDED = ("inkling_model", "inkling_mm_model")


def target_vocab_served(facts: Facts) -> Fact:
    """The size of the target's vocabulary as its config class hands it on: without padding where the class takes that off."""
    family, size = facts.get("target.model_type"), facts.get("target.vocab_size")
    if not isinstance(family, Known) or not isinstance(size, Known):
        return family if not isinstance(family, Known) else size
    if size.value is None:
        return Missing("target vocab_size")
    if family.value not in _UNPADDED:
        return size
    padded, bare = (_own(facts, key) for key in ("padded_vocab_size", "unpadded_vocab_size"))
    for fact in (padded, bare):
        if not isinstance(fact, Known):
            return fact
    assert isinstance(padded, Known)
    assert isinstance(bare, Known)
    if padded.value is None and isinstance(bare.value, int) and isinstance(size.value, int):
        return Known(min(bare.value, size.value))
    return size


def _own(facts: Facts, key: str) -> Fact:
    """A key of the target's language model, which stands in a section of its own where the target takes more than text."""
    nested = facts.get(f"target.config.text_config.{key}")
    return facts.get(f"target.config.{key}") if nested == Known(None) else nested


def omni_dspark_fault(facts: Facts) -> Fact:
    """What of a DSpark draft does not fit a Qwen3-Omni target, as the engine checks it; None where nothing is found."""
    found = [check(facts) for check in _OMNI_CHECKS]
    fault = next((fact for fact in found if isinstance(fact, Known) and fact.value is not None), None)
    unknown = next((fact for fact in found if not isinstance(fact, Known)), None)
    return fault or unknown or Known(None)


def _values(facts: Facts, *paths: str) -> tuple[list[Any], Fact | None]:
    """Several facts' values, or the first that is not known."""
    found = [facts.get(path) for path in paths]
    unknown = next((fact for fact in found if not isinstance(fact, Known)), None)
    return [fact.value for fact in found if isinstance(fact, Known)], unknown


def _omni_architecture(facts: Facts) -> Fact:
    (names,), unknown = _padded(_values(facts, "draft.architectures"), 1)
    if unknown is not None:
        return unknown
    right = isinstance(names, list) and "Qwen3OmniDSparkModel" in names
    return Known(None if right else "the draft is no Qwen3OmniDSparkModel checkpoint")


def _padded(found: tuple[list[Any], Fact | None], length: int) -> tuple[list[Any], Fact | None]:
    values, unknown = found
    return values + [None] * (length - len(values)), unknown


def _omni_block(facts: Facts) -> Fact:
    block = _first(
        facts,
        *(f"{section}block_size" for section in ("dflash_config.", "eagle_config.", "")),
        *(f"{section}dspark_block_size" for section in ("dflash_config.", "eagle_config.", "")),
    )
    length = facts.get(f"option.{CONFIG}.num_speculative_tokens")
    if not isinstance(block, Known):
        return block
    if not isinstance(block.value, int) or block.value <= 0:
        return Known("the draft's config has no block_size")
    if isinstance(length, Missing | OneOf) or length.value is None:
        return length if not isinstance(length, Known) else Known(None)  # unset: the engine takes the block size
    return Known(None if length.value == block.value else f"num_speculative_tokens is not its block size {block.value}")


_TEXT = "target.config.thinker_config.text_config"


def _omni_sizes(facts: Facts) -> Fact:
    """The width of the hidden states and the geometry of attention, which have to be the target's own."""
    pairs = {
        "target_hidden_size": "hidden_size", "hidden_size": "hidden_size", "num_attention_heads": "num_attention_heads",
        "num_key_value_heads": "num_key_value_heads", "head_dim": "head_dim",
    }  # fmt: skip
    for own, theirs in pairs.items():
        both, unknown = _values(facts, f"draft.config.{own}", f"{_TEXT}.{theirs}")
        if unknown is not None:
            return unknown
        if None not in both and both[0] != both[1]:
            return Known(f"its {own} {both[0]} is not the target's {both[1]}")
    return Known(None)


def _omni_heads(facts: Facts) -> Fact:
    keys = ("markov_rank", "markov_head_type", "sample_from_anchor", "dspark_bonus_anchor")
    values, unknown = _values(facts, *(f"draft.config.{key}" for key in keys))
    if unknown is not None:
        return unknown
    rank, head, anchor, bonus = values
    if not isinstance(rank, int) or rank <= 0:
        return Known("its config has no markov_rank")
    if head != "vanilla":
        return Known(f"its markov_head_type is {head}, not vanilla")
    if anchor not in (None, True) or bonus not in (None, False):
        return Known("it does not sample from the anchor")
    return Known(None)


def _omni_taps(facts: Facts) -> Fact:
    """The layers whose hidden states the draft is fed with."""
    taps = _first(facts, "dflash_config.target_layer_ids", "dspark_target_layer_ids", "target_layer_ids")
    used = _first(facts, *(f"{section}use_aux_hidden_state" for section in ("dflash_config.", "eagle_config.", "")))
    layers = facts.get(f"{_TEXT}.num_hidden_layers")
    for fact in (taps, used, layers):
        if not isinstance(fact, Known):
            return fact
    assert isinstance(taps, Known)
    assert isinstance(layers, Known)
    if not isinstance(taps.value, list) or not taps.value or not all(isinstance(tap, int) for tap in taps.value):
        return Known("its config has no target_layer_ids")
    numbers = [tap for tap in taps.value if isinstance(tap, int)]
    if numbers != sorted(set(numbers)):
        return Known("its target_layer_ids do not rise")
    if numbers[0] < 0 or (isinstance(layers.value, int) and numbers[-1] >= layers.value):
        return Known("its target_layer_ids are not all layers of the target")
    return Known(None if used == Known(True) else "its use_aux_hidden_state is not true")


def _omni_rope(facts: Facts) -> Fact:
    for key in ("mrope_section", "rope_parameters", "rope_scaling"):
        fact = facts.get(f"draft.config.{key}")
        if not isinstance(fact, Known):
            return fact
        value: JsonValue = fact.value
        if (key == "mrope_section" and value is not None) or (isinstance(value, dict) and "mrope_section" in value):
            return Known("its config defines mrope_section")
    return Known(None)


def _omni_vocab(facts: Facts) -> Fact:
    values, unknown = _values(facts, "draft.config.draft_vocab_size", "draft.config.vocab_size", f"{_TEXT}.vocab_size")
    if unknown is not None:
        return unknown
    reduced, own, theirs = values
    size = reduced if reduced is not None else own
    if isinstance(size, int) and isinstance(theirs, int) and not 0 < size <= theirs:
        return Known(f"its vocabulary of {size} is larger than the target's {theirs}")
    return Known(None)


_OMNI_CHECKS = (_omni_architecture, _omni_block, _omni_sizes, _omni_taps, _omni_heads, _omni_rope, _omni_vocab)

DERIVATIONS: Mapping[str, Derivation] = {
    "draft_classes": draft_classes,
    "draft_layers_mixed": draft_layers_mixed,
    "drafter_architectures": drafter_architectures,
    "lilicorr_block_size": lilicorr_block_size,
    "draft_taps_beyond_target": draft_taps_beyond_target,
    "drafter_vocab": drafter_vocab,
    "target_vocab_served": target_vocab_served,
    "omni_dspark_fault": omni_dspark_fault,
}
