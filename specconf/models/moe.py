"""Mixtures of experts: how many there are, how many a token takes, and how wide they and the dense layers are."""

from __future__ import annotations

from msgspec import Struct

from specconf.models.config import ConfigView, Missing
from specconf.models.reading import whole
from specconf.words import JsonValue

_EXPERTS = ("num_experts", "moe_num_experts", "n_routed_experts", "num_local_experts", "ffn_config.moe_num_experts")
_PER_TOKEN = (
    "num_experts_per_tok",
    "num_experts_per_token",
    "experts_per_token",
    "top_k_experts",
    "moe_topk",
    "moe_top_k",
    "moe_k",
    "ffn_config.moe_top_k",
)
_SHARED = ("n_shared_experts", "num_shared_experts", "moe_num_shared_experts", "num_shared_expert")
_WIDTH = ("intermediate_size", "ffn_hidden_size", "n_inner", "ffn_dim", "d_ff")
_EXPERT_WIDTH = ("moe_intermediate_size", "expert_ffn_hidden_size", "moe_ffn_hidden_size", "ffn_config.ffn_hidden_size")
_SHARED_WIDTH = (
    "shared_expert_intermediate_size",
    "moe_shared_expert_intermediate_size",
    "shared_intermediate_size",
)
_DENSE_FIRST = ("first_k_dense_replace", "moe_layer_start_index", "num_dense_layers")


class Experts(Struct, frozen=True):
    """`num_experts` is 0 for a model that has none; `expert_width` and `width` are the inner sizes of an expert and of a
    dense layer; `dense_first` counts the layers before the first one with experts."""

    num_experts: JsonValue | Missing
    experts_per_token: JsonValue | Missing
    shared_experts: JsonValue | Missing
    width: JsonValue | Missing
    expert_width: JsonValue | Missing
    shared_expert_width: JsonValue | Missing
    dense_first: JsonValue | Missing

    @classmethod
    def of(cls, view: ConfigView) -> Experts:
        """The experts of a config. A family with experts and no width of their own gives them that of a layer."""
        experts = _experts(view)
        width = _same_in_all(view, *_WIDTH)
        own = _same_in_all(view, *_EXPERT_WIDTH)
        shared_width = isinstance(own, Missing) and own.absent and not isinstance(experts, Missing) and experts > 0
        return cls(
            num_experts=experts,
            experts_per_token=_same_in_all(view, *_PER_TOKEN),
            shared_experts=_same_in_all(view, *_SHARED),
            width=width,
            expert_width=width if shared_width else own,
            shared_expert_width=_same_in_all(view, *_SHARED_WIDTH),
            dense_first=_same_in_all(view, *_DENSE_FIRST),
        )


def _experts(view: ConfigView) -> int | Missing:
    found = _same_in_all(view, *_EXPERTS)
    if not isinstance(found, Missing) or not found.absent:
        return found
    blocks = view.get("block_configs")
    if isinstance(blocks, Missing):
        return 0 if blocks.absent else blocks
    if blocks is None:
        return 0
    if not isinstance(blocks, list):
        return Missing(f"block_configs in {view.origin} is not a list")
    counts = [block.get("n_routed_experts", 0) for block in blocks if isinstance(block, dict)]
    if any(type(count) is not int for count in counts):
        return Missing(f"n_routed_experts in {view.origin} is not a whole number")
    return max((count for count in counts if isinstance(count, int)), default=0)


def _same_in_all(view: ConfigView, *paths: str) -> int | Missing:
    """A number that some families write once for each layer or modality: known where it is the same in all."""
    found = view.first(*paths)
    if isinstance(found, list) and found and all(type(item) is int and item == found[0] for item in found):
        first = found[0]
        return first if isinstance(first, int) and first >= 0 else Missing(f"{paths[0]} in {view.origin} is no size")
    if isinstance(found, list):
        return Missing(f"{paths[0]} in {view.origin} differs by layer")
    return whole(view, *paths)
