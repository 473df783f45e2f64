"""The speculation section of a spec as SGLang's settings: method, K, tree, n-gram bounds, verification, adaptive K.

Only what cannot be said in a release is refused here; what the engine does with what is said is for the constraints.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

from msgspec.structs import replace

from specconf.engines.base import LowerContext, Models
from specconf.engines.sglang.auto import auto_topk
from specconf.engines.sglang.schedule import BETA_SPEC, FIELD, SPEC_V2, algorithm_word
from specconf.facts import Known
from specconf.words import JsonValue

METHOD = "speculation.method"
K = "speculation.num_draft_tokens"
_ONE_WORD = {"eagle", "mtp"}
TOPK = "speculation.tree.topk"
STEPS = "speculation.tree.num_steps"
VERIFY = "speculation.tree.num_verify_tokens"
ALGORITHM = "speculative_algorithm"
NUM_STEPS = "speculative_num_steps"
EAGLE_TOPK = "speculative_eagle_topk"
NUM_TOKENS = "speculative_num_draft_tokens"
ADAPTIVE = "speculative_adaptive"
ADAPTIVE_FILE = "speculative_adaptive_config"
_REJECTION = {
    "standard": ("speculative_use_rejection_sampling", "0.5.14"),
    "block": ("speculative_use_block_verification", "0.5.22"),
}
THRESHOLDS = {"single": "speculative_accept_threshold_single", "acc": "speculative_accept_threshold_acc"}


def lower_speculation(context: LowerContext) -> None:
    """Write everything the mapping table leaves to the method."""
    method = str(context.get(METHOD))
    word = algorithm_word(method, context.view)
    if word is None:
        _refuse_method(context, method)
        return
    context.write(ALGORITHM, word, METHOD)
    if method in _ONE_WORD and algorithm_word("eagle", context.view) == algorithm_word("mtp", context.view):
        context.restated[METHOD] = method_by_draft(
            context.get("speculation.draft.model"), context.get("target.model"), context.models
        )
    try:
        _LENGTHS[method](context)
    except _NotALaunchError:
        _withdraw(context)
        return
    _draft(context)
    _verification(context)
    _rejection(context)
    _adaptive(context)


def method_by_draft(draft: object, target: object, models: Models) -> str:
    """EAGLE heads and MTP layers share one word: MTP drafts with the target itself, or with a checkpoint made for it."""
    kind = models.draft.fact("draft_kind")
    assistant = isinstance(kind, Known) and kind.value == "mtp_assistant"
    return "mtp" if draft is None or draft == target or assistant else "eagle"


class _NotALaunchError(Exception):
    """Raised after a finding for numbers that make no launch with speculation, however the rest is said."""


def _refuse_method(context: LowerContext, method: str) -> None:
    """The method as a whole."""
    _withdraw(context)
    since = _first_release(context, method)
    has = context.view.has(ALGORITHM)
    because = f"has no speculation by {method}" if has else "has no speculative decoding"
    fix = f"Use SGLang {since} or newer." if since else f"Choose another method: SGLang has nothing like {method}."
    context.refuse(METHOD, "results", because, fix=fix, code="SC201")


def _withdraw(context: LowerContext) -> None:
    """Leave out everything that would have been written of the method: the finding about it speaks for all of it.

    The words that turn the overlap scheduler of a method on or off go with it.
    """
    fields = {name for name in context.fields if name.startswith("speculation.") and name not in context.refused}
    for path in context.builder.paths():
        written = context.builder.current(path)
        if written is None:
            continue
        if written.field in fields:
            context.builder.remove(path)
        elif path in (SPEC_V2, BETA_SPEC) and written.field == FIELD:
            context.builder.remove(path)
            context.written.discard(FIELD)
    context.accounted.update(fields)
    context.written.difference_update(fields)
    context.restated.clear()


def _first_release(context: LowerContext, method: str) -> str:
    """The first release after this one that has the method."""
    here = context.view.point.positions[-1]
    line = context.view.db.line
    starts = [
        position
        for row in context.view.db.methods
        if row.spec_method == method
        for position, _ in row.ranges.holds_in
        if position > here
    ]
    return line.names[min(starts)] if starts else ""


def _family_lengths(context: LowerContext) -> None:
    """EAGLE, EAGLE3, MTP and draft models: steps, topk and the number of verified tokens are set together or not at all."""
    topk = context.get(TOPK)
    if topk == 1:
        _chain(context)
    else:
        _tree(context)


def _chain(context: LowerContext) -> None:
    k, verify = context.get(K), context.get(VERIFY)
    length = k if k is not None else context.get(STEPS)
    if length is None and isinstance(verify, int):
        length = verify - 1
    if not isinstance(length, int):
        _no_length(context)
        return
    if verify is not None and verify != length + 1:
        fix = f"Remove {VERIFY}, or write {length + 1}."
        context.refuse(VERIFY, "k", f"verifies {length + 1} tokens with topk 1 and {length} steps", fix=fix)
    context.write(NUM_STEPS, length, K)
    context.write(EAGLE_TOPK, 1, TOPK)
    context.write(NUM_TOKENS, length + 1, K)
    _settle(context, length, STEPS, VERIFY)


def _tree(context: LowerContext) -> None:
    k, steps, verify = context.get(K), context.get(STEPS), context.get(VERIFY)
    if k is not None and steps is not None and k != steps:
        fix = f"Remove {STEPS}, or write {k}."
        context.refuse(STEPS, "k", "drafts one token of the longest path in each step", fix=fix)
    length = k if k is not None else steps
    if not _has_defaults(context) and (verify is None or length is None):
        _refuse_tree(context, length)
        return
    if isinstance(length, int):
        context.write(NUM_STEPS, length, K)
        _settle(context, length, STEPS)
    context.write(EAGLE_TOPK, context.get(TOPK), TOPK)
    if verify is not None:
        context.write(NUM_TOKENS, verify, VERIFY)


def _refuse_tree(context: LowerContext, length: JsonValue) -> None:
    if length is None:
        _without_length(context)
    because = "needs the number of tokens that the target verifies when topk is above 1"
    context.refuse(TOPK, "k", because, fix=_verify_fix(context, length))
    raise _NotALaunchError


def _without_length(context: LowerContext, instead: str = "") -> NoReturn:
    """K is missing: the engine takes the three numbers together or not at all."""
    release = f"{context.title} {context.view.release}"
    context.problem(
        "SC202",
        K,
        f"{K} is not set, and {release} takes steps, topk and draft tokens together or not at all{instead}.",
        fix=f"Set {K}.",
    )
    place = next((span for name in (K, TOPK, VERIFY, METHOD) if (span := context.span(name)) is not None), None)
    context.findings[-1] = replace(context.findings[-1], where=place)
    raise _NotALaunchError


def _has_defaults(context: LowerContext) -> bool:
    """Releases in which each of the three numbers has a default of its own, so that any of them can be left out."""
    return isinstance(context.view.default(NUM_STEPS), int)


def _verify_fix(context: LowerContext, steps: JsonValue) -> str:
    topk = context.get(TOPK)
    if not isinstance(steps, int) or not isinstance(topk, int):
        return f"Set {VERIFY}, the tokens verified per round, the root included."
    most = 1 + topk + (steps - 1) * topk * topk
    return f"Set {VERIFY} to the tokens verified per round, the root included: from {steps + 1} to {most}."


def _settle(context: LowerContext, length: int, *instead: str) -> None:
    """Fields that say again what K says; where K itself is unset it is what lifting gives back for them."""
    given = [name for name in instead if context.get(name) is not None and name not in context.refused]
    for name in given:
        context.covered(name)
    if context.get(K) is None:
        context.restated[K] = length


def _no_length(context: LowerContext) -> None:
    """K is left to the engine: then it chooses topk too, unless the release has a default for each number."""
    view = context.view
    if _has_defaults(context) or _adapts(context):
        context.write(EAGLE_TOPK, 1, TOPK)
        return
    word = algorithm_word(context.get(METHOD), view)
    chosen = auto_topk(view, str(word), context.models.known("target", "architecture"))
    if chosen == 1:
        context.covered(TOPK)
        return
    _without_length(context, f": with none of them it takes topk {chosen} for this target" if chosen else "")


def _adapts(context: LowerContext) -> bool:
    """Releases whose adaptive mode takes topk without a number of steps; they also have rejection sampling."""
    asked = context.get("speculation.adaptive")
    on = asked is True or _adaptive_file(asked) is not None
    return on and context.view.has(_REJECTION["standard"][0]) is True


def _adaptive_file(value: JsonValue) -> str | None:
    """The file of `{config: FILE}`."""
    file = value.get("config") if isinstance(value, dict) and set(value) == {"config"} else None
    return file if isinstance(file, str) else None


def _ngram_lengths(context: LowerContext) -> None:
    k, verify = context.get(K), context.get(VERIFY)
    if verify is not None and k is not None and verify != (k + 1 if isinstance(k, int) else None):
        fix = f"Remove {K}, or {VERIFY}."
        context.refuse(
            K, "k", "has one number for the tokens that an n-gram match brings and for those verified", fix=fix
        )
    tokens = verify if verify is not None else (k + 1 if isinstance(k, int) else None)
    if isinstance(tokens, int):
        context.write(NUM_TOKENS, tokens, K)
        if K in context.refused or context.get(K) is None:
            context.restated[K] = tokens - 1
        if verify is not None:
            context.covered(VERIFY)


def _dflash_lengths(context: LowerContext) -> None:
    k = context.get(K)
    if isinstance(k, int):
        context.write("speculative_dflash_block_size", k + 1, K)


def _dspark_lengths(context: LowerContext) -> None:
    k = context.get(K)
    if isinstance(k, int):
        context.write("speculative_dspark_block_size", k, K)


_LENGTHS: dict[str, Callable[[LowerContext], None]] = {
    "draft_model": _family_lengths,
    "eagle": _family_lengths,
    "eagle3": _family_lengths,
    "mtp": _family_lengths,
    "ngram": _ngram_lengths,
    "dflash": _dflash_lengths,
    "dspark": _dspark_lengths,
}


def _draft(context: LowerContext) -> None:
    """Draft settings without a flag of their own: expressible only where the target's value is the one asked for."""
    size = context.get("speculation.draft.tensor_parallel_size")
    if size is not None:
        same = context.get("serving.tensor_parallel_size") or 1
        _same_as_target(
            context, "speculation.draft.tensor_parallel_size", size == same, "splits the draft as the target"
        )
    length = context.get("speculation.draft.max_model_len")
    if length is not None:
        same_length = length == context.get("target.max_model_len")
        _same_as_target(
            context, "speculation.draft.max_model_len", same_length, "gives the draft the target's context length"
        )
    quantization = context.get("speculation.draft.quantization")
    path = "speculative_draft_model_quantization"
    if quantization is None:
        return
    if context.view.has(path):
        context.write(path, quantization, "speculation.draft.quantization")
    elif quantization == context.get("target.quantization"):
        context.covered("speculation.draft.quantization")
    else:
        because = "quantizes the draft as the target"
        context.refuse(
            "speculation.draft.quantization", "results", because, fix="Unset it, or use SGLang 0.5.7 or newer."
        )


