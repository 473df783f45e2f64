"""How drafts are verified: the lossy modes by name, and the lossless choices, in the words of the release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from specconf.compat.database import View
from specconf.engines.base import Fields, LowerContext
from specconf.engines.vllm.behaviour import does
from specconf.settings import Settings
from specconf.words import JsonValue

CONFIG = "speculative_config"
REJECTION = f"{CONFIG}.rejection_sample_method"
DRAFT_SAMPLING = f"{CONFIG}.draft_sample_method"
_VERIFICATION = "speculation.verification"
_REJECTION_FIELD = "speculation.sampling.rejection"
_DRAFT_FIELD = "speculation.sampling.draft"


@dataclass(frozen=True, slots=True)
class _Mode:
    """A lossy mode: the path and word that switch it on, and the path of each of its parameters."""

    path: str
    word: str
    parameters: Mapping[str, str]


_MODES: Mapping[str, _Mode] = {
    "typical": _Mode(
        f"{CONFIG}.acceptance_method",
        "typical_acceptance_sampler",
        {name: f"{CONFIG}.{name}" for name in ("posterior_threshold", "posterior_alpha")},
    ),
    "synthetic": _Mode(
        REJECTION,
        "synthetic",
        {name: f"{CONFIG}.synthetic_acceptance_{name}" for name in ("rate", "rates", "length")},
    ),
    "fly": _Mode(
        REJECTION,
        "fly",
        {name: f"{CONFIG}.fly_{name}" for name in ("window_size", "entropy_threshold", "entropy_top_k")},
    ),
}


def lower(context: LowerContext) -> None:
    """Write verification and sampling."""
    lossy = context.get(_VERIFICATION)
    if isinstance(lossy, dict):
        _lossy(context, lossy)
    else:
        context.covered(_VERIFICATION)
    _rejection(context, taken=isinstance(lossy, dict) and lossy.get("mode") in ("synthetic", "fly"))
    _draft_sampling(context)


def _lossy(context: LowerContext, verification: dict[str, JsonValue]) -> None:
    name = str(verification["mode"])
    mode = _MODES.get(name)
    if mode is None or not _takes(context.view, mode.path, mode.word):
        context.refuse(_VERIFICATION, "exactness", f"has no verification mode {name}")
        return
    parameters = {key: value for key, value in verification.items() if key != "mode"}
    for key in parameters:
        if key not in mode.parameters or not context.view.has(mode.parameters[key]):
            known = [p for p, path in mode.parameters.items() if context.view.has(path)]
            context.refuse(
                _VERIFICATION,
                "exactness",
                f"has no parameter {key} of the verification mode {name}",
                fix=f"Parameters it has: {', '.join(known)}." if known else "Remove the parameter.",
            )
            return
    context.write(mode.path, mode.word, _VERIFICATION)
    for key, value in parameters.items():
        context.write(mode.parameters[key], value, _VERIFICATION)


def _takes(view: View, path: str, word: str) -> bool:
    """Whether the release is known to have the path and to take the word there."""
    option = view.option(path)
    if option is None or not view.has(path):
        return False
    return option.choices is None or word in option.choices


def _rejection(context: LowerContext, *, taken: bool) -> None:
    value = context.get(_REJECTION_FIELD)
    if value is None:
        return
    word = _rejection_word(context.view, str(value))
    if taken:
        because = "says how drafts are accepted with one key, which the lossy mode already takes"
        context.refuse(_REJECTION_FIELD, "performance", because, fix=f"Unset {_REJECTION_FIELD}.")
    elif word is not None:
        context.write(REJECTION, word, _REJECTION_FIELD)
    elif value == "standard" and context.view.has(REJECTION) is False:
        context.covered(_REJECTION_FIELD)  # one way of rejecting only, that of the published algorithm
    else:
        context.refuse(_REJECTION_FIELD, "performance", f"has no {value} rejection sampling")


def _rejection_word(view: View, value: str) -> str | None:
    for word in ("standard", "strict") if value == "standard" else (value,):
        if _takes(view, REJECTION, word):
            return word
    return None


def _draft_sampling(context: LowerContext) -> None:
    value = context.get(_DRAFT_FIELD)
    if value is None:
        return
    word = _draft_word(context.view, str(value))
    if word is not None:
        context.write(DRAFT_SAMPLING, word, _DRAFT_FIELD)
    elif value == "greedy" and does(context.view, "drafts_greedily"):
        context.covered(_DRAFT_FIELD)
    else:
        context.refuse(_DRAFT_FIELD, "performance", "has no choice of how the draft picks its tokens")


def _draft_word(view: View, value: str) -> str | None:
    for word in ("probabilistic", "gumbel") if value == "probabilistic" else (value,):
        if _takes(view, DRAFT_SAMPLING, word):
            return word
    return None


def lift(settings: Settings) -> Fields:
    """The best guess at verification and sampling."""
    fields: Fields = {}
    for name, mode in _MODES.items():
        if settings.get(mode.path) == mode.word:
            parameters = {p: _plain(settings, path) for p, path in mode.parameters.items() if path in settings}
            fields[_VERIFICATION] = {"mode": name, **parameters}
    rejection = settings.get(REJECTION)
    if rejection in ("standard", "strict", "block"):
        fields[_REJECTION_FIELD] = "block" if rejection == "block" else "standard"
    sampling = settings.get(DRAFT_SAMPLING)
    if sampling in ("greedy", "probabilistic", "gumbel"):
        fields[_DRAFT_FIELD] = "greedy" if sampling == "greedy" else "probabilistic"
    return fields


def _plain(settings: Settings, path: str) -> JsonValue:
    return settings[path]  # type: ignore[return-value]  # lifting refuses values that are not known before
