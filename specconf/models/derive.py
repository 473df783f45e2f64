"""From a parsed config.json to facts. Pure but for the default of `families`: what is not there is said to be absent or
unknown, and no input raises.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from specconf.models.config import ConfigView, Missing
from specconf.models.facts import Known, ModelFacts, Source, SourceKind
from specconf.models.families import Families, known_families
from specconf.models.kinds import Kind, classify
from specconf.words import JsonValue

if TYPE_CHECKING:
    from specconf.models.rows import CheckpointRow

# Spellings of the same number in different families; the first is the common one.
_HIDDEN = ("hidden_size", "n_embd", "d_model", "dim")
_LAYERS = ("num_hidden_layers", "n_layer", "num_layers", "n_layers")
_HEADS = ("num_attention_heads", "n_head", "n_heads", "num_heads")
_KV_HEADS = ("num_key_value_heads", "num_kv_heads", "n_head_kv", "multi_query_group_num")
_POSITIONS = (
    "max_position_embeddings",
    "n_positions",
    "max_seq_len",
    "seq_length",
    "model_max_length",
    "max_sequence_length",
    "max_seq_length",
)
# Every key that an engine reads a number of MTP layers from. Order: a family that has two reads the earlier one
# (qwen4_exp, minimax_m3 in vLLM 0.33.0's vllm/config/speculative.py).
_MTP = (
    "mtp_num_hidden_layers",
    "num_mtp_modules",
    "num_nextn_predict_layers",
    "num_mtp_layers",
    "mtp_num_layers",
    "mtp_config.num_nextn_predict_layers",
    "mtp_config.num_mtp_layers",
)


def model_facts(  # each argument is one more thing that a place may know
    config: Mapping[str, JsonValue],
    *,
    source: Source | None = None,
    row: CheckpointRow | None = None,
    complete: bool = True,
    elided: frozenset[str] = frozenset(),
    tensors: frozenset[str] | None = None,
    quantization_file: str | None = None,
    families: Families | None = None,
) -> ModelFacts:
    """The facts of a config.

    `row` adds what people know of the id (its kind, its remote code); `tensors` are the names in a safetensors index or
    header beside the config; `quantization_file` is the method that a hf_quant_config.json there names; `families` is
    what is known of whole families, the database's own where it is not given.
    """
    families = families or known_families()
    source = source or Source(SourceKind.GIVEN, "config.json")
    view = ConfigView.of(config, complete=complete, elided=elided, origin=str(source) or "config.json")
    architectures = _architectures(view)
    names = architectures if isinstance(architectures, list) else []
    model_type = _text(view, "model_type")
    layers = _whole(view, *_LAYERS)
    kind, reason = classify(view, tensors, _strings(names), _or_none(model_type), _int_or_none(layers))
    if row is not None and row.kind is not Kind.UNKNOWN and (kind is Kind.UNKNOWN or not complete):
        kind, reason = row.kind, f"the checkpoint row of {row.id} says so"
    hidden, heads = _whole(view, *_HIDDEN), _whole(view, *_HEADS)
    return ModelFacts(
        source=source,
        view=view,
        kind=kind,
        kind_reason=reason,
        draft_kind=_draft_kind(view, kind, reason),
        architecture=names[0] if names else _no_list(architectures),
        architectures=architectures,
        model_type=model_type,
        text_config_path=view.text_path,
        vocab_size=_whole(view, "vocab_size"),
        hidden_size=hidden,
        num_layers=layers,
        num_heads=heads,
        num_kv_heads=_kv_heads(view, heads),
        head_dim=_head_dim(view, hidden, heads),
        max_position_embeddings=_whole(view, *_POSITIONS),
        quantization=_quantization(view, quantization_file),
        dtype=_text(view, "torch_dtype", "dtype"),
        mtp_layers=_mtp_layers(view, names, model_type, families),
        has_auto_map=_has_auto_map(view),
        needs_remote_code=_needs_remote_code(view, row, model_type, families),
        draft_vocab_size=_whole(view, "draft_vocab_size"),
        target_hidden_size=_target_hidden_size(view, kind, hidden),
    )


def _whole(view: ConfigView, *paths: str) -> int | Missing:
    found = view.first(*paths)
    if isinstance(found, Missing) or type(found) is int:
        return found
    return Missing(f"{paths[0]} in {view.origin} is not a whole number")


def _text(view: ConfigView, *paths: str) -> str | Missing:
    found = view.first(*paths)
    if isinstance(found, Missing | str):
        return found
    return Missing(f"{paths[0]} in {view.origin} is not a text")


def _or_none(value: str | Missing) -> str | None:
    return None if isinstance(value, Missing) else value


def _int_or_none(value: int | Missing) -> int | None:
    return None if isinstance(value, Missing) else value


def _strings(values: list[JsonValue]) -> list[str]:
    return [value for value in values if isinstance(value, str)]


def _architectures(view: ConfigView) -> list[JsonValue] | Missing:
    found = view.first("architectures")
    if isinstance(found, Missing):
        return found
    if not isinstance(found, list) or not found or not all(isinstance(item, str) for item in found):
        return Missing(f"architectures in {view.origin} is not a list of names")
    return found


def _no_list(value: list[JsonValue] | Missing) -> Missing:
    assert isinstance(value, Missing)
    return value


def _kv_heads(view: ConfigView, heads: int | Missing) -> Known:
    found = _whole(view, *_KV_HEADS)
    if not isinstance(found, Missing) or not found.absent:
        return found
    if any(view.get(key) is None for key in _KV_HEADS):
        return Missing(f"num_key_value_heads in {view.origin} is null: it differs by layer")
    if view.get("multi_query") is True:
        return 1
    return heads


def _head_dim(view: ConfigView, hidden: int | Missing, heads: int | Missing) -> Known:
    if isinstance(view.get("kv_lora_rank"), int):
        return Missing(f"{view.origin} describes latent attention, which has no one head size")
    found = _whole(view, "head_dim")
    if not isinstance(found, Missing) or not found.absent:
        return found
    if isinstance(hidden, Missing) or isinstance(heads, Missing):
        return hidden if isinstance(hidden, Missing) else heads
    if heads <= 0 or hidden % heads:
        return Missing(f"hidden_size {hidden} in {view.origin} is no multiple of {heads} heads")
    return hidden // heads


def _quantization(view: ConfigView, beside: str | None) -> Known:
    for key in ("quantization_config", "compression_config"):
        found = view.get(key)
        if isinstance(found, Missing):
            if not found.absent:
                return found
        elif found is not None:
            return _text(view, f"{key}.quant_method")
    return beside


def _mtp_layers(
    view: ConfigView, architectures: list[JsonValue], model_type: str | Missing, families: Families
) -> Known:
    separate = isinstance(model_type, str) and model_type.endswith("_mtp")
    found = _whole(view, *_MTP, *(("n_predict",) if separate else ()))
    if not isinstance(found, Missing) or not found.absent:
        return found
    names = _strings([model_type, *architectures] if isinstance(model_type, str) else architectures)
    named = [families.mtp_layers[name] for name in names if name in families.mtp_layers]
    if None in named:
        return Missing("this family's config.json does not count its MTP layers")
    return named[0] if named else 0


def _has_auto_map(view: ConfigView) -> bool | Missing:
    found = view.raw("auto_map")
    if isinstance(found, Missing):
        return False if found.absent else found
    return bool(found)


def _needs_remote_code(
    view: ConfigView, row: CheckpointRow | None, model_type: str | Missing, families: Families
) -> Known:
    if row is not None and row.remote_code is not None:
        return row.remote_code
    named = _has_auto_map(view)
    if named is not True or model_type in families.remote_code:
        return named
    return Missing(f"{view.origin} names remote code; whether it is needed depends on the transformers installed")


def _draft_kind(view: ConfigView, kind: Kind, reason: str) -> Known:
    if kind is Kind.SPECULATORS:
        return _text(view, "speculators_model_type", "speculators_config.algorithm")
    return Missing(reason) if kind is Kind.UNKNOWN else kind.value


def _target_hidden_size(view: ConfigView, kind: Kind, hidden: int | Missing) -> Known:
    """The hidden size of the target that a head was made for."""
    found = _whole(view, "target_hidden_size", "backbone_hidden_size")
    if not isinstance(found, Missing) or not found.absent:
        return found
    if kind in {Kind.EAGLE, Kind.EAGLE3, Kind.DFLASH, Kind.DSPARK, Kind.SPECULATORS}:
        return hidden
    return found