def _same_as_target(context: LowerContext, name: str, same: bool, because: str) -> None:
    if same:
        context.covered(name)
    else:
        context.refuse(name, "performance", because)


def _verification(context: LowerContext) -> None:
    value = context.get("speculation.verification")
    name = "speculation.verification"
    if not isinstance(value, dict):
        context.covered(name)
        return
    mode = value.get("mode")
    if mode != "accept_threshold":
        context.refuse(name, "exactness", f"has no {mode} verification", fix="Use exact, or {mode: accept_threshold}.")
        return
    given = {key: number for key, number in value.items() if key != "mode"}
    unknown = sorted(set(given) - set(THRESHOLDS))
    if not context.view.has(THRESHOLDS["single"]):
        context.refuse(name, "exactness", "has no acceptance thresholds", fix="Use SGLang 0.4.3.post3 or newer.")
    elif unknown or not given:
        because = f"has no {unknown[0]} threshold" if unknown else "needs a threshold to accept by"
        context.refuse(name, "exactness", because, fix="Give single, acc, or both, each from 0 to 1.")
    else:
        for key, number in given.items():
            context.write(THRESHOLDS[key], number, name)


def _rejection(context: LowerContext) -> None:
    name, value = "speculation.sampling.rejection", context.get("speculation.sampling.rejection")
    path, since = _REJECTION.get(str(value), ("", ""))
    if value is None:
        return
    if context.view.has(path):
        context.write(path, True, name)
    else:
        context.refuse(
            name, "performance", f"has no choice of {value} rejection sampling", fix=f"Use SGLang {since} or newer."
        )


def _adaptive(context: LowerContext) -> None:
    """`true` is the switch; a mapping can only be said by a file, so it names one: {config: FILE}."""
    name, value = "speculation.adaptive", context.get("speculation.adaptive")
    if value is None:
        return
    if value is False:
        context.covered(name)
        return
    if not context.view.has(ADAPTIVE):
        context.refuse(name, "k", "cannot change K while it runs", fix="Use SGLang 0.5.11 or newer.")
        return
    file = _adaptive_file(value)
    if value is not True and file is None:
        fix = "Write true, or {config: FILE} with a file in the engine's own format."
        context.refuse(name, "k", "reads its adaptive parameters from a file only", fix=fix)
        return
    context.write(ADAPTIVE, True, name)
    if file is not None:
        context.write(ADAPTIVE_FILE, file, name)
