"""Facts of the two checkpoints beside each other: vocabularies, lengths, and names of classes."""

from __future__ import annotations

from collections.abc import Mapping

from specconf.engines.vllm.derived.speculation import CONFIG, draft_is_target
from specconf.facts import Derivation, Fact, Facts, Known, Missing
from specconf.words import JsonValue


def target_text_model_type(facts: Facts) -> Fact:
    """The model type of the target's language model, which checks of the engine look at."""
    inner = facts.get("target.config.text_config.model_type")
    return inner if isinstance(inner, Known) and inner.value is not None else facts.get("target.model_type")


def draft_vocab_differs(facts: Facts) -> Fact:
    """Whether target and draft differ in the size of their vocabularies; a target that drafts for itself does not."""
    if draft_is_target(facts) == Known(True):
        return Known(False)
    target, draft = facts.get("target.vocab_size"), facts.get("draft.vocab_size")
    for fact in (target, draft):
        if not isinstance(fact, Known):
            return fact
    assert isinstance(target, Known)
    assert isinstance(draft, Known)
    if target.value is None or draft.value is None:
        return Missing("vocabulary sizes of target and draft")
    return Known(target.value != draft.value)


# RoPE scaling that leaves max_position_embeddings as the length a checkpoint is good for.
_PLAIN_ROPE = ("default", "llama3")


def _config_length(role: str, facts: Facts) -> Fact:
    """The longest sequence that a checkpoint's config allows, where no RoPE scaling stretches it."""
    for key in ("rope_scaling", "rope_parameters"):
        scaling = facts.get(f"{role}.config.{key}")
        if not isinstance(scaling, Known):
            return scaling
        kind = scaling.value.get("rope_type", scaling.value.get("type")) if isinstance(scaling.value, dict) else None
        if scaling.value is not None and kind not in _PLAIN_ROPE:
            return Missing(f"the length of the {role}", "its RoPE scaling stretches it by release")
    length = facts.get(f"{role}.max_position_embeddings")
    return Missing(f"{role} max_position_embeddings") if length == Known(None) else length


def target_length(facts: Facts) -> Fact:
    """The longest sequence served: as the launch says, else as the target's config allows."""
    asked = facts.get("option.max_model_len")
    if isinstance(asked, Known) and isinstance(asked.value, int) and asked.value > 0:
        return asked
    return _config_length("target", facts) if isinstance(asked, Known) else asked


def draft_length(facts: Facts) -> Fact:
    """The longest sequence that the draft takes: as the launch says, else as its config allows."""
    if draft_is_target(facts) == Known(True):
        return target_length(facts)
    asked = facts.get(f"asked.{CONFIG}.max_model_len")
    if isinstance(asked, Known) and asked.value is None:
        return _config_length("draft", facts)
    return asked


# Endings of architecture names that stand for each other: vllm/config/model.py, _SUFFIX_TO_DEFAULTS (0.33.0).
_GENERATIVE = ("ForCausalLM", "ForConditionalGeneration", "ChatModel", "LMHeadModel")
_ENDINGS = (*_GENERATIVE, "ForTextEncoding", "EmbeddingModel", "ForSequenceClassification", "ForTokenClassification",
            "ForAudioClassification", "ForImageClassification", "ForVideoClassification", "ClassificationModel",
            "ForRewardModeling", "RewardModel", "Model")  # fmt: skip


def architecture_names(facts: Facts) -> Fact:
    """The target's architectures, and the names with another ending under which the engine looks for a class, too."""
    found = facts.get("target.architectures")
    if not isinstance(found, Known) or not isinstance(found.value, list):
        return found
    names: list[JsonValue] = []
    for name in found.value:
        ending = next((end for end in _GENERATIVE if isinstance(name, str) and name.endswith(end)), None)
        stem = str(name).removesuffix(ending or "")
        names += [name, *(stem + end for end in _ENDINGS if ending is not None)]
    return Known(names)


# Keys that the configs of models with experts, or with layers that are no attention, have.
_MIXED_KEYS = (
    "num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts", "num_experts_per_tok", "mamba_d_state",
    "mamba_num_heads", "ssm_state_size", "linear_num_key_heads", "hybrid_override_pattern", "layers_block_type",
)  # fmt: skip


def target_is_dense(facts: Facts) -> Fact:
    """Whether the target has neither experts nor layers other than attention, as far as its config shows."""
    found = [facts.get(f"target.config.{key}") for key in _MIXED_KEYS]
    if any(isinstance(fact, Known) and fact.value is not None for fact in found):
        return Known(False)
    return next((fact for fact in found if not isinstance(fact, Known)), Known(True))


DERIVATIONS: Mapping[str, Derivation] = {
    "target_text_model_type": target_text_model_type,
    "draft_vocab_differs": draft_vocab_differs,
    "target_length": target_length,
    "draft_length": draft_length,
    "architecture_names": architecture_names,
    "target_is_dense": target_is_dense,
}
