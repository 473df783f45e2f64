"""Facts that every engine has under one name, so that a constraint can be written once for all (`compat/common/`).

Every engine derives those of `ASKED_OF_ENGINES` from its own options. `spec_method` is what drafts, in the spec's own word
(`speculation.method`; a drafter that no spec can name is told by the engine's word in lower case), None without speculation.
`drafts_itself`: the target's own checkpoint drafts. `served_length` is the longest sequence that the launch serves, in tokens.
`draft_quantization` is how it has the draft's weights read, None where that is left to the draft's own config.
"""

from __future__ import annotations

from collections.abc import Mapping

from specconf.facts import Derivation, Fact, Facts, Known, Missing, either

ASKED_OF_ENGINES = ("spec_method", "drafts_itself", "served_length", "draft_quantization")
# Sizes of one vocabulary differ by padding, which is smaller than this.
_PADDING = 1024


def served_length(option: str) -> Derivation:
    """The length that a launch asks for by this option; else the target's own."""

    def fact(facts: Facts) -> Fact:
        asked = facts.get(f"option.{option}")
        unset = isinstance(asked, Known) and asked.value in (None, -1, "auto")
        return facts.get("target.context_length") if unset else asked

    return fact


def in_words_of_the_spec(found: Fact, words: Mapping[str, str]) -> Fact:
    """The engine's word for what drafts as the spec's; of several words, what they all mean or each of the candidates."""
    if isinstance(found, Missing):
        return found
    return either(words.get(word, word.lower()) if isinstance(word, str) else None for word in found.values)


def _vocabularies(facts: Facts) -> tuple[int, int] | Fact:
    """The sizes of the target's and the draft's vocabulary; else what is missing to tell, or that there is no pair."""
    itself = facts.get("derived.drafts_itself")
    if itself == Known(True):
        return Known(False)
    sizes = []
    for role in ("target", "draft"):
        size = facts.get(f"{role}.vocab_size")
        if not isinstance(size, Known):
            return size
        if not isinstance(size.value, int):
            return Missing("vocabulary sizes of target and draft")
        sizes.append(size.value)
    return sizes[0], sizes[1]


def draft_vocab_differs(facts: Facts) -> Fact:
    """Whether target and draft differ in the size of their vocabularies; a target that drafts for itself does not."""
    sizes = _vocabularies(facts)
    return Known(sizes[0] != sizes[1]) if isinstance(sizes, tuple) else sizes


def draft_vocab_is_another(facts: Facts) -> Fact:
    """Whether the sizes of the two vocabularies differ by more than padding: the draft then numbers other tokens."""
    sizes = _vocabularies(facts)
    return Known(abs(sizes[0] - sizes[1]) > _PADDING) if isinstance(sizes, tuple) else sizes


DERIVATIONS: Mapping[str, Derivation] = {
    "draft_vocab_differs": draft_vocab_differs,
    "draft_vocab_is_another": draft_vocab_is_another,
}
