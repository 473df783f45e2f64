"""Options of a spec in the engine's own words: spellings, switches, nulls, and what is refused rather than written."""

from __future__ import annotations

from typing import Any

import pytest

from specconf.compat.database import load_database
from specconf.engines.base import Lowered, Models
from specconf.engines.lowering import lower
from specconf.engines.registry import get_engine
from specconf.facts import Unavailable
from specconf.rules.judge import judge_spec
from specconf.spec import Spec

MODELS = Models(Unavailable("target", "not looked up"), Unavailable("draft", "not looked up"))
BASE = {"target.model": "org/target", "speculation.method": "none", "serving.tensor_parallel_size": 2}
NEWEST = {"vllm": "0.33.0", "sglang": "0.5.23", "tensorrt-llm": "1.4.0rc1"}


def spec(engine: str, **section: Any) -> Spec:
    return Spec.from_fields(BASE, engines={engine: section})


def lowered(engine: str, release: str = "", **section: Any) -> Lowered:
    view = load_database(engine).at(release or NEWEST[engine])
    return lower(spec(engine, **section), get_engine(engine), view, MODELS)


@pytest.mark.parametrize(
    ("engine", "options", "path", "value"),
    [
        ("vllm", {"max-logprobs": 7}, "max_logprobs", 7),
        ("vllm", {"max_logprobs": "7"}, "max_logprobs", 7),
        ("vllm", {"enable-prefix-caching": False}, "enable_prefix_caching", False),
        ("vllm", {"no-enable-prefix-caching": True}, "enable_prefix_caching", False),
        ("vllm", {"served-model-name": "chat"}, "served_model_name", ["chat"]),
        ("vllm", {"speculative_config.method": "ngram"}, "speculative_config.method", "ngram"),
        ("vllm", {"hf-overrides": {"rope_scaling": {"factor": 4}}}, "hf_overrides", {"rope_scaling": {"factor": 4}}),
        ("sglang", {"mem-fraction": 0.8}, "mem_fraction_static", 0.8),
        ("sglang", {"disable-radix-cache": True}, "disable_radix_cache", True),
        (
            "tensorrt-llm",
            {"kv-cache-config": {"free-gpu-memory-fraction": 0.5}},
            "kv_cache_config.free_gpu_memory_fraction",
            0.5,
        ),
    ],
)
def test_spellings(engine: str, options: dict[str, Any], path: str, value: Any) -> None:
    result = lowered(engine, options=options)
    assert not result.settings.problems
    assert result.settings[path] == value


@pytest.mark.parametrize(
    ("engine", "options"),
    [
        ("vllm", {"max-logprobz": 7, "seeds": 1}),
        ("vllm", {"disable-log-stats": False}),
        ("vllm", {"enforce-eager": 3}),
        ("vllm", {"load-format": True}),
        ("sglang", {"disable-radix-cache": False}),
        ("sglang", {"m": 1}),
    ],
)
def test_what_cannot_be_written_is_left_out_and_said(engine: str, options: dict[str, Any]) -> None:
    view = load_database(engine).at(NEWEST[engine])
    judged = judge_spec(spec(engine, options=options), get_engine(engine), view, MODELS)
    assert len(judged.settings.problems) == len(options)
    errors = [f.message for f in judged.errors]
    assert len(errors) == len(options)
    assert all("cannot be written" in message for message in errors)
    get_engine(engine).emit(judged.settings, view, "argv")  # forced or not, there is a launch to write


@pytest.mark.parametrize(
    ("engine", "section"),
    [
        ("vllm", {"options": {"model": None}}),
        ("sglang", {"options": {"model-path": None}}),
        ("vllm", {"options": {"config": "more.yaml"}}),
        ("sglang", {"options": {"config": "more.yaml"}}),
        ("tensorrt-llm", {"cli": {"config": "more.yaml"}}),
        ("vllm", {"options": {"api-key": "sk-1234"}}),
        ("vllm", {"env": {"HF_TOKEN": "abcdef"}}),
        ("vllm", {"options": {"tensor-parallel-size": 4}}),
    ],
)
def test_conflicts(engine: str, section: dict[str, Any]) -> None:
    result = lowered(engine, **section)
    (finding,) = [f for f in result.findings if f.code == "SC252"]
    assert finding.severity == "error"
    assert "sk-1234" not in finding.message
    assert "abcdef" not in finding.message
    assert "sk-1234" not in result.settings.flat().values()
    assert "env.HF_TOKEN" not in result.settings


def test_null_removes_what_a_field_would_write() -> None:
    assert "tensor_parallel_size" not in lowered("vllm", options={"tensor-parallel-size": None}).settings


def test_an_equal_value_is_no_conflict() -> None:
    assert not lowered("vllm", options={"tensor-parallel-size": 2}).findings
