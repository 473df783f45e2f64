"""What the names of a checkpoint's tensors tell: whether its MTP layers are really there, in the scheme of the rest or as they
were trained, and whether a head maps its vocabulary. Names are read when first asked for; no weights are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Set
from functools import cache

from msgspec import Struct

from specconf.models.config import Missing
from specconf.patterns import pattern
from specconf.words import JsonValue

Reader = Callable[[], "frozenset[str] | None"]
# Stand alone or as part of a longer name: mtp.fc, model.mtp_layers.0, mtp_block, mtp_emb_norm, nextn, and the extra heads
# of one family.
_MTP_WORD = pattern(r"mtp|nextn|(^|\.)extra_(heads|proj)\.", re.IGNORECASE)
_LAYER = pattern(r"(?:^|\.)layers\.(\d{1,6})\.")
# What stands beside a quantised weight, or in its place.
_COMPANIONS = pattern(
    r"\.(weight_scale\w*|weight_packed|weight_global_scale|weight_zero_point|qweight|qzeros|scales|g_idx|input_scale|"
    r"\w+_blocks|\w+_scales|weight\.absmax|weight\.quant_state\S*)$"
)
_PROJECTION = pattern(r"\.(fc|eh_proj)\.")
# Towers beside the language model count their own layers.
_TOWER = pattern(r"vision|visual|audio|encoder\.|tower")


# Whether the names were found, which rules ask first that are not worth telling the reader that they were not checked.
AT_HAND = "tensors_at_hand"


class TensorNames:
    """The tensor names of a checkpoint: at hand, to be read, or not known."""

    def __init__(self, at_hand: frozenset[str] | None = None, *, reader: Reader | None = None) -> None:
        self.at_hand = at_hand
        self._reader = cache(reader) if reader is not None else None

    def read(self) -> frozenset[str] | None:
        """The names, read once; None where nobody can tell."""
        if self.at_hand is None and self._reader is not None:
            return self._reader()
        return self.at_hand


class Weights(Struct, frozen=True):
    """Facts of a checkpoint's tensors, each worked out when it is asked for."""

    tensors: TensorNames
    layers: int | Missing
    origin: str

    def get(self, name: str) -> JsonValue | Missing:
        """One of `WEIGHT_FACTS`, or whether they can be known at all."""
        names = self.tensors.read()
        if name == AT_HAND:
            return bool(names)
        if not names:
            return Missing(f"no list of tensors was found for {self.origin}")
        return WEIGHT_FACTS[name](self, names)

    def _mtp(self, names: Iterable[str]) -> list[str] | Missing:
        """The tensors of MTP layers: by name, or by a layer number beyond the target's own."""
        named = [name for name in names if _MTP_WORD.search(name)]
        if isinstance(self.layers, Missing):
            return named or self.layers
        return named or [name for name in names if self._layer(name) >= self.layers]

    @staticmethod
    def _layer(name: str) -> int:
        found = None if _TOWER.search(name) else _LAYER.search(name)
        return int(found[1]) if found else -1

    def has_mtp_tensors(self, names: frozenset[str]) -> JsonValue | Missing:
        """Whether any tensor belongs to an MTP layer; false for a checkpoint that was saved or quantised without them."""
        mtp = self._mtp(names)
        return mtp if isinstance(mtp, Missing) else bool(mtp)

    def quantized_tensors(self, names: frozenset[str]) -> JsonValue | Missing:
        """Whether weights outside the MTP layers have scales beside them, or are packed."""
        mtp = self._mtp(names)
        return mtp if isinstance(mtp, Missing) else _quantized(names - set(mtp))

    def mtp_quantized_tensors(self, names: frozenset[str]) -> JsonValue | Missing:
        """The same of the MTP layers; None where there are none."""
        mtp = self._mtp(names)
        if isinstance(mtp, Missing):
            return mtp
        return _quantized(set(mtp)) if mtp else None

    def mtp_projection_quantized(self, names: frozenset[str]) -> JsonValue | Missing:
        """The same of the projection that joins a token's embedding with the hidden state; None where none is named."""
        mtp = self._mtp(names)
        if isinstance(mtp, Missing):
            return mtp
        found = {name for name in mtp if _PROJECTION.search(name)}
        return _quantized(found) if found else None

    def has_vocab_map(self, names: frozenset[str]) -> JsonValue | Missing:
        """Whether a head says which of the target's tokens its own are (d2t)."""
        return any("d2t" in name or "draft_id_to_target_id" in name for name in names)

    def has_own_head(self, names: frozenset[str]) -> JsonValue | Missing:
        """Whether a head brings an output layer of its own."""
        return any(name.endswith("lm_head.weight") for name in names)


def _quantized(names: Set[str]) -> bool:
    """Whether any weight has what quantised ones have beside them, or in their place."""
    return any(
        _COMPANIONS.search(name) or (name.endswith(".scale") and f"{name.removesuffix('scale')}weight" in names)
        for name in names
    )


WEIGHT_FACTS: dict[str, Callable[[Weights, frozenset[str]], JsonValue | Missing]] = {
    "has_mtp_tensors": Weights.has_mtp_tensors,
    "quantized_tensors": Weights.quantized_tensors,
    "mtp_quantized_tensors": Weights.mtp_quantized_tensors,
    "mtp_projection_quantized": Weights.mtp_projection_quantized,
    "has_vocab_map": Weights.has_vocab_map,
    "has_own_head": Weights.has_own_head,
}
