"""A commented spec reads back as itself, says every field once, and each of its examples is valid where it stands."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from specconf.compat.database import load_database
from specconf.engines.base import Models
from specconf.engines.registry import get_engine
from specconf.models.view import NoModel
from specconf.rules.judge import judge_spec
from specconf.spec import load_spec
from specconf.spec.commented import ENGINE_EXAMPLES, EXAMPLES, commented_spec
from specconf.spec.engines import ENGINES
from specconf.spec.fields import ALL_FIELDS, SPEC_DEFAULTS, description
from specconf.spec.methods import METHODS, DraftUse, Method, takes
from specconf.spec.model import Spec
from tests.strategies import fields_for, specs

RELEASES = {"vllm": "0.33.0", "sglang": "0.5.23", "tensorrt-llm": "1.2.1"}
REQUIRED = ("target.model", "speculation.method")


def spec_with(method: Method, **fields: Any) -> Spec:
    draft = {"speculation.draft.model": "owner/draft"} if METHODS[method].draft is DraftUse.NEEDS else {}
    return Spec.from_fields({"target.model": "owner/target", "speculation.method": str(method), **draft, **fields})


def uncommented(text: str, number: int) -> str:
    lines = text.splitlines()
    lines[number] = lines[number].replace("#", "", 1)
    return "\n".join(lines) + "\n"


def examples_in(text: str) -> list[int]:
    return [i for i, line in enumerate(text.splitlines()) if re.match(r" *#[^ ]", line)]


@given(specs())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_it_reads_back_as_itself_and_is_deterministic(spec: Spec) -> None:
    text = commented_spec(spec, releases=RELEASES)
    loaded = load_spec(text, "spec.yaml").spec
    assert loaded == spec
    assert loaded.set_fields() == spec.set_fields()
    assert loaded.engine_settings() == spec.engine_settings()
    assert text == commented_spec(spec, releases=RELEASES)


@given(specs())
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_each_example_is_valid_where_it_stands(spec: Spec) -> None:
    text = commented_spec(spec, releases=RELEASES)
    for number in examples_in(text):
        line = text.splitlines()[number]
        assert load_spec(uncommented(text, number), "spec.yaml").spec != spec, line


def test_every_field_that_may_be_unset_has_an_example() -> None:
    assert {*EXAMPLES} == {*ALL_FIELDS} - {*REQUIRED, *SPEC_DEFAULTS}
    assert tuple(ENGINE_EXAMPLES) == ENGINES


@pytest.mark.parametrize("method", Method)
def test_it_names_each_field_of_the_method_once_with_its_own_description(method: Method) -> None:
    assert tuple(field for field in ALL_FIELDS if takes(method, field)) == fields_for(method)
    text = commented_spec(spec_with(method), releases=RELEASES)
    words = " ".join(line.strip().removeprefix("# ") for line in text.splitlines())
    for field in ALL_FIELDS:
        said = words.count(" ".join(description(field).split()))
        same = sum(description(field) in description(other) for other in fields_for(method))
        assert said == (same if takes(method, field) else 0), field


@pytest.mark.parametrize("engine", ENGINES)
def test_an_engine_takes_the_examples_in_its_own_words(engine: str) -> None:
    spec = Spec.from_fields(
        {"target.model": "owner/target", "speculation.method": "none"}, engines={engine: ENGINE_EXAMPLES[engine]}
    )
    database = load_database(engine, ())
    view = database.at(database.line.newest_final)
    judgement = judge_spec(spec, get_engine(engine), view, Models(NoModel(), NoModel()))
    assert not [finding.message for finding in judgement.findings if finding.code.startswith("SC1")]


def test_notes_stand_beside_what_a_field_means_and_wrap() -> None:
    note = "Proposed: " + "because of something " * 12
    text = commented_spec(spec_with(Method.NGRAM), notes={"speculation.method": note}, releases=RELEASES)
    assert "  # Proposed: because of something" in text
    assert max(map(len, text.splitlines())) <= 110
    assert load_spec(text, "spec.yaml").spec == spec_with(Method.NGRAM)
