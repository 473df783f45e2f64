"""Settings → spec, the speculative part: a guess at the fields, which `engines.lifting` proves by lowering it again."""

from __future__ import annotations

from contextlib import suppress

from specconf.compat.view import View
from specconf.engines.base import Fields, Models
from specconf.engines.tensorrt_llm import lower as names
from specconf.engines.tensorrt_llm.eras import UNKNOWN, Era
from specconf.engines.tensorrt_llm.schedule import CONCURRENCY, DISABLE, PATHS, SCHEDULE, lift_schedule
from specconf.engines.tensorrt_llm.verification import (
    ADVANCED,
    REJECTION,
    RELAXED,
    RELAXED_PARAMETERS,
    USE_REJECTION,
    VERIFICATION,
    sampling_needs,
)
from specconf.settings import Settings
from specconf.words import JsonValue, Value

_PLAIN = {names.DRAFT: names.DRAFT_PATH, names.NGRAM_MAX: names.NGRAM_SIZE, DISABLE: CONCURRENCY}


def lift_speculation(settings: Settings, view: View, models: Models) -> Fields:
    """The best guess; empty for a launch without a decoding_type that the spec has a method for."""
    del models
    word = settings.get(names.TYPE)
    methods = [method.spec_method for method, _ in view.methods() if method.value == word and method.spec_method]
    if not isinstance(word, str) or not methods or _is_inexact(settings, word, Era(view)):
        return {}
    fields: Fields = {names.METHOD: methods[0], VERIFICATION: _verification(settings)}
    fields |= {field: _json(settings[path]) for field, path in _PLAIN.items() if path in settings}
    length = _length(settings, word, Era(view))
    if length is not None:
        fields[names.K] = length
    fields |= _tree(settings)
    if settings.get(USE_REJECTION) is True:
        fields[REJECTION] = "standard"
    for kind, path in PATHS.items():
        if path in settings:
            with suppress(LookupError):
                fields[SCHEDULE] = lift_schedule(settings[path], kind)
    return fields


def _is_inexact(settings: Settings, word: str, era: Era) -> bool:
    """A launch that switches off what both exact and every other way of verification of the spec leave on."""
    relaxed = settings.get(RELAXED) is True
    return settings.get(ADVANCED, True) is not True and not relaxed and sampling_needs(word, era) == "emit"


def _length(settings: Settings, word: str, era: Era) -> JsonValue:
    """K: of several keys the one that counts."""
    keys = names.length_keys(word, era)
    if keys == UNKNOWN:
        return None
    order = [era["mtp_length_wins"], *keys] if word == "MTP" else list(keys)
    return next((_json(settings[p]) for key in order if (p := f"{names.CONFIG}.{key}") in settings), None)


def _tree(settings: Settings) -> Fields:
    if settings.get(names.USE_TREE) is not True or names.TREE_TOPK not in settings:
        return {}
    fields: Fields = {names.TOPK: _json(settings[names.TREE_TOPK])}
    tokens = settings.get(names.TREE_TOKENS)
    if isinstance(tokens, int) and not isinstance(tokens, bool):
        fields[names.VERIFY] = tokens + 1
    return fields


def _verification(settings: Settings) -> JsonValue:
    if settings.get(RELAXED) is not True:
        return "exact"
    given = {name: _json(settings[path]) for name, path in RELAXED_PARAMETERS.items() if path in settings}
    return {"mode": "relaxed", **given}


def _json(value: Value) -> JsonValue:
    return value if isinstance(value, bool | int | float | str | list | dict) else None
