"""The speculation methods of the spec and what each of them takes, whatever the engine. Free of pydantic."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct


class Method(StrEnum):
    """What proposes the draft tokens."""

    NONE = "none"
    DRAFT_MODEL = "draft_model"
    EAGLE = "eagle"
    EAGLE3 = "eagle3"
    MTP = "mtp"
    NGRAM = "ngram"
    SUFFIX = "suffix"
    DFLASH = "dflash"
    DSPARK = "dspark"
    MEDUSA = "medusa"
    SA = "sa"
    PARD = "pard"

    @property
    def traits(self) -> MethodTraits:
        """What this method takes."""
        return METHODS[self]


class DraftUse(StrEnum):
    """Whether a method takes weights of its own (`speculation.draft`)."""

    NEVER = "never"
    MAY = "may"
    NEEDS = "needs"


class MethodTraits(Struct, frozen=True):
    """What a method takes. `tree`: it can propose several tokens a step (`tree.topk`, `tree.num_steps`).

    `verify_tokens`: how many tokens are verified can be set apart from K. `uses_k`: it drafts a number of tokens.
    `ngram`: `speculation.ngram` bounds the length of its matches.
    """

    draft: DraftUse = DraftUse.NEVER
    tree: bool = False
    verify_tokens: bool = False
    uses_k: bool = True
    ngram: bool = False


_TREE_WITH_DRAFT = MethodTraits(draft=DraftUse.NEEDS, tree=True, verify_tokens=True)
_CHAIN_WITH_DRAFT = MethodTraits(draft=DraftUse.NEEDS)

METHODS: dict[Method, MethodTraits] = {
    Method.NONE: MethodTraits(uses_k=False),
    Method.DRAFT_MODEL: _TREE_WITH_DRAFT,
    Method.EAGLE: _TREE_WITH_DRAFT,
    Method.EAGLE3: _TREE_WITH_DRAFT,
    Method.MTP: MethodTraits(draft=DraftUse.MAY, tree=True, verify_tokens=True),
    Method.NGRAM: MethodTraits(verify_tokens=True, ngram=True),
    Method.SUFFIX: MethodTraits(),
    Method.DFLASH: _CHAIN_WITH_DRAFT,
    Method.DSPARK: _CHAIN_WITH_DRAFT,
    Method.MEDUSA: _CHAIN_WITH_DRAFT,
    Method.SA: MethodTraits(ngram=True),
    Method.PARD: _CHAIN_WITH_DRAFT,
}


def methods_with(trait: str) -> str:
    """The methods that have a trait of `MethodTraits`, as text for a message."""
    return ", ".join(method for method, traits in METHODS.items() if getattr(traits, trait))


def takes(method: Method, field: str) -> bool:
    """Whether a field of the spec, by its dotted name, has a meaning with this method."""
    if not field.startswith("speculation.") or field in ("speculation.method", "speculation.verification"):
        return True
    if method is Method.NONE:
        return False
    traits = METHODS[method]
    if field.startswith("speculation.draft."):
        return traits.draft is not DraftUse.NEVER
    if field == "speculation.tree.num_verify_tokens":
        return traits.verify_tokens
    if field.startswith("speculation.tree."):
        return traits.tree
    return traits.ngram or not field.startswith("speculation.ngram.")
