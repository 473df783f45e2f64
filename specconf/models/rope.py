"""Rotary positions and the length that a checkpoint is good for: the kind of scaling, its factor and base, the window of
sliding attention, and the context length where engines agree on it.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from specconf.models.config import ConfigView, Missing
from specconf.models.reading import number, whole
from specconf.words import JsonValue

# Where engines look for the length, the smallest counts; `model_max_length` then replaces it (vLLM's
# derive_max_model_len_and_key, _get_and_verify_max_len before).
_LENGTHS = (
    "max_position_embeddings",
    "n_positions",
    "max_seq_len",
    "seq_length",
    "model_max_length",
    "max_target_positions",
    "max_sequence_length",
    "max_seq_length",
    "seq_len",
)
_SCALING = ("rope_scaling", "rope_parameters")
# Kinds of scaling that no release multiplies the length by.
_NEVER_STRETCHED = frozenset({"default", "su", "longrope", "llama3", "mrope"})
# Kinds whose length older releases compute as original length x factor, and newer ones read as it stands.
_BY_RELEASE = frozenset({"yarn", "deepseek_yarn", "deepseek_llama_scaling"})


class Rope(Struct, frozen=True):
    """`rope_type` is `default` where nothing scales. `context_length` is unknown where releases of engines differ."""

    rope_type: JsonValue | Missing
    rope_factor: JsonValue | Missing
    rope_theta: JsonValue | Missing
    rope_original_length: JsonValue | Missing
    sliding_window: JsonValue | Missing
    context_length: JsonValue | Missing

    @classmethod
    def of(cls, view: ConfigView, model_type: str | None) -> Rope:
        """The positions of a config."""
        kind = _kind(view)
        factor = number(view, *(f"{key}.factor" for key in _SCALING))
        original = whole(
            view,
            *(f"{key}.original_max_position_embeddings" for key in _SCALING),
            "original_max_position_embeddings",
        )
        return cls(
            rope_type=kind,
            rope_factor=factor,
            rope_theta=number(view, "rope_theta", "rope_parameters.rope_theta", "rotary_emb_base"),
            rope_original_length=original,
            sliding_window=_window(view),
            context_length=_length(view, kind, factor, original, "gemma3" in (model_type or "")),
        )


def _kind(view: ConfigView) -> str | Missing:
    """The kind of scaling; of scalings by layer type the one that is not the default, where there is one."""
    scaling = view.first(*_SCALING)
    if isinstance(scaling, Missing):
        return "default" if scaling.absent else scaling
    if not isinstance(scaling, dict):
        return Missing(f"rope_scaling in {view.origin} is not a mapping")
    parts = [scaling]
    if not any(key in scaling for key in ("rope_type", "type")) and scaling:
        parts = [part for part in scaling.values() if isinstance(part, dict)] or parts
    found = {kind for part in parts if (kind := _written_kind(part)) != "default"}
    if len(found) > 1:
        return Missing(f"rope_scaling in {view.origin} differs by layer")
    kind = found.pop() if found else "default"
    return kind if isinstance(kind, str) else Missing(f"rope_type in {view.origin} is not a text")


def _written_kind(part: Mapping[str, JsonValue]) -> str | None:
    kind = part.get("rope_type", part.get("type", "default"))
    return kind if isinstance(kind, str) else None


def _window(view: ConfigView) -> JsonValue | Missing:
    """The window of sliding attention; None where it is switched off, whatever its size."""
    if view.get("use_sliding_window") is False:
        return None
    return whole(view, "sliding_window", "sliding_window_size", "attention_window_size")


def _length(
    view: ConfigView, kind: str | Missing, factor: float | int | Missing, original: int | Missing, scaled_already: bool
) -> int | Missing:
    base = _written_length(view)
    if isinstance(base, Missing):
        return base
    if isinstance(kind, Missing):
        return kind
    if kind in _NEVER_STRETCHED or scaled_already:
        return base
    times = 1 if isinstance(factor, Missing) and factor.absent else factor
    if isinstance(times, Missing):
        return times
    if kind not in _BY_RELEASE:
        return int(base * times)
    if not isinstance(original, Missing) and int(original * times) == base:
        return base
    return Missing(f"whether {kind} scaling stretches the length in {view.origin} differs by release")


def _written_length(view: ConfigView) -> int | Missing:
    lengths = [found for key in _LENGTHS if not _is_absent(found := whole(view, key))]
    unknown = next((found for found in lengths if isinstance(found, Missing)), None)
    if unknown is not None:
        return unknown
    if not lengths:
        return Missing(f"{view.origin} gives no length: the config class has one of its own")
    replaced = whole(view, "model_max_length")
    if isinstance(replaced, int) and replaced > 0:
        return replaced
    return min(found for found in lengths if isinstance(found, int))


def _is_absent(found: object) -> bool:
    return isinstance(found, Missing) and found.absent
