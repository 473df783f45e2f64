"""The overlap scheduler: which words turn it on or off, by algorithm and release (table `overlap`)."""

from __future__ import annotations

from specconf.compat.view import View
from specconf.engines.base import NOTHING, CannotExpressError, Fields, LowerContext, _Nothing
from specconf.settings import Settings
from specconf.words import JsonValue

FIELD = "serving.overlap_schedule"
SPEC_V2 = "env.SGLANG_ENABLE_SPEC_V2"
BETA_SPEC = "enable_beta_spec"
_TRUE = {"true", "1", "yes", "y"}
_FALSE = {"false", "0", "no", "n"}


def lower_overlap(value: JsonValue, context: LowerContext) -> JsonValue | _Nothing:
    """What says it: the plain switch without speculation, else what the table has for the algorithm."""
    algorithm = algorithm_word(context.get("speculation.method"), context.view)
    if algorithm is None:
        return NOTHING if value is True else True
    row, _ = context.view.lookup("overlap", algorithm)
    if row is None:
        if value is False:
            return True
        raise CannotExpressError("performance", f"cannot run {algorithm} with the overlap scheduler")
    if value is True:
        return _turn_on(row.columns["turn_on"], context)
    if row.columns["turn_off"] == "env":
        context.write(SPEC_V2, "0", FIELD)
        return NOTHING
    return True


def _turn_on(way: str, context: LowerContext) -> JsonValue | _Nothing:
    if way == "flag":
        context.write(BETA_SPEC, True, FIELD)
    elif way == "env":
        context.write(SPEC_V2, "1", FIELD)
    return NOTHING


def algorithm_word(method: JsonValue, view: View) -> str | None:
    """The engine's word for a spec method at this release, or None for no speculation and for methods without one."""
    if not isinstance(method, str) or method == "none":
        return None
    words = [word for word, held in view.method_words(method) if held]
    return words[0] if words else None


def lift_overlap(settings: Settings, view: View, algorithm: str) -> Fields:
    """The field's value that these settings say for a speculating launch, as far as it is more than the plain switch."""
    row, _ = view.lookup("overlap", algorithm)
    if row is None:
        return {}
    if row.columns["turn_on"] == "flag" and settings.get(BETA_SPEC) is True:
        return {FIELD: True}
    asked = truth(settings.get(SPEC_V2))
    if row.columns["turn_on"] == "env" and asked is True:
        return {FIELD: True}
    if row.columns["turn_off"] == "env":
        return {FIELD: False if asked is False else None}  # the plain switch is not what turns it off here
    return {}


def truth(text: object) -> bool | None:
    """How SGLang reads a boolean environment variable; None for a text it refuses."""
    if isinstance(text, bool):
        return text
    word = text.lower() if isinstance(text, str) else ""
    if word in _TRUE:
        return True
    return False if word in _FALSE else None
