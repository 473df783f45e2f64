"""Which method a release picks where the launch does not name one that it honours: by the draft's name and config."""

from __future__ import annotations

from specconf.compat.view import View
from specconf.engines.base import Models
from specconf.engines.vllm.behaviour import does
from specconf.facts import Known
from specconf.kleene import Ternary, ternary_any
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
    if does(view, "mtp_by_target") and of_mtp_family(view, models, "draft"):
        return "mtp"
    return _HIDDEN_STATE_DRAFTS.get(str(model_type), "draft_model")


_FAMILY_FACTS = ("model_type", "architecture")


def of_mtp_family(view: View, models: Models, role: str = "target") -> Ternary:
    """Whether the release makes an MTP draft of a checkpoint; None where its config, or what the release does, is not known."""
    answers: list[Ternary] = []
    for path in _FAMILY_FACTS:
        fact = getattr(models, role).fact(path)
        known = isinstance(fact, Known)
        answers.append((fact.value is not None and view.lookup("mtp_families", fact.value)[1]) if known else None)
    return ternary_any(answers)


def mtp_family(models: Models) -> str:
    """What the target's family is called."""
    return str(models.known("target", "model_type") or models.known("target", "architecture"))


def mtp_family_starts(view: View, models: Models) -> list[int]:
    """Positions of the releases in which MTP for the target's family begins."""
    names = {models.known("target", path) for path in _FAMILY_FACTS} - {None}
    rows = view.db.tables["mtp_families"].rows
    return sorted(low for row in rows if row.value in names for low, _ in row.ranges.holds_in)


def own_word(view: View, models: Models) -> tuple[str, bool]:
    """For MTP before `mtp` was a word: the target family's word (empty: none), and whether `model` is filled in."""
    names = [value for path in _FAMILY_FACTS if (value := models.known("target", path)) is not None]
    rows = [row for row, held in (view.lookup("mtp_families", name) for name in names) if row is not None and held]
    word = str(rows[0].columns.get("word") or "") if rows else ""
    return word, any(view.lookup("mtp_filled_in", name)[1] is True for name in names)
