"""How drafts are verified: the lossy modes by name, and the lossless choices, in the words of the release."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from specconf.compat.view import View
from specconf.engines.base import Fields, LowerContext
from specconf.engines.vllm.behaviour import may, not_known
from specconf.engines.vllm.generation import on_v1
from specconf.kleene import Ternary, ternary_any
from specconf.settings import Settings
from specconf.words import JsonValue

CONFIG = "speculative_config"
ACCEPTANCE = f"{CONFIG}.acceptance_method"
REJECTION = f"{CONFIG}.rejection_sample_method"
DRAFT_SAMPLING = f"{CONFIG}.draft_sample_method"
_VERIFICATION = "speculation.verification"
_REJECTION_FIELD = "speculation.sampling.rejection"
_DRAFT_FIELD = "speculation.sampling.draft"


class _Mode(Struct, frozen=True):
    """A lossy mode: the path and word that switch it on, and the path of each of its parameters."""

    path: str
    word: str
    parameters: Mapping[str, str]


_MODES: Mapping[str, _Mode] = {
    "typical": _Mode(
        ACCEPTANCE,
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
    taken = mode is not None and _takes(context.view, mode.path, mode.word)
    if mode is None or not taken:
        because = (
            f"has no verification mode {name}" if taken is False else not_known(f"has the verification mode {name}")
        )
        context.refuse(_VERIFICATION, "exactness", because)
        return
    v1 = on_v1(context) if mode.path == ACCEPTANCE else False
    if v1 is not False:
        because = "runs this speculation on its V1 engine, where nothing reads acceptance_method"
        context.refuse(_VERIFICATION, "exactness", because if v1 else not_known(because))
        return
    parameters = {key: value for key, value in verification.items() if key != "mode"}
    for key in parameters:
        held = context.view.has(mode.parameters[key]) if key in mode.parameters else False
        if not held:
            known = [p for p, path in mode.parameters.items() if context.view.has(path)]
            parameter = f"parameter {key} of the verification mode {name}"
            context.refuse(
                _VERIFICATION,
                "exactness",
                f"has no {parameter}" if held is False else not_known(f"has the {parameter}"),
                fix=f"Parameters it has: {', '.join(known)}." if known else "Remove the parameter.",
            )
            return
    context.write(mode.path, mode.word, _VERIFICATION)
    for key, value in parameters.items():
        context.write(mode.parameters[key], value, _VERIFICATION)


def _takes(view: View, path: str, word: str) -> Ternary:
    """Whether the release has the path and takes the word there."""
    rows = [o for o in view.by_path.get(path, ()) if o.choices is None or word in o.choices]
    return ternary_any(o.ranges.holds(view.point) for o in rows)


def _rejection(context: LowerContext, *, taken: bool) -> None:
    value = context.get(_REJECTION_FIELD)
    if value is None:
        return
    word, held = _word(context.view, REJECTION, ("standard", "strict") if value == "standard" else (str(value),))
    if taken:
        because = "says how drafts are accepted with one key, which the lossy mode already takes"
        context.refuse(_REJECTION_FIELD, "performance", because, fix=f"Unset {_REJECTION_FIELD}.")
    elif held:
        context.write(REJECTION, word, _REJECTION_FIELD)
    elif value == "standard" and context.view.has(REJECTION) is False:
        context.covered(_REJECTION_FIELD)  # one way of rejecting only, that of the published algorithm
    else:
        kind = f"{value} rejection sampling"
        because = f"has no {kind}" if held is False else not_known(f"has {kind}")
        context.refuse(_REJECTION_FIELD, "performance", because)


def _word(view: View, path: str, words: tuple[str, ...]) -> tuple[str, Ternary]:
    """The first of the words that the release takes, else whether it may take one of them."""
    answers = {word: _takes(view, path, word) for word in words}
    return next((word for word, held in answers.items() if held), words[0]), ternary_any(answers.values())


def _draft_sampling(context: LowerContext) -> None:
    value = context.get(_DRAFT_FIELD)
    if value is None:
        return
    words = ("probabilistic", "gumbel") if value == "probabilistic" else (str(value),)
    word, held = _word(context.view, DRAFT_SAMPLING, words)
    greedily = may(context.view, "drafts_greedily") if value == "greedy" else False
    if held:
        context.write(DRAFT_SAMPLING, word, _DRAFT_FIELD)
    elif greedily:
        context.covered(_DRAFT_FIELD)
    else:
        because = "has no choice of how the draft picks its tokens"
        if held is None or greedily is None:
            because = not_known("has a choice of how the draft picks its tokens")
        context.refuse(_DRAFT_FIELD, "performance", because)


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
