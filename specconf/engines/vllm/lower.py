"""Spec → settings, the speculative part: method, K, draft, tree, verification, schedule, in the words of the release.

Refuses only what the release cannot say; what it says and the engine rejects is a constraint.
"""

from __future__ import annotations

from specconf.engines.base import LowerContext
from specconf.engines.vllm import verification
from specconf.engines.vllm.behaviour import does, may, not_known
from specconf.engines.vllm.generation import USE_V1, on_v1
from specconf.engines.vllm.inference import (
    METHOD,
    MODEL,
    method_of_draft,
    mtp_family,
    mtp_family_starts,
    names_methods,
    of_mtp_family,
    own_word,
)
from specconf.engines.vllm.schedule import rows_of, schedule_of
from specconf.words import JsonValue

CONFIG = "speculative_config"
K = f"{CONFIG}.num_speculative_tokens"
SCHEDULE = f"{CONFIG}.num_speculative_tokens_per_batch_size"
DISABLE = f"{CONFIG}.disable_by_batch_size"
ADAPTIVE = f"{CONFIG}.enable_adaptive_verification"
PARALLEL = f"{CONFIG}.parallel_drafting"
BLOCK_MANAGER = "use_v2_block_manager"
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
    if may(context.view, "v2_block_manager") is not False and context.view.has(BLOCK_MANAGER):
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
    if method == "eagle3" and may(context.view, "eagle3_on_v1_only") is not False:
        context.write(USE_V1, "1", _METHOD)
    if draft is not None:
        context.write(MODEL, draft, _DRAFT_MODEL)
    return True


def _word(context: LowerContext, method: str) -> str | None:
    """The release's word for a method; a refusal and None where it has none."""
    words = context.view.method_words(method)
    if words and words[0][1]:
        return words[0][0]
    because = not_known(f"has the method {method}") if words else f"has no method {method}"
    context.refuse(_METHOD, "results", because, fix=_method_fix(context, method), code="SC201")
    return None


def _method_fix(context: LowerContext, method: str) -> str:
    """The release nearest to this one that is known to have the method, for MTP with the target's family."""
    if method == "mtp" and _later_mtp(context):
        return f"Choose another method, or vLLM {_later_mtp(context)} or newer."
    runs = [run for m in context.view.db.methods if m.spec_method == method for run in m.ranges.holds_in]
    line, here = context.view.db.line, context.view.point.positions
    later = [line.names[low] for low in sorted(low for low, _ in runs) if low >= here[-1]]
    earlier = [line.names[high - 1] for high in sorted(high for _, high in runs) if high <= here[-1]]
    named = [*(f"{r} or newer" for r in later[:1]), *(f"{r} or older" for r in earlier[-1:] if not later)]
    return f"Choose another method, or vLLM {named[0]}." if named else "Choose another method or engine."


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
            fix=f"Give a draft (speculation.draft.model) whose config.json says that it is one{_named_since(context, method)}.",
            code="SC201",
        )
        return False
    context.write(MODEL, draft, _DRAFT_MODEL, _METHOD)
    return True


def _named_since(context: LowerContext, method: str) -> str:
    """For EAGLE heads, the first release that takes the written word for it."""
    if method != "eagle":
        return ""
    db = context.view.db
    rows = [row for row in db.tables["behaviours"].rows if row.value == "eagle_by_word"]
    first = db.line.names[min(low for row in rows for low, _ in row.ranges.holds_in)]
    return f", or use vLLM {first} or newer, which takes the written method"


def _mtp(context: LowerContext) -> bool:
    """MTP: `mtp` where it is a word; before, the family's word or none, and the target itself as the draft."""
    view, draft, target = context.view, context.get(_DRAFT_MODEL), context.get("target.model")
    own_layers = draft is None or draft == target
    if not does(view, "mtp_by_target"):
        word = _word(context, "mtp")
        if word is None:
            return False
        if own_layers and of_mtp_family(view, context.models) is False:
            _no_mtp_yet(context)
        context.write(METHOD, word, _METHOD)
        if draft is not None:
            context.write(MODEL, draft, _DRAFT_MODEL)
        return True
    own, filled_in = own_word(view, context.models)
    if not own_layers:
        return _by_draft(context, "mtp", draft)
    if of_mtp_family(view, context.models) is False:
        because = f"has no MTP for {mtp_family(context.models)}"
        context.refuse(_METHOD, "results", because, fix=_mtp_fix(context), code="SC305")
        return False
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


def _no_mtp_yet(context: LowerContext) -> None:
    """Beside the engine's own effect: which release has MTP for the target's family, where a later one does."""
    if _later_mtp(context):
        shown = f"{context.title} {context.view.release} has no MTP for {mtp_family(context.models)}."
        context.problem("SC305", _METHOD, shown, fix=_mtp_fix(context))


