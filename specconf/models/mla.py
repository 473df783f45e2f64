"""Latent attention (MLA): the ranks and head sizes that a config gives for it; None of them where it has another kind."""

from __future__ import annotations

from msgspec import Struct

from specconf.models.config import ConfigView, Missing
from specconf.models.reading import whole
from specconf.words import JsonValue


class LatentAttention(Struct, frozen=True):
    """`latent_attention`: whether the config describes it at all, which is that it gives a rank of keys and values."""

    latent_attention: bool | Missing
    kv_lora_rank: JsonValue | Missing
    q_lora_rank: JsonValue | Missing
    qk_nope_head_dim: JsonValue | Missing
    qk_rope_head_dim: JsonValue | Missing
    v_head_dim: JsonValue | Missing

    @classmethod
    def of(cls, view: ConfigView) -> LatentAttention:
        """The ranks of a config; a `q_lora_rank` of null says that queries are not compressed."""
        rank = whole(view, "kv_lora_rank")
        latent = rank > 0 if not isinstance(rank, Missing) else False if rank.absent else rank
        return cls(
            latent_attention=latent,
            kv_lora_rank=rank,
            q_lora_rank=whole(view, "q_lora_rank"),
            qk_nope_head_dim=whole(view, "qk_nope_head_dim"),
            qk_rope_head_dim=whole(view, "qk_rope_head_dim"),
            v_head_dim=whole(view, "v_head_dim"),
        )
