"""What the tests of the vLLM engine share: views, models from tiny configs, and judging a launch or a spec."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from specconf.compat.database import Database, load_database
from specconf.compat.store import load_rows
from specconf.compat.view import View
from specconf.engines.base import Lowered, Models
from specconf.engines.lowering import lower
from specconf.engines.registry import get_engine
from specconf.facts import Unavailable
from specconf.models import Resolver, index_rows, model_facts
from specconf.models.rows import checkpoint_row
from specconf.models.view import ModelViews, NoModel, model_view
from specconf.rules.judge import Judgement, judge_settings, judge_spec
from specconf.rules.probes import probe_models
from specconf.spec.model import Spec
from specconf.words import Launch, Word, words

ENGINE = get_engine("vllm")
MODELS = Path(__file__).resolve().parents[2] / "fixtures" / "models"
UNKNOWN = Models(Unavailable("target", "not given"), Unavailable("draft", "not given"))


@cache
def database() -> Database:
    """vLLM's database."""
    return load_database("vllm")


def view(release: str) -> View:
    """The database at a release."""
    return database().at(release)


def checkpoint(role: str, config: Mapping[str, Any] | None) -> ModelViews:
    """A model from its config; None: the launch has no such model."""
    return model_view(role, model_facts(config) if config is not None else None)


def fixture(name: str) -> dict[str, Any]:
    """The config.json of a checkpoint under tests/fixtures/models."""
    data: dict[str, Any] = json.loads((MODELS / name / "config.json").read_text())
    return data


def models(target: Mapping[str, Any] | None, draft: Mapping[str, Any] | None = None) -> Models:
    """Target and draft from configs; a target without one is unknown, a draft without one does not exist."""
    known = checkpoint("target", target) if target is not None else Unavailable("target", "not given")
    return Models(known, checkpoint("draft", draft) if draft is not None else NoModel())


def launch(case: Mapping[str, Any]) -> Launch:
    """A launch from a probe or a recorded case."""
    return Launch(
        "vllm",
        words(*case["argv"]),
        tuple((name, Word(value, raw=value)) for name, value in case.get("env", {}).items()),
        tuple(case.get("files", {}).items()),
    )


def judged(case: Mapping[str, Any]) -> Judgement:
    """The verdict on a probe or a recorded case: argv, env, files, target, draft, release, and facts beside the launch."""
    facts = dict(case.get("facts", {}))
    features = facts.pop("features", None)
    at = view(case["release"])
    return judge_settings(
        ENGINE.resolve(launch(case), at),
        ENGINE,
        at,
        probe_models(case),
        plain=facts,
        features=frozenset(features) if features is not None else None,
    )


def lowered(fields: Mapping[str, Any], release: str, of: Models = UNKNOWN) -> Lowered:
    """A spec's settings."""
    return lower(Spec.from_fields(dict(fields)), ENGINE, view(release), of)


def argv(fields: Mapping[str, Any], release: str, of: Models = UNKNOWN) -> list[str]:
    """The launch of a spec."""
    return list(ENGINE.emit(lowered(fields, release, of).settings, view(release), "argv").argv)


def judged_spec(fields: Mapping[str, Any], release: str, of: Models) -> Judgement:
    """The verdict on a spec."""
    return judge_spec(Spec.from_fields(dict(fields)), ENGINE, view(release), of)


@cache
def resolver() -> Resolver:
    """Checkpoints by the rows of compat/checkpoints alone: no cache, no network."""
    return Resolver(
        checkpoints=index_rows([checkpoint_row(row) for row in load_rows("checkpoints")]), cache_dir=Path("/nowhere")
    )


def known(target: str, draft: str | None = None) -> Models:
    """Target and draft by hub id, from the checkpoint rows."""
    found = resolver().resolve(draft) if draft is not None else None
    return Models(model_view("target", resolver().resolve(target)), model_view("draft", found))