def _later_mtp(context: LowerContext) -> str:
    """The first release after this one that has MTP for the target's family; empty where there is none."""
    here = context.view.point.positions[-1]
    starts = [low for low in mtp_family_starts(context.view, context.models) if low >= here]
    return context.view.db.line.names[starts[0]] if starts else ""


def _mtp_fix(context: LowerContext) -> str:
    later = _later_mtp(context)
    if later:
        return f"Use vLLM {later} or newer, or another method."
    return "Use a target with MTP layers of a family that this release knows, or another method."


def _say_by_length(context: LowerContext) -> None:
    """The number of draft tokens alone says that the target drafts for itself."""
    context.accounted.add(_METHOD)
    context.written.add(_METHOD)


def _length(context: LowerContext) -> None:
    """K, whichever field of the spec says it. vLLM verifies K tokens and the root, along one chain."""
    k, steps, verify = (context.get(name) for name in (_K_FIELD, _STEPS, _VERIFY))
    topk = context.get(_TOPK)
    if isinstance(topk, int) and topk > 1:
        tree = context.view.has(f"{CONFIG}.speculative_token_tree")
        because = "drafts one chain and has no option for a tree of candidates"
        if tree:
            because = "takes a tree only as a literal list of paths (speculative_token_tree)"
        elif tree is None:
            because = not_known("has an option for a tree of candidates")
        context.refuse(_TOPK, "k", because, fix=f"Set {_TOPK} to 1.")
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
        because = f"has no {key} for the draft" if held is False else not_known(f"has {key} for the draft")
        context.refuse(field, changes, because)
        return
    option = context.view.option(path)
    context.write(path, str(value) if option is not None and option.type == "str" else value, field)


def _schedule(context: LowerContext) -> None:
    schedule, disable = context.get(_SCHEDULE), context.get(_DISABLE)
    if schedule is None and disable is None:
        return
    has_rows = context.view.has(SCHEDULE)
    if has_rows:
        _rows(context, schedule, disable)
        return
    if schedule is not None:
        because = "has no draft length that depends on the batch size"
        if has_rows is None:
            because = not_known("has a draft length that depends on the batch size")
        context.refuse(_SCHEDULE, "k", because, fix=_rows_fix(context, _SCHEDULE))
    if disable is not None:
        _disable(context, disable)


def _disable(context: LowerContext, disable: JsonValue) -> None:
    """`disable_by_batch_size`, which only the V0 engine reads, where there are no rows by batch size."""
    stops, v1 = may(context.view, "disables_by_batch_size"), on_v1(context)
    if stops and v1 is False:
        context.write(DISABLE, disable, _DISABLE)
        return
    fix = _rows_fix(context, _DISABLE)
    if stops is None or (stops is False and context.view.has(SCHEDULE) is None):
        because = not_known("stops speculating above a number of requests")
    elif stops is False:
        because = "does not stop speculating above a number of requests"
    elif v1:
        because = "runs this speculation on its V1 engine, where nothing reads disable_by_batch_size"
    else:
        because = not_known("runs this speculation on its V1 engine, where nothing reads disable_by_batch_size")
    context.refuse(_DISABLE, "k", because, fix=fix)


def _rows_fix(context: LowerContext, field: str) -> str:
    """What to do about a draft length by batch size: the first release that has rows for it."""
    db = context.view.db
    rows = [db.option_row(i) for i in db.rows_by_path.get(SCHEDULE, ())]
    first = db.line.names[min(low for row in rows for low, _ in row.ranges.holds_in)]
    return f"Unset {field}, or use vLLM {first} or newer."


def _rows(context: LowerContext, schedule: JsonValue, disable: JsonValue) -> None:
    rows = rows_of(schedule, disable, context.get(_K_FIELD) or context.restated.get(_K_FIELD))
    if rows is None:
        because = "needs the number of draft tokens to say up to where it drafts"
        context.refuse(_DISABLE, "k", because, fix=f"Set {_K_FIELD}.")
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
        fix = f"Set {_ADAPTIVE} to true." if held else f"Unset {_ADAPTIVE}."
        context.refuse(_ADAPTIVE, "k", "has no parameters for adaptive verification", fix=fix)
    elif held:
        context.write(ADAPTIVE, value, _ADAPTIVE)
    elif value is False and held is False:
        context.covered(_ADAPTIVE)
    else:
        because = "has no adaptive verification" if held is False else not_known("has adaptive verification")
        context.refuse(_ADAPTIVE, "k", because)
