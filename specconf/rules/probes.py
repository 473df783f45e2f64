"""Running a constraint's own examples: a probe meets it, its twin does not. Used by tests, `explain` and the data's linters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from specconf.compat.database import Database
from specconf.compat.view import View
from specconf.engines.base import Engine, Models
from specconf.models import Cause, ModelFacts, Source, SourceKind, Unavailable, model_facts
from specconf.models.tokenizers import Tokens
from specconf.models.view import model_views
from specconf.rules.judge import Judgement, judge_settings
from specconf.settings import Settings
from specconf.words import Launch, Word, words


def probe_launch(engine: str, probe: Mapping[str, Any]) -> Launch:
    """The launch of a probe."""
    env = tuple((str(k), Word(str(v), raw=str(v))) for k, v in (probe.get("env") or {}).items())
    files = tuple((str(k), str(v)) for k, v in (probe.get("files") or {}).items())
    return Launch(engine, words(*(str(w) for w in probe["argv"])), env, files)


def probe_models(probe: Mapping[str, Any]) -> Models:
    """The models of a probe: whole tiny configs. A draft that is not given is none; a target there always is.

    `target_tensors` and `draft_tensors` name the tensors beside a config, `target_tokens` and `draft_tokens` are its
    tokenizer's, in the order of their numbers; without them nobody knows.
    """
    return Models(*model_views(_model("target", probe), _model("draft", probe)))


def _model(role: str, probe: Mapping[str, Any]) -> ModelFacts | Unavailable | None:
    config, tensors, tokens = (probe.get(key) for key in (role, f"{role}_tensors", f"{role}_tokens"))
    if config is None:
        return Unavailable("the probe shows none", Cause.NOT_HERE) if role == "target" else None
    return model_facts(
        dict(config),
        source=Source(SourceKind.GIVEN, f"the probe's {role}"),
        tensors=None if tensors is None else frozenset(map(str, tensors)),
        tokens=None if tokens is None else Tokens.given(map(str, tokens)),
    )


def run_probe(database: Database, engine: Engine, probe: Mapping[str, Any]) -> tuple[Settings, Judgement]:
    """What specconf says about a probe's launch at the probe's release."""
    view: View = database.at(str(probe["release"]))
    settings = engine.resolve(probe_launch(engine.name, probe), view)
    given = dict(probe.get("facts") or {})
    features = given.pop("features", None)
    judgement = judge_settings(
        settings,
        engine,
        view,
        probe_models(probe),
        plain=given,
        features=None if features is None else frozenset(features),
    )
    return settings, judgement


def meets(judgement: Judgement, constraint: str) -> bool:
    """Whether the constraint is among what was found, or is what the engine filled in for itself."""
    return bool(judgement.result.resolved.get(constraint)) or any(
        finding.constraint == constraint for finding in judgement.result.findings
    )
