"""What a drafting head was made for and drafts with: its vocabulary, the target's layers it reads, its block and mask token,
the target of its training, and the number of tokens it was published for.
"""

from __future__ import annotations

from msgspec import Struct

from specconf.models.config import ConfigView, Missing
from specconf.models.kinds import Kind
from specconf.models.reading import text, whole, whole_numbers
from specconf.words import JsonValue

# The layers of the target that a head reads, in the two countings that engines know: the layer whose output it is, and the
# one before it (DFlash and DSpark), which is one less.
_AUX = (
    "eagle_aux_hidden_state_layer_ids",
    "eagle_config.eagle_aux_hidden_state_layer_ids",
    "aux_hidden_state_layer_ids",
)
_AUX_BEFORE = ("dflash_config.target_layer_ids", "dspark_target_layer_ids", "target_layer_ids")
_AUX_OTHER = ("dflash_config.layer_ids", "eagle_config.layer_ids")
_BLOCK = ("block_size", "dspark_block_size", "dflash_config.block_size")
_MASK = ("dflash_config.mask_token_id", "mask_token_id", "dspark_noise_token_id", "pard_token", "ptd_token_id")
_VERIFIER = "speculators_config.verifier"
_FOR_A_TARGET = frozenset({Kind.EAGLE, Kind.EAGLE3, Kind.DFLASH, Kind.DSPARK, Kind.SPECULATORS})


class Head(Struct, frozen=True):
    """`aux_layers` counts as EAGLE-3 does: 0 is the embedding, n the output of layer n-1. `verifier` and
    `published_tokens` stand in the speculators format only; `reads_target_layers` says whether the head uses
    intermediate layers at all, where its config says so."""

    draft_vocab_size: JsonValue | Missing
    target_hidden_size: JsonValue | Missing
    aux_layers: JsonValue | Missing
    reads_target_layers: JsonValue | Missing
    block_size: JsonValue | Missing
    mask_token_id: JsonValue | Missing
    verifier: JsonValue | Missing
    verifier_architecture: JsonValue | Missing
    published_tokens: JsonValue | Missing

    @classmethod
    def of(cls, view: ConfigView, kind: Kind, hidden: int | Missing) -> Head:
        """The head that a config describes."""
        return cls(
            draft_vocab_size=whole(view, "draft_vocab_size"),
            target_hidden_size=_target_hidden_size(view, kind, hidden),
            aux_layers=_aux_layers(view),
            reads_target_layers=_reads_target_layers(view),
            block_size=whole(view, *_BLOCK),
            mask_token_id=whole(view, *_MASK),
            verifier=text(view, f"{_VERIFIER}.name_or_path"),
            verifier_architecture=text(view, f"{_VERIFIER}.architectures.0"),
            published_tokens=whole(view, "speculators_config.proposal_methods.0.speculative_tokens"),
        )


def _target_hidden_size(view: ConfigView, kind: Kind, hidden: int | Missing) -> int | Missing:
    """The hidden size of the target that a head was made for."""
    found = whole(view, "target_hidden_size", "backbone_hidden_size")
    if not isinstance(found, Missing) or not found.absent:
        return found
    return hidden if kind in _FOR_A_TARGET else found


def _aux_layers(view: ConfigView) -> list[JsonValue] | Missing:
    unknown: Missing | None = None
    for paths, step in ((_AUX, 0), (_AUX_BEFORE, 1), (_AUX_OTHER, 0)):
        found = whole_numbers(view, *paths)
        if not isinstance(found, Missing):
            if found:
                return [layer + step for layer in found if isinstance(layer, int)]
        elif not found.absent:
            unknown = unknown or found
    return unknown or Missing(f"{view.origin} names no layers of a target", absent=True)


def _reads_target_layers(view: ConfigView) -> bool | Missing:
    found = view.first(
        "eagle_config.use_aux_hidden_state", "use_aux_hidden_state", "dflash_config.use_aux_hidden_state"
    )
    if isinstance(found, Missing | bool):
        return found
    return Missing(f"use_aux_hidden_state in {view.origin} is not a boolean")
