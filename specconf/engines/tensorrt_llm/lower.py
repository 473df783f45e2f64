"""Spec → settings, the speculative part: decoding_type, K, draft, tree and n-gram bounds, in the words of the release.

Only what cannot be said in a release is refused here; what the engine does with what is said is for the constraints.
"""

from __future__ import annotations

from specconf.engines.base import LowerContext
from specconf.engines.tensorrt_llm.eras import UNKNOWN, Era, member
from specconf.engines.tensorrt_llm.schedule import lower_load
from specconf.engines.tensorrt_llm.verification import lower_rejection, lower_verification
from specconf.spec.methods import DraftUse, Method
from specconf.words import JsonValue

METHOD = "speculation.method"
K = "speculation.num_draft_tokens"
DRAFT = "speculation.draft.model"
TOPK, STEPS, VERIFY = (f"speculation.tree.{name}" for name in ("topk", "num_steps", "num_verify_tokens"))
NGRAM_MIN, NGRAM_MAX = "speculation.ngram.min", "speculation.ngram.max"

CONFIG = "speculative_config"
TYPE = f"{CONFIG}.decoding_type"
BACKEND = "cli.backend"
DRAFT_PATH = f"{CONFIG}.speculative_model"
NGRAM_SIZE = f"{CONFIG}.max_matching_ngram_size"
USE_TREE = f"{CONFIG}.use_dynamic_tree"
TREE_TOPK = f"{CONFIG}.dynamic_tree_max_topK"
TREE_TOKENS = f"{CONFIG}.max_total_draft_tokens"

# The tag Eagle takes the keys of a tree too, but its PyTorch backend drafts a chain: they are left from the TensorRT one.
TREE_WORDS = ("Eagle3", "MTP")

_WITHOUT = {
    "eagle": (
        "takes every EAGLE head for an EAGLE-3 one on its PyTorch backend",
        "Use method eagle3 with an EAGLE-3 head made for this target.",
    ),
    "medusa": (
        "has Medusa on its TensorRT backend only, which specconf does not write",
        "Use method eagle3 with a head made for this target, or ngram.",
    ),
    "suffix": (
        "has no suffix decoding",
        "Use method ngram, or sa from 1.3.0rc14 on, which look drafts up in the text so far too.",
    ),
}


def lower_speculation(context: LowerContext) -> None:
    """Write everything the mapping table leaves to the method."""
    era = Era(context.view)
    word = _method(context, era)
    if word is None:
        context.accounted.update(name for name in context.fields if name.startswith("speculation."))
        return
    _lengths(context, word, era)
    _draft(context, word, era)
    _ngram(context, word)
    lower_verification(context, word, era)
    lower_rejection(context, word)
    lower_load(context, word, era)


def _method(context: LowerContext, era: Era) -> str | None:
    """Write the decoding_type; a refusal and None where the release has none, or it is not known how it spells it."""
    method = str(context.get(METHOD))
    words = context.view.method_words(method)
    if not words or method in _WITHOUT:
        because, fix = _WITHOUT.get(method, (f"has no speculation by {method}", _fix(context, method)))
        context.refuse(METHOD, "results", because, fix=fix, code="SC201")
        return None
    word, held = words[0]
    if not held:
        fix = _fix(context, method)
        what = f"how it spells the method {method}" if " or older" in fix else f"whether it has the method {method}"
        context.refuse(METHOD, "results", f"was not read for {what}", fix=fix, code="SC201")
        return None
    if era["draft_path_key"] == UNKNOWN and Method(method).traits.draft is DraftUse.NEEDS:
        fix = "Use a release whose field list was read, such as the next final one."
        context.refuse(METHOD, "results", "was not read for its key of the draft", fix=fix, code="SC201")
        return None
    backend = era["backend_flag"]
    if backend not in (None, UNKNOWN):
        context.write(BACKEND, backend, METHOD)
    context.write(TYPE, word, METHOD)
    return word


def _fix(context: LowerContext, method: str) -> str:
    """In which releases the method is known to exist."""
    line = context.view.db.line
    starts = [low for m in context.view.db.methods if m.spec_method == method for low, _ in m.ranges.holds_in]
    ends = [high for m in context.view.db.methods if m.spec_method == method for _, high in m.ranges.holds_in]
    if not starts:
        return "Choose another method or engine."
    here = context.view.point.positions[-1]
    later = [line.names[low] for low in sorted(starts) if low > here]
    earlier = [line.names[high - 1] for high in sorted(ends) if high <= here]
    named = [*(f"{r} or older" for r in earlier[-1:]), *(f"{r} or newer" for r in later[:1])]
    return f"Use TensorRT-LLM {', or '.join(named)}." if named else "Choose another release or method."


