"""Facts of the two checkpoints beside each other: lengths and names of classes."""

from __future__ import annotations

from collections.abc import Mapping

from specconf.engines.vllm.derived.members import whole_number
from specconf.engines.vllm.derived.speculation import CONFIG, draft_is_target
from specconf.facts import Derivation, Fact, Facts, Known, Missing
from specconf.words import JsonValue


def target_text_model_type(facts: Facts) -> Fact:
    """The model type of the target's language model, which checks of the engine look at."""
    inner = facts.get("target.config.text_config.model_type")
    return inner if isinstance(inner, Known) and inner.value is not None else facts.get("target.model_type")


# Scaling whose longer length newer releases serve only where it is asked for: _get_and_verify_max_len, vllm/config/model.py.
_ASKED_FOR = ("longrope", "su")


def _served_length(role: str, facts: Facts) -> Fact:
    """The longest sequence of a checkpoint where the launch names none."""
    kind = facts.get(f"{role}.rope_type")
    if isinstance(kind, Known) and kind.value in _ASKED_FOR:
        return Missing(f"the length of the {role}", "its RoPE scaling is served by release")
    return facts.get(f"{role}.context_length")


def target_length(facts: Facts) -> Fact:
    """The longest sequence served: as the launch says, else as the target's config allows."""
    asked = facts.get("option.max_model_len")
    if isinstance(asked, Known) and isinstance(asked.value, int) and asked.value > 0:
        return asked
    return _served_length("target", facts) if isinstance(asked, Known) else asked


def target_config_length(facts: Facts) -> Fact:
    """The longest sequence that the target's config allows, whatever the launch asks for."""
    other = facts.get("target.config.model_max_length")
    if not isinstance(other, Known):
        return other
    if other.value is not None:
        return Missing("the length of the target", "its config has model_max_length besides")
    return facts.get("target.context_length")


def rope_scaling_left_out(facts: Facts) -> Fact:
    """Whether the target is of a family whose config class brings RoPE scaling of its own, and its config names none."""
    kind = facts.get("target.model_type")
    if not isinstance(kind, Known) or kind.value != "gpt_oss":
        return Known(False) if isinstance(kind, Known) else kind
    return Known(all(facts.get(f"target.config.{key}") == Known(None) for key in ("rope_scaling", "rope_parameters")))


def draft_length(facts: Facts) -> Fact:
    """The longest sequence that the draft takes: as the launch says, else as its config allows."""
    if draft_is_target(facts) == Known(True):
        return target_length(facts)
    asked = facts.get(f"asked.{CONFIG}.max_model_len")
    if isinstance(asked, Known) and asked.value is None:
        return _served_length("draft", facts)
    return asked


_NO_LENGTH = 2048  # of a config that names none: _get_and_verify_max_len, vllm/config/model.py


def length_by_default(facts: Facts) -> Fact:
    """The longest sequence of the target as its config has it, cut to the window where sliding attention is switched off."""
    length, cut = _served_length("target", facts), facts.get("asked.disable_sliding_window")
    if length == Known(None):
        length = Known(_NO_LENGTH)
    if not isinstance(length, Known) or not isinstance(cut, Known) or cut.value is not True:
        return length if isinstance(cut, Known) else cut
    window = facts.get("target.sliding_window")
    if not isinstance(window, Known) or window.value is None:
        return length if isinstance(window, Known) else window
    return _shorter(window, length)


# Config classes whose window is not None where the config.json gives none: MistralConfig of transformers 4.
_WINDOW_OF_CLASS = {"mistral": 4096}


def target_window(facts: Facts) -> Fact:
    """The window of the target's sliding attention as its config class hands it on; none with --disable-sliding-window.

    ModelConfig.get_sliding_window, vllm/config/__init__.py (0.10.2).
    """
    cut, window, config = (
        facts.get("asked.disable_sliding_window"),
        facts.get("target.sliding_window"),
        facts.get("target.config"),
    )
    if cut == Known(True):
        return Known(None)
    written = config.value if isinstance(config, Known) else None
    if (
        window == Known(None) and isinstance(written, dict) and "sliding_window" not in written
    ):  # null says that there is none
        return Known(_WINDOW_OF_CLASS.get(str(written.get("model_type"))))
    return window


def target_windows_mixed(facts: Facts) -> Fact:
    """Whether layers with and without a window take turns in the target: is_interleaved, vllm/transformers_utils/config.py."""
    kinds = facts.get("target.config.layer_types")
    if not isinstance(kinds, Known):
        return kinds
    return Known(
        isinstance(kinds.value, list) and {"full_attention", "sliding_attention"}.issubset(map(str, kinds.value))
    )


def _shorter(left: Fact, right: Fact) -> Fact:
    """The smaller of two lengths; what is missing where one is not known."""
    sizes = [whole_number(fact, "the lengths of target and draft") for fact in (left, right)]
    missing = next((size for size in sizes if isinstance(size, Missing)), None)
    return missing or Known(min(size for size in sizes if isinstance(size, int)))


def draft_length_served(facts: Facts) -> Fact:
    """The longest sequence of the draft where the launch names none: its own, or the target's where that is shorter."""
    itself = draft_is_target(facts)
    if not isinstance(itself, Known):
        return itself
    target, own = target_length(facts), _served_length("target" if itself.value else "draft", facts)
    return target if own == Known(None) else _shorter(own, target)


def whole_prompt_step(facts: Facts) -> Fact:
    """The tokens of a step that has room for the longest prompt whole, at least the engine's plain default."""
    length = whole_number(target_length(facts), "the length of the target")
    return length if isinstance(length, Missing) else Known(max(length, _NO_LENGTH))


# Endings of architecture names that stand for each other, in the order in which the engine looks for one:
# vllm/config/model.py, _SUFFIX_TO_DEFAULTS (0.33.0).
_ENDINGS = ("ForCausalLM", "ForConditionalGeneration", "ChatModel", "LMHeadModel", "ForTextEncoding", "EmbeddingModel",
            "ForSequenceClassification", "ForTokenClassification", "ForAudioClassification", "ForImageClassification",
            "ForVideoClassification", "ClassificationModel", "ForRewardModeling", "RewardModel", "Model")  # fmt: skip


def architecture_names(facts: Facts) -> Fact:
    """The target's architectures, and the names with another ending under which the engine looks for a class, too."""
    found = facts.get("target.architectures")
    if not isinstance(found, Known) or not isinstance(found.value, list):
        return found
    names: list[JsonValue] = []
    for name in found.value:
        ending = next((end for end in _ENDINGS if isinstance(name, str) and name.endswith(end)), None)
        stem = str(name).removesuffix(ending or "")
        names += [name, *(stem + end for end in _ENDINGS if ending is not None)]
    return Known(names)


DERIVATIONS: Mapping[str, Derivation] = {
    "target_text_model_type": target_text_model_type,
    "target_length": target_length,
    "target_config_length": target_config_length,
    "target_window": target_window,
    "target_windows_mixed": target_windows_mixed,
    "draft_length": draft_length,
    "length_by_default": length_by_default,
    "rope_scaling_left_out": rope_scaling_left_out,
    "draft_length_served": draft_length_served,
    "whole_prompt_step": whole_prompt_step,
    "architecture_names": architecture_names,
}
