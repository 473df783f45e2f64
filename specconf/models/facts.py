"""What specconf knows of one checkpoint: each value, or the reason why it is not known. No derivation, no I/O."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import TypeAlias

from specconf.models.config import ConfigView, Missing
from specconf.models.kinds import Kind
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


@dataclass(frozen=True, slots=True)
class Source:
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


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """Facts of one target or draft checkpoint. A `Missing` with `absent` is a known no; without, nobody knows.

    `mtp_layers` counts the MTP layers an engine would read from the config (0: it has none). `draft_kind` is what a
    head drafts by: `kind` itself, or the algorithm inside a speculators checkpoint. `has_auto_map` says that the
    checkpoint names remote code, `needs_remote_code` that transformers cannot read its config without it; an engine may
    still bring a class of its own.
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
    quantization: Known
    dtype: Known
    mtp_layers: Known
    has_auto_map: Known
    needs_remote_code: Known
    draft_vocab_size: Known
    target_hidden_size: Known

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
        if path not in FACT_NAMES:
            return Missing(f"there is no model fact named {path}")
        value = getattr(self, path)
        if isinstance(value, Kind):
            return Missing(self.kind_reason) if value is Kind.UNKNOWN else value.value
        return value  # type: ignore[no-any-return]  # the fields named in FACT_NAMES are Known

    def evidence(self, path: str) -> str:
        """The evidence kind behind a fact, for the ceiling on its severity."""
        keys = (path.removeprefix("config."), path.removeprefix("config.").split(".")[0])
        return next((kind for key, kind in self.source.evidence_by_key if key in keys), self.source.evidence)


FACT_NAMES: frozenset[str] = frozenset(
    field.name for field in fields(ModelFacts) if field.name not in {"source", "view", "kind_reason"}
)
