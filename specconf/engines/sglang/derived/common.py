"""The facts that every engine has (`specconf.engines.common`), from SGLang's options."""

from __future__ import annotations

from collections.abc import Mapping

from specconf.engines.common import in_words_of_the_spec, served_length
from specconf.engines.sglang.derived.algorithm import algorithm
from specconf.engines.sglang.derived.checkpoints import drafts_itself
from specconf.facts import Derivation, Fact, Facts, Known

_WORDS = {"STANDALONE": "draft_model", "FROZEN_KV_MTP": "mtp"}


def spec_method(facts: Facts) -> Fact:
    """What drafts, in the spec's word: EAGLE with the target's own checkpoint is MTP."""
    found = algorithm(facts)
    if isinstance(found, Known) and found.value == "EAGLE":
        itself = drafts_itself(facts)
        return Known("mtp" if itself.value else "eagle") if isinstance(itself, Known) else itself
    return in_words_of_the_spec(found, _WORDS)


def draft_quantization(facts: Facts) -> Fact:
    """The draft's own option where it is written, else the target's, which the draft takes over."""
    own = facts.get("asked.speculative_draft_model_quantization")
    if isinstance(own, Known) and own.value is None:
        return facts.get("option.quantization")
    return Known(None) if own == Known("unquant") else own


DERIVATIONS: Mapping[str, Derivation] = {
    "spec_method": spec_method,
    "served_length": served_length("context_length"),
    "draft_quantization": draft_quantization,
}
