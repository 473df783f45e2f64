"""The facts that every engine has (`specconf.engines.common`), from vLLM's options."""

from __future__ import annotations

from collections.abc import Mapping

from specconf.engines.common import in_words_of_the_spec, served_length
from specconf.engines.vllm.derived.speculation import draft_is_target
from specconf.engines.vllm.inference import METHOD
from specconf.facts import Derivation, Fact, Facts, Known


def spec_method(facts: Facts) -> Fact:
    """What drafts, in the spec's word: the words of single MTP families are one method."""
    found = facts.get(f"option.{METHOD}")
    if isinstance(found, Known) and str(found.value).endswith("mtp"):
        return Known("mtp")
    return in_words_of_the_spec(found, {"ngram_gpu": "ngram"})


def draft_quantization(facts: Facts) -> Fact:
    """What the speculative config says; the target's is not taken over by a draft of its own."""
    return facts.get("option.speculative_config.quantization")


DERIVATIONS: Mapping[str, Derivation] = {
    "spec_method": spec_method,
    "drafts_itself": draft_is_target,
    "served_length": served_length("max_model_len"),
    "draft_quantization": draft_quantization,
}
