"""Settings → the speculation fields of a spec: the best guess, which `engines.lifting` proves by lowering it again."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from specconf.compat.view import View
from specconf.engines.base import Fields, Models
from specconf.engines.vllm import verification
from specconf.engines.vllm.behaviour import does
from specconf.engines.vllm.inference import METHOD, MODEL, NGRAM_MODELS, method_of_draft
from specconf.engines.vllm.lower import ADAPTIVE, CONFIG, DISABLE, DRAFT, LOOKUP, PARALLEL, SCHEDULE, K
from specconf.engines.vllm.schedule import schedule_of
from specconf.settings import Settings
from specconf.words import JsonValue, Value

# What a draft of which no method is written is taken for, by the kind of checkpoint that it is.
_METHOD_OF_KIND = {"eagle": "eagle", "eagle3": "eagle3", "plain": "draft_model"}
_NUMBERS = ("speculation.draft.tensor_parallel_size", "speculation.draft.max_model_len")


def lift_speculation(settings: Settings, view: View, models: Models) -> Fields:
    """The speculation fields that a launch most likely was lowered from; none for a launch without speculation."""
    if not settings.under(CONFIG):
        return {}
    method, draft = _method(settings, view, models)
    if method is None:
        return {}
    fields: Fields = {"speculation.method": method}
    if draft is not None:
        fields["speculation.draft.model"] = draft
    named: Mapping[str, str] = {
        "speculation.num_draft_tokens": K,
        "speculation.disable_above": DISABLE,
        "speculation.adaptive": ADAPTIVE,
        **LOOKUP,
        **{field: path for field, (path, _) in DRAFT.items()},
    }
    for field, path in named.items():
        if path in settings:
            fields[field] = _as_field(field, settings[path])
    if SCHEDULE in settings:
        with suppress(LookupError):
            fields["speculation.schedule"] = schedule_of(settings[SCHEDULE])  # type: ignore[arg-type]
    return {**fields, **verification.lift(settings)}


def _as_field(field: str, value: Value) -> JsonValue:
    """The value, as a number where a release took the number as text."""
    if field in _NUMBERS and isinstance(value, str) and value.isdecimal():
        return int(value)
    return value  # type: ignore[return-value]  # lifting refuses values that are not known before


def _method(settings: Settings, view: View, models: Models) -> tuple[str | None, JsonValue]:
    """The spec's method and the draft's model, if any."""
    word, model = settings.get(METHOD), settings.get(MODEL)
    draft: JsonValue = model if isinstance(model, str) else None
    if draft in NGRAM_MODELS and word in (None, "ngram"):
        return "ngram", None
    if not does(view, "mtp_by_target") and not does(view, "separate_flags"):
        if word is None and draft is not None:
            return _METHOD_OF_KIND.get(str(models.known("draft", "draft_kind"))), draft
        return _named(word, view, settings), draft
    own = draft is None or draft == settings.get("model")
    if own and does(view, "mtp_by_target") and (word is None or _serves(word, view) == "mtp"):
        return "mtp", None
    if isinstance(word, str):
        return _named(word, view, settings), draft
    return method_of_draft(view, draft, models), draft


def _named(word: Value, view: View, settings: Settings) -> str | None:
    if settings.get(PARALLEL) is True and word == "draft_model":
        return "pard"
    return _serves(word, view)


def _serves(word: Value, view: View) -> str | None:
    """The spec's method that a word of the engine serves, itself or as an alias."""
    row = next((m for m, held in view.methods() if held and m.value == word), None)
    if row is None or row.spec_method is not None or row.alias_of is None:
        return row.spec_method if row is not None else None
    return _serves(row.alias_of, view)
