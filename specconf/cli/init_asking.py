"""`specconf init` on a terminal: the few questions whose answers make a spec, each with what is proposed.

Questions go to standard error, for the spec goes to standard output. Ctrl-C and the end of the input stop everything.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from specconf.cli.init_fields import engines_of, needed_draft
from specconf.errors import UsageError
from specconf.models.proposing import Proposal
from specconf.spec.methods import METHODS, Method
from specconf.spec.sections import Goal
from specconf.words import JsonValue


def ask(
    fields: dict[str, JsonValue],
    engines: dict[str, dict[str, Any]],
    *,
    method: Callable[[str], Proposal],
    draft: Callable[[str, str], Proposal | None],
    tokens: Callable[[str, str], tuple[int, str] | None],
) -> tuple[dict[str, JsonValue], dict[str, dict[str, Any]]]:
    """The fields and engines with what is asked for; nothing that is given already is asked. The last three propose."""
    answers = dict(fields)
    target = _text("Target model (hub id or directory)")
    answers["target.model"] = target
    named = engines or click.prompt(
        "Engines, with a release if it is not the newest (vllm, sglang=0.5.23, …)",
        default="vllm",
        value_proc=_engines,
        err=True,
    )
    if "speculation.method" not in answers:
        proposed = method(target)
        click.echo(f"  {proposed.why}", err=True)
        choice = click.Choice([str(each) for each in Method])
        answers["speculation.method"] = click.prompt("Method", default=proposed.method, type=choice, err=True)
    chosen = str(answers["speculation.method"])
    if needed_draft(chosen) and "speculation.draft.model" not in answers:
        known = draft(target, chosen)
        answers["speculation.draft.model"] = _text("Draft model (hub id or directory)", known.draft if known else None)
    if METHODS[Method(chosen)].uses_k and "speculation.num_draft_tokens" not in answers:
        some = tokens(target, chosen)
        _set(answers, "speculation.num_draft_tokens", "Draft tokens a round (K)", default=some[0] if some else None)
    _set(answers, "serving.tensor_parallel_size", "GPUs over which the target is split", default=1)
    _set(answers, "target.max_model_len", "Longest sequence in tokens (empty: the engine's)")
    if "hardware.gpu" not in answers:
        gpu = click.prompt("GPU, for example H100 (empty: not said)", default="", show_default=False, err=True)
        answers |= {"hardware.gpu": gpu} if gpu.strip() else {}
    if "objective.goal" not in answers:
        goals = click.Choice([str(goal) for goal in Goal])
        answers["objective.goal"] = click.prompt("What is to improve", default="latency", type=goals, err=True)
    return answers, named


def _text(question: str, default: str | None = None) -> str:
    answer: str = click.prompt(question, default=default, value_proc=_one_line, err=True)
    return answer


def _one_line(text: str) -> str:
    if not text.strip() or text.strip().startswith("-"):
        raise click.BadParameter("a hub id or directory is needed")
    return text.strip()


def _engines(text: str) -> dict[str, dict[str, Any]]:
    try:
        return engines_of(part for part in text.replace(",", " ").split())
    except UsageError as error:
        raise click.BadParameter(str(error)) from None


def _set(answers: dict[str, JsonValue], field: str, question: str, *, default: int | None = None) -> None:
    """Ask for a whole number, unless it is given; no answer leaves the field to the engine."""
    if field in answers:
        return
    shown = "" if default is None else str(default)
    number = click.prompt(question, default=shown, show_default=bool(shown), value_proc=_whole, err=True)
    if number is not None:
        answers[field] = number


def _whole(text: str) -> int | None:
    if not text.strip():
        return None
    if not text.strip().isdecimal() or int(text) < 1:
        raise click.BadParameter(f"{text.strip()} is no whole number of at least one")
    return int(text)
