"""Spec → settings, the speculative part: method, K, draft, tree, verification, schedule, in the words of the release.

Refuses only what the release cannot say; what it says and the engine rejects is a constraint.
"""

from __future__ import annotations

from specconf.compat.releases import Ranges
from specconf.engines.base import LowerContext
from specconf.engines.vllm import verification
from specconf.engines.vllm.behaviour import does
from specconf.engines.vllm.inference import METHOD, MODEL, method_of_draft, names_methods, own_word
from specconf.engines.vllm.schedule import rows_of, schedule_of
from specconf.words import JsonValue

CONFIG = "speculative_config"
K = f"{CONFIG}.num_speculative_tokens"
SCHEDULE = f"{CONFIG}.num_speculative_tokens_per_batch_size"
DISABLE = f"{CONFIG}.disable_by_batch_size"
ADAPTIVE = f"{CONFIG}.enable_adaptive_verification"
PARALLEL = f"{CONFIG}.parallel_drafting"
BLOCK_MANAGER = "use_v2_block_manager"
USE_V1 = "env.VLLM_USE_V1"
LOOKUP = {
    "speculation.ngram.max": f"{CONFIG}.prompt_lookup_max",
    "speculation.ngram.min": f"{CONFIG}.prompt_lookup_min",
}
DRAFT = {
    "speculation.draft.revision": (f"{CONFIG}.revision", "results"),
    "speculation.draft.quantization": (f"{CONFIG}.quantization", "performance"),
    "speculation.draft.tensor_parallel_size": (f"{CONFIG}.draft_tensor_parallel_size", "performance"),
    "speculation.draft.max_model_len": (f"{CONFIG}.max_model_len", "performance"),
}
_METHOD = "speculation.method"
_GRAPHS = "serving.cuda_graph_max_batch"
_DRAFT_MODEL = "speculation.draft.model"
_K_FIELD = "speculation.num_draft_tokens"
_TOPK, _STEPS, _VERIFY = (f"speculation.tree.{name}" for name in ("topk", "num_steps", "num_verify_tokens"))
_SCHEDULE, _DISABLE, _ADAPTIVE = (f"speculation.{name}" for name in ("schedule", "disable_above", "adaptive"))
NGRAM_FLAG_MODEL = "[ngram]"


def lower_speculation(context: LowerContext) -> None:
    """Write every speculation field of the spec."""
    if not _method(context):
        context.accounted.update(name for name in context.fields if name.startswith("speculation."))
        _graphs_without_speculation(context)
        return
    if does(context.view, "v2_block_manager"):
        context.write(BLOCK_MANAGER, True, _METHOD)
    _length(context)
    for field, (path, changes) in DRAFT.items():
        _key(context, field, path, changes)
    for field, path in LOOKUP.items():
        _key(context, field, path, "performance")
    verification.lower(context)
    _schedule(context)
    _adaptive(context)


def _graphs_without_speculation(context: LowerContext) -> None:
    """Where the method is refused, the tokens written for CUDA graphs stand for as many requests."""
    requests, k = context.get(_GRAPHS), context.get(_K_FIELD)
    if _GRAPHS in context.written and isinstance(requests, int) and isinstance(k, int):
        context.restated[_GRAPHS] = requests * (k + 1)


def _method(context: LowerContext) -> bool:
    """Write the method and the draft's model; false when this release has no word for the method."""
    method = str(context.get(_METHOD))
    if method == "mtp":
        return _mtp(context)
    word = _word(context, method)
    if word is None:
        return False
    draft = context.get(_DRAFT_MODEL)
    if not names_methods(context.view):
        return _by_draft(context, method, draft)
    context.write(METHOD, word, _METHOD)
    if method == "pard":
        context.write(PARALLEL, True, _METHOD)
    if method == "eagle3" and does(context.view, "eagle3_on_v1_only"):
        context.write(USE_V1, "1", _METHOD)
    if draft is not None:
        context.write(MODEL, draft, _DRAFT_MODEL)
    return True


def _word(context: LowerContext, method: str) -> str | None:
    """The release's word for a method; a refusal and None where it has none."""
    words = context.view.method_words(method)
    if words and words[0][1]:
        return words[0][0]
    because = f"may know the method {method} or not: it was not read" if words else f"has no method {method}"
    context.refuse(_METHOD, "results", because, fix=_method_fix(context, method))
    return None


def _method_fix(context: LowerContext, method: str) -> str:
    runs = sorted(run for m in context.view.db.methods if m.spec_method == method for run in m.ranges.holds_in)
    merged: list[tuple[int, int]] = []
    for low, high in runs:
        if merged and low <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
        else:
            merged.append((low, high))
    if not merged:
        return "Choose another method or engine."
    return f"Choose another method, or vLLM {Ranges(tuple(merged)).text(context.view.db.line)}."


def _by_draft(context: LowerContext, method: str, draft: JsonValue) -> bool:
    """A release in which the draft's name and config decide: write the draft, if it leads to the method asked for."""
    if method == "ngram":
        context.write(MODEL, NGRAM_FLAG_MODEL, _METHOD)
        return True
    found = method_of_draft(context.view, draft, context.models)
    if found != method:
        shown = f"{draft} is not shown to be one" if found == "draft_model" else f"{draft} is taken for {found}"
        context.refuse(
            _METHOD,
            "results",
            f"takes the method from the draft's own config.json, and {shown}",
            fix=f"Give a draft whose config.json says that it is one, or another release. {_method_fix(context, method)}",
        )
        return False
    context.write(MODEL, draft, _DRAFT_MODEL, _METHOD)
    return True


