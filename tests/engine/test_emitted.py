"""What specconf emits, put to the releases' own parsers: every example, and random specs over all fields."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from engine_parser import EngineParser, HarnessError
from hypothesis import HealthCheck, assume, given, settings

from specconf.compat.database import load_database
from specconf.engines.base import Artifact, Models
from specconf.engines.registry import get_engine
from specconf.findings import Severity, Stage
from specconf.models import Source, SourceKind, model_facts
from specconf.models.view import model_view
from specconf.rules.judge import Judgement, judge_spec
from specconf.spec import Spec, load_spec
from tests.example_models import CONFIGS, FIXTURES
from tests.strategies import specs

pytestmark = pytest.mark.engine

ROOT = Path(__file__).resolve().parents[2]
RELEASES = {"vllm": "0.33.0", "sglang": "0.5.23"}
EXAMPLES = sorted((ROOT / "examples").glob("*.yaml"))
_PARSED = {Stage.PARSE}
_CONFIGURED = {Stage.PARSE, Stage.CONFIG}


@pytest.fixture(scope="module", params=sorted(RELEASES))
def parser(request: pytest.FixtureRequest, engine_parser: Callable[[str, str], EngineParser]) -> EngineParser:
    return engine_parser(request.param, RELEASES[request.param])


def config(hub_id: str) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((FIXTURES / CONFIGS[hub_id] / "config.json").read_text(encoding="utf-8"))
    return loaded


def engine_config(hub_id: str) -> dict[str, Any]:
    """The config to show an engine: where a config class is remote code, a class of transformers that reads the same keys."""
    shown = config(hub_id)
    if shown.pop("auto_map", None):
        shown["model_type"] = "qwen2"
    return shown


def emitted(spec: Spec, parser: EngineParser) -> tuple[Judgement, Artifact]:
    """Our verdict, and the launch as it would be written in spite of it."""
    engine = get_engine(parser.engine)
    view = load_database(parser.engine).at(parser.release)
    names = [spec.target.model, spec.speculation.draft.model]
    found = [model_facts(config(n), source=Source(SourceKind.GIVEN, n)) if n in CONFIGS else None for n in names]
    models = Models(model_view("target", found[0]), model_view("draft", found[1]))
    judgement = judge_spec(spec, engine, view, models)
    return judgement, engine.emit(judgement.settings, view, "argv")


def expected_to_stop(judgement: Judgement, stages: set[Stage]) -> bool:
    """Whether one of our errors is about these stages."""
    return any(f.severity is Severity.ERROR and f.stage in stages for f in judgement.findings)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_examples(parser: EngineParser, example: Path) -> None:
    spec = load_spec(example.read_bytes(), str(example)).spec
    judgement, artifact = emitted(spec, parser)
    names = [n for n in (spec.target.model, spec.speculation.draft.model) if n]
    allowed = spec.target.trust_remote_code
    models: Mapping[str, Any] = {name: engine_config(name) if allowed else config(name) for name in names}
    parsed = parser.ask(list(artifact.argv), env=artifact.env, files=artifact.files, until="parse")
    assert parsed.accepts is not expected_to_stop(judgement, _PARSED), parsed.message
    try:
        configured = parser.ask(list(artifact.argv), env=artifact.env, files=artifact.files, models=models)
    except HarnessError as error:  # where transformers says so itself, it is no verdict of the engine
        if allowed or "contains custom code" not in str(error):
            raise
        return
    assert configured.accepts is not expected_to_stop(judgement, _CONFIGURED), configured.message


@settings(max_examples=120, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(spec=specs())
def test_random_specs_over_all_fields(parser: EngineParser, spec: Spec) -> None:
    """The parser takes every launch that we write, unless we said that it would not."""
    judgement, artifact = emitted(spec, parser)
    assume(not judgement.settings.problems)  # an option of the spec that cannot be written is reported and left out
    answer = parser.ask(list(artifact.argv), env=artifact.env, files=artifact.files, until="parse")
    assert answer.accepts is not expected_to_stop(judgement, _PARSED), (answer.message, artifact.argv)
