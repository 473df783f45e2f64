"""What specconf knows of one checkpoint: each value, or the reason why it is not known. No derivation, no I/O."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import TypeAlias

from msgspec import Struct

from specconf.models.config import ConfigView, Missing
from specconf.models.heads import Head
from specconf.models.kinds import Kind
from specconf.models.mla import LatentAttention
from specconf.models.moe import Experts
from specconf.models.quantization import Quantized
from specconf.models.rope import Rope
from specconf.models.tokenizers import PAIR_FACTS, Tokens, token_tables_at_hand
from specconf.models.weights import AT_HAND, WEIGHT_FACTS, Weights
from specconf.words import JsonValue

__all__ = ["FACT_NAMES", "Known", "Missing", "ModelFacts", "Source", "SourceKind"]

Known: TypeAlias = "JsonValue | Missing"


class SourceKind(StrEnum):
    """Where a config was found."""

    LOCAL = "local"
    HUB_CACHE = "hub_cache"
    CHECKPOINT_ROW = "checkpoint_row"
    HUB = "hub"
    GIVEN = "given"


class Source(Struct, frozen=True):
    """Where the facts come from: `where` is a path, a row id or a hub id, as a message prints it.

    `evidence` is the evidence kind of what it shows, and `evidence_by_key` that of single config keys where it differs.
    """

    kind: SourceKind
    where: str
    revision: str | None = None
    evidence: str = "source"
    evidence_by_key: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        names = {
            SourceKind.LOCAL: "",
            SourceKind.HUB_CACHE: "hub cache: ",
            SourceKind.CHECKPOINT_ROW: "checkpoint row of ",
            SourceKind.HUB: "hub: ",
            SourceKind.GIVEN: "",
        }
        return f"{names[self.kind]}{self.where}"


class ModelFacts(Struct, frozen=True):
    """Facts of one target or draft checkpoint. A `Missing` with `absent` is a known no; without, nobody knows.

    `mtp_layers` counts the MTP layers an engine would read from the config (0: it has none). `draft_kind` is what a
    head drafts by: `kind` itself, or the algorithm inside a speculators checkpoint. `has_auto_map` says that the
    checkpoint names remote code, `needs_remote_code` that transformers cannot read its config without it; an engine may
    still bring a class of its own. `drafts_for` are the targets that published launches pair a draft with. The facts of
    a topic stand together in a field of its own and are asked for by their bare names, as all others are:
    `get("kv_lora_rank")`.
    """

    source: Source
    view: ConfigView
    kind: Kind
    kind_reason: str
    draft_kind: Known
    architecture: Known
    architectures: Known
    model_type: Known
    text_config_path: str | None
    vocab_size: Known
    hidden_size: Known
    num_layers: Known
    num_heads: Known
    num_kv_heads: Known
    head_dim: Known
    max_position_embeddings: Known
    dtype: Known
    mtp_layers: Known
    has_auto_map: Known
    needs_remote_code: Known
    drafts_for: Known
    mla: LatentAttention
    experts: Experts
    rope: Rope
    quantized: Quantized
    head: Head
    weights: Weights
    tokens: Tokens

    @property
    def config(self) -> Mapping[str, JsonValue]:
        """The parsed config as found."""
        return self.view.config

    @property
    def complete(self) -> bool:
        """Whether a key that is not there is known to be absent."""
        return self.view.complete

    @property
    def known(self) -> frozenset[str]:
        """The config's own top-level keys."""
        return frozenset(self.view.config)

    def get(self, path: str) -> Known:
        """A fact by its path: `vocab_size`, `mtp_layers`, `config.rope_scaling.type`."""
        if path == "config":
            return dict(self.view.config)
        if path.startswith("config."):
            return self.view.get(path.removeprefix("config."))
        if path in WEIGHT_FACTS or path == AT_HAND:
            return self.weights.get(path)
        if path == token_tables_at_hand.__name__:
            return False
        if path in PAIR_FACTS:
            return Missing(f"{path} is known of a draft and its target together")
        if path not in FACT_NAMES:
            return Missing(f"there is no model fact named {path}")
        topic = _TOPIC_OF.get(path)
        value = getattr(self if topic is None else getattr(self, topic), path)
        if isinstance(value, Kind):
            return Missing(self.kind_reason) if value is Kind.UNKNOWN else value.value
        return value  # type: ignore[no-any-return]  # the fields named in FACT_NAMES are Known

    def evidence(self, path: str) -> str:
        """The evidence kind behind a fact, for the ceiling on its severity."""
        keys = (path.removeprefix("config."), path.removeprefix("config.").split(".")[0])
        return next((kind for key, kind in self.source.evidence_by_key if key in keys), self.source.evidence)


# The fields that hold the facts of a topic, and which of them holds a fact.
_TOPICS = {"mla": LatentAttention, "experts": Experts, "rope": Rope, "quantized": Quantized, "head": Head}
_TOPIC_OF: dict[str, str] = {name: topic for topic, held in _TOPICS.items() for name in held.__struct_fields__}
_NO_FACTS = {"source", "view", "kind_reason", "weights", "tokens", *_TOPICS}

FACT_NAMES: frozenset[str] = frozenset(
    {name for name in ModelFacts.__struct_fields__ if name not in _NO_FACTS}.union(_TOPIC_OF, WEIGHT_FACTS, PAIR_FACTS)
)
