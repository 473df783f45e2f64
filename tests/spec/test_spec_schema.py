from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from jsonschema import Draft202012Validator

from specconf.spec.dump import dump_spec
from specconf.spec.fields import ALL_FIELDS, description
from specconf.spec.loading import load_spec
from specconf.spec.methods import Method
from specconf.spec.model import Spec
from specconf.spec.nodes import plain_value
from specconf.spec.schema import SCHEMA_FILE, schema_text, spec_schema
from specconf.spec.yaml12 import compose
from tests.spec.test_spec_loading import FULL, HEAD
from tests.strategies import specs

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.yaml"))
VALIDATOR = Draft202012Validator(spec_schema())


def errors(text: str) -> list[str]:
    return [error.message for error in VALIDATOR.iter_errors(plain_value(compose(text, "s.yaml")))]


def test_the_published_schema_is_the_models() -> None:
    published = (ROOT / SCHEMA_FILE).read_text(encoding="utf-8")
    assert published == schema_text(), "run python -m specconf.spec.schema"
    Draft202012Validator.check_schema(json.loads(published))


def test_examples_are_there() -> None:
    assert len(EXAMPLES) >= 9


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_loads_and_fits_the_schema(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.startswith("# yaml-language-server: $schema=../schemas/spec.schema.json\n")
    assert errors(text) == []
    spec = load_spec(text, str(path)).spec
    assert load_spec(dump_spec(spec), "again").spec == spec


@given(made=specs())
def test_every_spec_fits_the_schema(made: Spec) -> None:
    assert errors(dump_spec(made)) == []


def test_what_the_loader_takes_the_schema_takes() -> None:
    empty = (
        HEAD.format("mtp")
        + "  tree:\n  verification:\nserving:\nhardware: {platform: null}\nfeatures: []\nengines:\n  sglang:\n"
    )
    for text in (FULL, empty, HEAD.format("ngram") + "engines: {trtllm: {cli: {x: 1}}}\n"):
        load_spec(text, "s.yaml")
        assert errors(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "target: {model: a}\nspeculation: {method: none}\n",
        "specconf: 2\ntarget: {model: a}\nspeculation: {method: none}\n",
        HEAD.format("eagle-3"),
        HEAD.format("ngram") + "extra: 1\n",
        HEAD.format("ngram") + "serving: {port: '1'}\n",
        HEAD.format("ngram") + "serving: {port: 0}\n",
        HEAD.format("ngram") + "  verification: fuzzy\n",
        HEAD.format("ngram") + "  verification: {mode: exact}\n",
        HEAD.format("ngram") + "  adaptive: 3\n",
        HEAD.format("ngram") + "features: [x]\n",
        HEAD.format("ngram") + "engines: {vllm: {release: 0.33}}\n",
        HEAD.format("ngram") + "engines: {vllm: {env: {A: 1}}}\n",
        HEAD.format("ngram") + "engines: {vllm: {cli: {}}}\n",
        HEAD.format("ngram") + "engines: {trtllm: {}, tensorrt-llm: {}}\n",
    ],
)
def test_what_the_schema_refuses(text: str) -> None:
    assert errors(text)


def _has_number(schema: Any) -> bool:
    if isinstance(schema, dict):
        return schema.get("type") in ("integer", "number") or any(
            _has_number(part) for key, part in schema.items() if key in ("anyOf", "oneOf", "items")
        )
    return isinstance(schema, list) and any(map(_has_number, schema))


def _properties() -> list[tuple[str, dict[str, Any]]]:
    schema = spec_schema()
    owners = [schema, *schema["$defs"].values()]
    return [(name, field) for owner in owners for name, field in owner.get("properties", {}).items()]


UNIT = re.compile(
    r"\b(tokens?|requests|GPUs?|ranks|steps|groups|stages|replicas|nodes|copies|share|ratio|number|seed)\b", re.I
)
SCOPE = re.compile(
    r"\bper (GPU|rank|node|server|replica|request|launch|deployment|tensor-parallel group|point)\b"
    r"|\b(of|in|inside) one launch\b"
)


@pytest.mark.parametrize(
    ("name", "field"), [item for item in _properties() if item[0] != "specconf"], ids=lambda x: str(x)[:24]
)
def test_numbers_say_their_unit_and_scope(name: str, field: dict[str, Any]) -> None:
    if not field.get("description"):
        assert "$ref" in str(field), name  # described by the section or set that it refers to
    if _has_number(field):
        assert UNIT.search(field["description"]), field["description"]
        assert SCOPE.search(field["description"]), field["description"]


def test_there_are_numbers_to_check() -> None:
    assert sum(_has_number(field) for _, field in _properties()) >= 28
    assert all(description(field).endswith((".", "better.")) for field in ALL_FIELDS)


EXPECTED_EXAMPLES: dict[str, dict[str, object]] = {
    "qwen3-draft-model": {
        "target.model": "Qwen/Qwen3-4B-Thinking-2507",
        "speculation.method": "draft_model",
        "speculation.num_draft_tokens": 5,
        "speculation.draft.model": "Qwen/Qwen3-0.6B",
    },
    "llama-draft-model-sglang": {
        "target.model": "meta-llama/Llama-3.1-8B-Instruct",
        "speculation.method": "draft_model",
        "speculation.num_draft_tokens": 4,
        "speculation.draft.model": "meta-llama/Llama-3.2-1B-Instruct",
        "serving.memory_fraction": 0.7,
        "serving.cuda_graph_max_batch": 8,
    },
    "mimo-mtp": {
        "target.model": "XiaomiMiMo/MiMo-7B-Base",
        "target.trust_remote_code": True,
        "speculation.method": "mtp",
        "speculation.num_draft_tokens": 1,
        "serving.tensor_parallel_size": 1,
    },
}


@pytest.mark.parametrize("name", EXPECTED_EXAMPLES)
def test_examples_set_their_fields_and_nothing_else(name: str) -> None:
    fields = load_spec((ROOT / "examples" / f"{name}.yaml").read_bytes(), name).spec.set_fields()
    defaults = {"speculation.tree.topk": 1, "speculation.verification": "exact", "hardware.platform": "cuda"}
    assert fields == EXPECTED_EXAMPLES[name] | defaults


def test_methods_of_the_schema() -> None:
    assert spec_schema()["$defs"]["Method"]["enum"] == [method.value for method in Method]
