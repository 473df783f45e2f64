"""Which method a release picks where the launch does not name one that it honours: by the draft's name and config."""

from __future__ import annotations

from specconf.compat.database import View
from specconf.engines.base import Models
from specconf.engines.vllm.behaviour import does
from specconf.words import JsonValue

METHOD = "speculative_config.method"
MODEL = "speculative_config.model"
NGRAM_MODELS = ("[ngram]", "ngram")
_HIDDEN_STATE_DRAFTS = {"eagle": "eagle", "medusa": "medusa", "mlp_speculator": "mlp_speculator"}


def names_methods(view: View) -> bool:
    """Whether a launch of this release says its method by a key; before, and beside the flags, the draft decides."""
    return view.has(METHOD) is not False and not does(view, "separate_flags")


def method_of_draft(view: View, draft: JsonValue, models: Models) -> str:
    """The method that a release without a method key drafts with, `draft_model` where nothing says otherwise."""
    if isinstance(draft, str) and "eagle-" in draft.lower() and does(view, "eagle_by_name"):
        return "eagle"
    model_type = models.known("draft", "model_type")
    if model_type is not None and does(view, "mtp_by_target") and view.lookup("mtp_families", model_type)[1]:
        return "mtp"
    return _HIDDEN_STATE_DRAFTS.get(str(model_type), "draft_model")


def own_word(view: View, models: Models) -> tuple[str, bool]:
    """For MTP before `mtp` was a word: the target family's word (empty: none), and whether `model` is filled in."""
    for path in ("model_type", "architecture"):
        value = models.known("target", path)
        row, held = view.lookup("mtp_families", value) if value is not None else (None, None)
        if row is not None and held:
            return str(row.columns.get("word") or ""), bool(row.columns.get("fills_model"))
    return "", False