def _lengths(context: LowerContext, word: str, era: Era) -> None:
    """K, whichever field says it, and the tree."""
    k, steps, verify = (context.get(name) for name in (K, STEPS, VERIFY))
    topk = context.get(TOPK)
    tree = isinstance(topk, int) and topk > 1
    if not tree:
        context.covered(TOPK)
        verify_says = verify - 1 if isinstance(verify, int) else None
        length = _write_length(context, word, era, {K: k, STEPS: steps, VERIFY: verify_says})
        _agree(context, {STEPS: steps, VERIFY: verify_says}, length, "drafts and verifies one chain")
        return
    length = _write_length(context, word, era, {K: k, STEPS: steps})
    _agree(context, {STEPS: steps}, length, "drafts one token of the longest path in each step of a tree")
    _tree(context, word)


def _write_length(context: LowerContext, word: str, era: Era, said: dict[str, JsonValue]) -> int | None:
    """Write the first of the fields that is set; where that is not K, K is what lifting gives back for it."""
    field, length = next(((f, v) for f, v in said.items() if isinstance(v, int)), ("", None))
    if not isinstance(length, int):
        return None
    keys = length_keys(word, era)
    if keys == UNKNOWN:
        context.refuse(field, "k", "was not read for its key of the number of draft tokens")
        return None
    for key in keys:
        context.write(f"{CONFIG}.{key}", length, field)
    if field != K:
        context.written.discard(field)
        context.restated[K] = length
    return length


def length_keys(word: str, era: Era) -> list[str] | str:
    """The keys that hold K, all of them to be written, or `unknown`."""
    if word == "MTP":
        keys: list[str] | str = era["mtp_length_keys"]
        return keys
    if word == "NGram":
        key = era["ngram_length_key"]
        return UNKNOWN if key == UNKNOWN else [key]
    return ["max_draft_len"]


def _agree(context: LowerContext, said: dict[str, JsonValue], length: int | None, because: str) -> None:
    """Fields that say again what K says; one that says something else has no place."""
    for name, value in said.items():
        if value is None or name in context.refused:
            continue
        if value == length:
            context.covered(name)
        elif length is None:
            context.refuse(name, "k", because)
        else:
            context.refuse(
                name, "k", f"{because}, here of {length} draft tokens", fix=f"Unset {name}, or make it fit K."
            )


def _tree(context: LowerContext, word: str) -> None:
    held = member(context.view, USE_TREE, word) if word in TREE_WORDS else False
    if not held:
        because = f"drafts one chain with {word} and builds no tree of candidates"
        if held is None:
            because = f"was not read for whether {word} builds a tree of candidates"
        context.refuse(TOPK, "k", because, fix=_tree_fix(context))
        if context.get(VERIFY) is not None:
            context.refuse(VERIFY, "k", because, fix=f"Unset {VERIFY}.")
        return
    context.write(USE_TREE, True, TOPK)
    context.write(TREE_TOPK, context.get(TOPK), TOPK)
    verify = context.get(VERIFY)
    if isinstance(verify, int):
        context.write(TREE_TOKENS, verify - 1, VERIFY)


def _tree_fix(context: LowerContext) -> str:
    """A chain, or the first later release in which this method is known to build a tree."""
    database, method = context.view.db, str(context.get(METHOD))
    later = database.line.names[context.view.point.positions[-1] + 1 :]
    for name in later:
        view = database.at(name)
        words = [word for word, held in view.method_words(method) if held and word in TREE_WORDS]
        if any(member(view, USE_TREE, word) for word in words):
            return f"Set {TOPK} to 1, or use TensorRT-LLM {name} or newer."
    return f"Set {TOPK} to 1."


def _draft(context: LowerContext, word: str, era: Era) -> None:
    draft = context.get(DRAFT)
    if draft is None:
        return
    if era["draft_path_key"] == UNKNOWN:
        context.refuse(DRAFT, "results", "was not read for its key of the draft")
    elif word == "MTP" and era["mtp_draft_model"] is not True:
        because = "is not known to take other weights for the MTP layers"
        context.refuse(DRAFT, "results", because, fix=f"Unset {DRAFT} to draft with the target's own layers.")
    else:
        context.write(DRAFT_PATH, draft, DRAFT)


def _ngram(context: LowerContext, word: str) -> None:
    if context.get(NGRAM_MIN) is not None:
        context.refuse(NGRAM_MIN, "performance", "bounds the length of n-gram matches from above only")
    size = context.get(NGRAM_MAX)
    if size is None:
        return
    if member(context.view, NGRAM_SIZE, word):
        context.write(NGRAM_SIZE, size, NGRAM_MAX)
    else:
        context.refuse(NGRAM_MAX, "performance", "is not known to bound the length of n-gram matches")
