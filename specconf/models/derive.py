"""From a parsed config.json to facts. Pure but for the default of `families`: what is not there is said to be absent or
unknown, and no input raises.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from specconf.models.config import ConfigView, Missing
from specconf.models.facts import Known, ModelFacts, Source, SourceKind
from specconf.models.families import Families, known_families
from specconf.models.heads import Head
from specconf.models.kinds import Kind, classify
from specconf.models.mla import LatentAttention
from specconf.models.moe import Experts
from specconf.models.quantization import Quantized
from specconf.models.reading import text, whole
from specconf.models.rope import Rope
from specconf.models.tokenizers import Tokens
from specconf.models.weights import TensorNames, Weights
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
    tensors: TensorNames | frozenset[str] | None = None,
    quantization_file: Mapping[str, JsonValue] | None = None,
    tokens: Tokens | None = None,
    families: Families | None = None,
) -> ModelFacts:
    """The facts of a config.

    `row` adds what people know of the id (its kind, its remote code); `tensors` are the names in a safetensors index or
    header beside the config, which are read only where nothing else tells the kind, or when a fact about them is asked
    for; `quantization_file` is what a hf_quant_config.json there says of the quantization; `tokens` is its
    tokenizer's table; `families` is what is known of whole families, the database's own where it is not given.
    """
    families = families or known_families()
    source = source or Source(SourceKind.GIVEN, "config.json")
    view = ConfigView.of(config, complete=complete, elided=elided, origin=str(source) or "config.json")
    architectures = _architectures(view)
    names = architectures if isinstance(architectures, list) else []
    model_type = text(view, "model_type")
    layers = whole(view, *_LAYERS)
    if not isinstance(tensors, TensorNames):
        tensors = TensorNames(tensors)
    known = _strings(names), _or_none(model_type), _int_or_none(layers)
    kind, reason = classify(view, tensors.at_hand, *known)
    if kind is Kind.UNKNOWN and (read := tensors.read()) is not None:
        kind, reason = classify(view, read, *known)
    if row is not None and row.kind is not Kind.UNKNOWN and (kind is Kind.UNKNOWN or not complete):
        kind, reason = row.kind, f"the checkpoint row of {row.id} says so"
    hidden, heads = whole(view, *_HIDDEN), whole(view, *_HEADS)
    return ModelFacts(
        source=source,
        view=view,
        kind=kind,
        kind_reason=reason,
        draft_kind=_draft_kind(view, kind, reason, row),
        architecture=names[0] if names else _no_list(architectures),
        architectures=architectures,
        model_type=model_type,
        text_config_path=view.text_path,
        vocab_size=whole(view, "vocab_size"),
        hidden_size=hidden,
        num_layers=layers,
        num_heads=heads,
        num_kv_heads=_kv_heads(view, heads),
        head_dim=_head_dim(view, hidden, heads),
        max_position_embeddings=whole(view, *_POSITIONS),
        dtype=text(view, "torch_dtype", "dtype"),
        mtp_layers=_mtp_layers(view, names, model_type, families),
        has_auto_map=_has_auto_map(view),
        needs_remote_code=_needs_remote_code(view, row, model_type, families),
        drafts_for=list(row.drafts_for)
        if row and row.drafts_for
        else Missing("no source names a target of this draft"),
        mla=LatentAttention.of(view),
        experts=Experts.of(view),
        rope=Rope.of(view, _or_none(model_type)),
        quantized=Quantized.of(view, quantization_file, layers),
        head=Head.of(view, kind, hidden),
        weights=Weights(tensors, layers, str(source) or "the checkpoint"),
        tokens=tokens or Tokens.unknown(str(source) or "the checkpoint"),
    )


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
    found = whole(view, *_KV_HEADS)
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
    found = whole(view, "head_dim")
    if not isinstance(found, Missing) or not found.absent:
        return found
    if isinstance(hidden, Missing) or isinstance(heads, Missing):
        return hidden if isinstance(hidden, Missing) else heads
    if heads <= 0 or hidden % heads:
        return Missing(f"hidden_size {hidden} in {view.origin} is no multiple of {heads} heads")
    return hidden // heads


def _mtp_layers(
    view: ConfigView, architectures: list[JsonValue], model_type: str | Missing, families: Families
) -> Known:
    separate = isinstance(model_type, str) and model_type.endswith("_mtp")
    found = whole(view, *_MTP, *(("n_predict",) if separate else ()))
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


def _draft_kind(view: ConfigView, kind: Kind, reason: str, row: CheckpointRow | None) -> Known:
    if kind is Kind.UNKNOWN and row is not None and row.drafts_by is not None:
        return row.drafts_by
    if kind is Kind.SPECULATORS:
        return text(view, "speculators_model_type", "speculators_config.algorithm")
    return Missing(reason) if kind is Kind.UNKNOWN else kind.value
