"""How drafts are verified: what exact needs to be written, relaxed acceptance of MTP, rejection sampling."""

from __future__ import annotations

from specconf.engines.base import LowerContext
from specconf.engines.tensorrt_llm.eras import UNKNOWN, Era, member
from specconf.findings import Effect, Severity, Stage
from specconf.words import JsonValue

VERIFICATION = "speculation.verification"
REJECTION = "speculation.sampling.rejection"
DRAFT_SAMPLING = "speculation.sampling.draft"
_SAMPLING = "workload.sampling"

ADVANCED = "speculative_config.allow_advanced_sampling"
USE_REJECTION = "speculative_config.use_rejection_sampling"
RELAXED = "speculative_config.use_relaxed_acceptance_for_thinking"
RELAXED_PARAMETERS = {
    "topk": "speculative_config.relaxed_topk",
    "delta": "speculative_config.relaxed_delta",
    "begin_thinking_phase_token": "speculative_config.begin_thinking_phase_token",
    "end_thinking_phase_token": "speculative_config.end_thinking_phase_token",
}

# Which column of the eras speaks of sampled requests; a method that is not here has not been seen to lose them.
_COLUMNS = {
    "Eagle": "exact_sampling_key",
    "Eagle3": "exact_sampling_key",
    "DraftTarget": "exact_sampling_key",
    "Draft_Target": "exact_sampling_key",
    "MTP": "mtp_exact_sampling_key",
}


def lower_verification(context: LowerContext, word: str, era: Era) -> None:
    """Write what the way of verification needs."""
    value = context.get(VERIFICATION)
    if not isinstance(value, dict):
        _exact(context, word, era)
    elif not _lossy(context, word, value) and sampling_needs(word, era) == "emit":
        context.write(ADVANCED, True, VERIFICATION)  # what is not lossy is exact


def sampling_needs(word: str, era: Era) -> str:
    """What exact needs for sampled requests, in the words of the table `eras`."""
    column = _COLUMNS.get(word)
    if column is not None:
        return str(era[column])
    # SA drafts inside the target's model: where that mode needs the key for others, it is not known whether SA does.
    return UNKNOWN if word == "SA" and era["exact_sampling_key"] == "emit" else "noop"


def _exact(context: LowerContext, word: str, era: Era) -> None:
    needs = sampling_needs(word, era)
    if needs == "emit":
        context.write(ADVANCED, True, VERIFICATION)
        return
    context.covered(VERIFICATION)
    if context.get(_SAMPLING) == "greedy":
        return
    title = f"{context.title} {context.view.release}"
    if needs == "impossible" and context.get(_SAMPLING) is None:  # with sampling listed, a constraint says it
        context.problem(
            "SC501",
            VERIFICATION,
            f"Sampled requests are decoded greedily with {word} by {title}, and no option changes that.",
            fix=f"Set {_SAMPLING} to greedy if every request is, or use another release or method.",
            severity=Severity.WARNING,
            effect=Effect.LOSSY,
            stage=Stage.OUTPUT,
        )
    elif needs in {"unread", UNKNOWN}:
        context.problem(
            "SC502",
            VERIFICATION,
            f"Whether sampled requests stay exact with {word} in {title} is not checked, because that was not read.",
            fix="Compare sampled outputs with and without speculation, or use 1.3.0rc22 or newer.",
            severity=Severity.INFO,
        )


def _lossy(context: LowerContext, word: str, value: dict[str, JsonValue]) -> bool:
    """Write a lossy way of verification; a refusal and false where it cannot be said."""
    mode = value["mode"]
    if mode != "relaxed":
        context.refuse(
            VERIFICATION,
            "exactness",
            f"has no {mode} verification",
            fix="Use exact, or with MTP {mode: relaxed}.",
        )
        return False
    if word != "MTP" or not member(context.view, RELAXED, word):
        context.refuse(
            VERIFICATION,
            "exactness",
            f"has no relaxed acceptance with {word}" if word != "MTP" else "is not known to have relaxed acceptance",
            fix="Use exact." if word != "MTP" else "Use exact, or TensorRT-LLM 0.21.0 or newer.",
        )
        return False
    given = {name: number for name, number in value.items() if name != "mode"}
    unknown = next((n for n in given if not member(context.view, RELAXED_PARAMETERS.get(n, ""), word)), None)
    if unknown is not None:
        known = ", ".join(RELAXED_PARAMETERS)
        context.refuse(
            VERIFICATION,
            "exactness",
            f"is not known to have {unknown} for relaxed acceptance",
            fix=f"Give only what it has, of {known}.",
        )
        return False
    context.write(RELAXED, True, VERIFICATION)
    for name, number in given.items():
        context.write(RELAXED_PARAMETERS[name], number, VERIFICATION)
    return True


def lower_rejection(context: LowerContext, word: str) -> None:
    """Lossless choices: rejection sampling token by token is the only one."""
    rejection = context.get(REJECTION)
    if rejection == "standard" and member(context.view, USE_REJECTION, word):
        context.write(USE_REJECTION, True, REJECTION)
    elif rejection is not None:
        context.refuse(
            REJECTION,
            "performance",
            f"is not known to have {rejection} rejection sampling",
            fix="Use TensorRT-LLM 1.3.0rc22 or newer." if rejection == "standard" else f"Unset {REJECTION}.",
        )
    if context.get(DRAFT_SAMPLING) is not None:
        because = "has no option for how the draft picks its tokens"
        context.refuse(DRAFT_SAMPLING, "performance", because, fix=f"Unset {DRAFT_SAMPLING}.")
