"""Helpers: launches from argv, models from configs, checkpoints from the database's rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from specconf.compat.store import load_rows
from specconf.compat.view import View
from specconf.engines.base import Artifact, Models
from specconf.engines.sglang import ENGINE
from specconf.facts import Known, Unavailable
from specconf.models import Resolver, model_facts
from specconf.models.rows import RowTable
from specconf.models.view import model_view
from specconf.rules.judge import Judgement, judge_spec
from specconf.settings import Settings
from specconf.spec.model import Spec
from specconf.words import Launch, Word, words

PROGRAM = ("python", "-m", "sglang.launch_server")
UNKNOWN_MODELS = Models(Unavailable("target", "not looked up"), Unavailable("draft", "not looked up"))


def launch(*argv: str, env: Mapping[str, str] | None = None, files: Mapping[str, str] | None = None) -> Launch:
    """A launch as written; argv starts with the program."""
    variables = tuple((name, Word(text, raw=text)) for name, text in (env or {}).items())
    return Launch("sglang", words(*argv), variables, tuple((files or {}).items()))


def resolve(view: View, *argv: str, **around: Any) -> Settings:
    """The settings of a launch of the module form."""
    return ENGINE.resolve(launch(*PROGRAM, *argv, **around), view)


def read_back(artifact: Artifact, view: View) -> Settings:
    """What an emitted launch says."""
    return ENGINE.resolve(launch(*artifact.argv, env=artifact.env, files=artifact.files), view)


def models_of(target: Mapping[str, Any] | None, draft: Mapping[str, Any] | None) -> Models:
    """Models from whole configs; None is no such model."""
    return Models(
        model_view("target", None if target is None else model_facts(dict(target))),
        model_view("draft", None if draft is None else model_facts(dict(draft))),
    )


def checkpoints() -> Resolver:
    """Checkpoints by the rows of the database alone."""
    return Resolver(checkpoints=RowTable(load_rows("checkpoints")))


def judge(fields: Mapping[str, Any], view: View, known: Resolver) -> Judgement:
    """A spec checked at one release with the checkpoints of the database."""
    draft = fields.get("speculation.draft.model")
    models = Models(
        model_view("target", known.resolve(fields["target.model"])),
        model_view("draft", None if draft is None else known.resolve(draft)),
    )
    return judge_spec(Spec.from_fields(dict(fields)), ENGINE, view, models)


def command(judgement: Judgement, view: View) -> tuple[list[str], dict[str, str]]:
    """The launch a spec is written as: its words after the program, and its environment."""
    artifact = ENGINE.emit(judgement.settings, view, "argv")
    return list(artifact.argv[len(PROGRAM) :]), dict(artifact.env)


def in_force(judgement: Judgement, path: str) -> Any:
    """The value of an option after everything that the engine does to it."""
    item = judgement.result.effective.get(path)
    if item is None:
        return None
    return item.value.value if isinstance(item.value, Known) else item.value
