"""Launches of several parts are refused, and so are more ranks than GPUs."""

from __future__ import annotations

import pytest

from specconf.compat.database import load_database
from specconf.engines.base import Models
from specconf.engines.lowering import lower
from specconf.engines.registry import get_engine
from specconf.facts import Unavailable
from specconf.findings import Severity
from specconf.spec import Spec
from specconf.words import JsonValue

MODELS = Models(Unavailable("target", "not looked up"), Unavailable("draft", "not looked up"))
BASE: dict[str, JsonValue] = {"target.model": "org/target", "speculation.method": "none"}


def errors(engine: str, fields: dict[str, JsonValue], options: dict[str, JsonValue] | None = None) -> set[str]:
    section = {"cli" if engine == "tensorrt-llm" else "options": options} if options else {}
    spec = Spec.from_fields({**BASE, **fields}, engines={engine: section} if section else {})
    database = load_database(engine)
    view = database.at(database.line.newest)
    return {f.code for f in lower(spec, get_engine(engine), view, MODELS).findings if f.severity is Severity.ERROR}


@pytest.mark.parametrize("engine", ["vllm", "sglang", "tensorrt-llm"])
def test_several_nodes(engine: str) -> None:
    assert "SC251" in errors(engine, {"hardware.nodes": 2})
    assert not errors(engine, {"hardware.nodes": 1})


@pytest.mark.parametrize(
    ("engine", "options", "refused"),
    [
        ("sglang", {"disaggregation-mode": "prefill"}, True),
        ("sglang", {"disaggregation-mode": "null"}, False),
        ("sglang", {"nnodes": 2}, True),
        ("vllm", {"kv-transfer-config": {"kv_connector": "NixlConnector", "kv_role": "kv_producer"}}, True),
        ("vllm", {"kv-transfer-config": {"kv_connector": "LMCacheConnectorV1", "kv_role": "kv_both"}}, False),
        ("tensorrt-llm", {"server_role": "context"}, True),
    ],
)
def test_one_side_of_a_disaggregated_deployment(engine: str, options: dict[str, JsonValue], refused: bool) -> None:
    assert ("SC251" in errors(engine, {}, options)) is refused


def test_more_ranks_than_gpus() -> None:
    four = {"serving.tensor_parallel_size": 2, "serving.pipeline_parallel_size": 2}
    assert "SC401" in errors("vllm", {**four, "hardware.count": 2})
    assert "SC401" not in errors("vllm", {**four, "hardware.count": 4})
