"""A launch's settings as speculation fields of the spec: the best guess, proven elsewhere by lowering it again."""

from __future__ import annotations

from specconf.compat.view import View
from specconf.engines.base import Fields, Models
from specconf.engines.sglang.lower import (
    ADAPTIVE,
    ADAPTIVE_FILE,
    ALGORITHM,
    EAGLE_TOPK,
    METHOD,
    NUM_STEPS,
    NUM_TOKENS,
    THRESHOLDS,
    TOPK,
    VERIFY,
    K,
    method_by_draft,
)
from specconf.engines.sglang.schedule import lift_overlap
from specconf.settings import Settings
from specconf.words import JsonValue

_DRAFT = "speculative_draft_model_path"


def lift_speculation(settings: Settings, view: View, models: Models) -> Fields:
    """The fields of the method and everything that depends on it."""
    word = settings.get(ALGORITHM)
    if not isinstance(word, str):
        return {}
    methods = [m.spec_method for m, held in view.methods() if held and m.value == word and m.spec_method]
    if not methods:
        return {}
    method = methods[0]
    if len(methods) > 1:
        method = method_by_draft(settings.get(_DRAFT), settings.get("model_path"), models)
    fields: Fields = {METHOD: method, **_lengths(method, settings), **_choices(settings)}
    return {**fields, **lift_overlap(settings, view, word)}


def _lengths(method: str, settings: Settings) -> Fields:
    if method == "dflash":
        return _length(settings.get("speculative_dflash_block_size"), root=1)
    if method == "dspark":
        return _length(settings.get("speculative_dspark_block_size"))
    tokens = settings.get(NUM_TOKENS)
    if method == "ngram":
        return _length(tokens, root=1)
    steps, topk, verify = _count(settings.get(NUM_STEPS)), _count(settings.get(EAGLE_TOPK)), _count(tokens)
    if topk is None or (topk == 1 and (steps is None or verify is None)):
        return {}
    found: dict[str, JsonValue] = {K: steps, TOPK: topk, VERIFY: None if topk == 1 else verify}
    return {name: value for name, value in found.items() if value is not None}


def _choices(settings: Settings) -> Fields:
    """Verification, sampling, the draft's quantization and adaptive K."""
    fields: Fields = {}
    found = {key: settings.get(path) for key, path in THRESHOLDS.items()}
    thresholds: dict[str, JsonValue] = {k: v for k, v in found.items() if isinstance(v, int | float)}
    if thresholds:
        fields["speculation.verification"] = {"mode": "accept_threshold", **thresholds}
    if settings.get("speculative_use_block_verification") is True:
        fields["speculation.sampling.rejection"] = "block"
    elif settings.get("speculative_use_rejection_sampling") is True:
        fields["speculation.sampling.rejection"] = "standard"
    quantization = settings.get("speculative_draft_model_quantization")
    if isinstance(quantization, str):
        fields["speculation.draft.quantization"] = quantization
    if settings.get(ADAPTIVE) is True:
        file = settings.get(ADAPTIVE_FILE)
        fields["speculation.adaptive"] = {"config": file} if isinstance(file, str) else True
    return fields


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _count(value: object) -> int | None:
    number = _whole(value)
    return number if number is not None and number >= 1 else None


def _length(value: object, *, root: int = 0) -> Fields:
    """K from a number of tokens that counts `root` more."""
    number = _whole(value)
    return {K: number - root} if number is not None and number - root >= 1 else {}
