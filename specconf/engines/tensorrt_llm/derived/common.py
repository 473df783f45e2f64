"""The facts that every engine has (`specconf.engines.common`), from TensorRT-LLM's options."""

from __future__ import annotations

from collections.abc import Mapping

from specconf.engines.common import in_words_of_the_spec, served_length
from specconf.facts import Derivation, Fact, Facts, Known

_DRAFT = "option.speculative_config.speculative_model"
# On the PyTorch backend Eagle always meant EAGLE-3.
_WORDS = {"Eagle": "eagle3", "DraftTarget": "draft_model", "Draft_Target": "draft_model"}


def spec_method(facts: Facts) -> Fact:
    """What drafts, in the spec's word."""
    return in_words_of_the_spec(facts.get("option.speculative_config.decoding_type"), _WORDS)


def drafts_itself(facts: Facts) -> Fact:
    """Whether the target's own checkpoint drafts: no draft is named, or the target is."""
    draft, target = facts.get(_DRAFT), facts.get("option.model")
    if not isinstance(draft, Known) or draft.value is None:
        return Known(True) if isinstance(draft, Known) else draft
    return Known(draft == target) if isinstance(target, Known) else target


def draft_quantization(_: Facts) -> Fact:
    """No option says it: the draft's own config does."""
    return Known(None)


DERIVATIONS: Mapping[str, Derivation] = {
    "spec_method": spec_method,
    "drafts_itself": drafts_itself,
    "served_length": served_length("max_seq_len"),
    "draft_quantization": draft_quantization,
}