def _mtp(context: LowerContext) -> bool:
    """MTP: `mtp` where it is a word; before, the family's word or none, and the target itself as the draft."""
    view, draft, target = context.view, context.get(_DRAFT_MODEL), context.get("target.model")
    if not does(view, "mtp_by_target"):
        word = _word(context, "mtp")
        if word is None:
            return False
        context.write(METHOD, word, _METHOD)
        if draft is not None:
            context.write(MODEL, draft, _DRAFT_MODEL)
        return True
    own, filled_in = own_word(view, context.models)
    if draft is not None and draft != target:
        return _by_draft(context, "mtp", draft)
    context.covered(_DRAFT_MODEL)
    if own and names_methods(view):
        context.write(METHOD, own, _METHOD)
    if not filled_in or (
        context.get(_K_FIELD) is None and context.get(_STEPS) is None and context.get(_VERIFY) is None
    ):
        context.write(MODEL, target, _METHOD)
    elif not own or not names_methods(view):
        _say_by_length(context)
    return True


def _say_by_length(context: LowerContext) -> None:
    """The number of draft tokens alone says that the target drafts for itself."""
    context.accounted.add(_METHOD)
    context.written.add(_METHOD)


def _length(context: LowerContext) -> None:
    """K, whichever field of the spec says it. vLLM verifies K tokens and the root, along one chain."""
    k, steps, verify = (context.get(name) for name in (_K_FIELD, _STEPS, _VERIFY))
    topk = context.get(_TOPK)
    if isinstance(topk, int) and topk > 1:
        because = "drafts one chain and has no option for a tree of candidates"
        if context.view.has(f"{CONFIG}.speculative_token_tree"):
            because = "takes a tree only as a literal list of paths (speculative_token_tree)"
        context.refuse(_TOPK, "performance", because, fix=f"Set {_TOPK} to 1.")
    else:
        context.covered(_TOPK)
    length, field = _one_length(k, steps, verify)
    if isinstance(length, int):
        _write_length(context, length, field)
    for name, says in ((_STEPS, steps), (_VERIFY, verify - 1 if isinstance(verify, int) else None)):
        if says is None:
            continue
        if says == length:
            context.covered(name)
        else:
            because = f"drafts and verifies one chain of K = {length} tokens"
            context.refuse(name, "k", because, fix=f"Unset {name}, or make it fit K.")


def _one_length(k: JsonValue, steps: JsonValue, verify: JsonValue) -> tuple[JsonValue, str]:
    if k is not None:
        return k, _K_FIELD
    if steps is not None:
        return steps, _STEPS
    return (verify - 1, _VERIFY) if isinstance(verify, int) else (None, "")


def _write_length(context: LowerContext, length: int, field: str) -> None:
    context.write(K, length, field)
    if field != _K_FIELD:
        context.written.discard(field)
        context.restated[_K_FIELD] = length


def _key(context: LowerContext, field: str, path: str, changes: str) -> None:
    """A field that is a key of the release's speculative config, or is refused."""
    value = context.get(field)
    if value is None:
        return
    held = context.view.has(path)
    if not held:
        key = path.rpartition(".")[2]
        because = f"has no {key}" if held is False else f"may have {key} or not: the release was not read"
        context.refuse(field, changes, f"{because} for the draft")
        return
    option = context.view.option(path)
    context.write(path, str(value) if option is not None and option.type == "str" else value, field)


def _schedule(context: LowerContext) -> None:
    schedule, disable = context.get(_SCHEDULE), context.get(_DISABLE)
    if schedule is None and disable is None:
        return
    if context.view.has(SCHEDULE):
        _rows(context, schedule, disable)
        return
    if schedule is not None:
        context.refuse(_SCHEDULE, "performance", "has no draft length that depends on the batch size")
    if disable is None:
        return
    if does(context.view, "disables_by_batch_size"):
        context.write(DISABLE, disable, _DISABLE)
    else:
        context.refuse(_DISABLE, "performance", "does not stop speculating above a number of requests")


def _rows(context: LowerContext, schedule: JsonValue, disable: JsonValue) -> None:
    rows = rows_of(schedule, disable, context.get(_K_FIELD) or context.restated.get(_K_FIELD))
    if rows is None:
        because = "needs the number of draft tokens to say up to where it drafts"
        context.refuse(_DISABLE, "performance", because, fix=f"Set {_K_FIELD}.")
        return
    context.write(SCHEDULE, rows, _SCHEDULE if schedule is not None else _DISABLE)
    said = schedule_of(rows)
    if disable is not None:
        context.covered(_DISABLE)
        context.written.discard(_DISABLE)
    if said != schedule:
        context.restated[_SCHEDULE] = said


def _adaptive(context: LowerContext) -> None:
    value = context.get(_ADAPTIVE)
    if value is None:
        return
    held = context.view.has(ADAPTIVE)
    if isinstance(value, dict):
        context.refuse(
            _ADAPTIVE, "performance", "has no parameters for adaptive verification", fix=f"Set {_ADAPTIVE} to true."
        )
    elif held:
        context.write(ADAPTIVE, value, _ADAPTIVE)
    elif value is False and held is False:
        context.covered(_ADAPTIVE)
    else:
        context.refuse(_ADAPTIVE, "performance", "has no adaptive verification")
