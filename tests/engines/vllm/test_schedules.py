"""Lists that the engine checks entry by entry: draft lengths by batch size, and synthetic acceptance rates."""

from __future__ import annotations

import json
from typing import Any

import pytest

from specconf.rules.judge import Judgement
from tests.engines.vllm.support import judged

TARGET = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "vocab_size": 1024, "num_hidden_layers": 8}


def verdict(config: dict[str, Any], *more: str, env: dict[str, str] | None = None) -> Judgement:
    argv = ["vllm", "serve", "/models/target", "--speculative-config", json.dumps(config), *more]
    return judged({"release": "0.33.0", "argv": argv, "env": env or {}, "target": TARGET})


def scheduled(rows: Any) -> Judgement:
    return verdict({"method": "ngram", "num_speculative_tokens": 3, "num_speculative_tokens_per_batch_size": rows})


@pytest.mark.parametrize(
    ("rows", "fault"),
    [
        ([[1, 8, 3], [9, 64, 1]], None),
        ([[9, 64, 0], [1, 4, 3]], None),  # a gap keeps the length before it, and the engine sorts the rows
        ([[1, 8, 9]], None),  # cut to num_speculative_tokens
        ([[2, 8, 3]], "starts at 2"),
        ([[1, 8, 3], [8, 64, 1]], "overlaps"),
        ([[0, 8, 3]], "not positive"),
        ([[8, 1, 3]], "ends before it starts"),
        ([[1, 8, -1]], "-1 is no number of draft tokens"),
    ],
)
def test_a_schedule_is_refused_for_its_rows(rows: Any, fault: str | None) -> None:
    found = [f.message for f in scheduled(rows).findings if f.constraint == "vllm/schedule-rows"]
    assert bool(found) is (fault is not None)
    assert not found or str(fault) in found[0]


@pytest.mark.parametrize("rows", [[], [[1, 8]], "1-8:3"])
def test_rows_of_another_shape_are_not_judged_here(rows: Any) -> None:
    result = scheduled(rows).result
    assert "vllm/schedule-rows" in {n.constraint for n in result.not_checked}


def test_a_schedule_that_the_engine_drops_is_not_judged() -> None:
    config = {"method": "ngram", "num_speculative_tokens": 3, "num_speculative_tokens_per_batch_size": [[2, 8, 3]]}
    found = {f.constraint for f in verdict(config, "-dp", "2").findings}
    assert "vllm/schedule-dropped-with-data-parallel" in found
    assert "vllm/schedule-rows" not in found


@pytest.mark.parametrize(
    ("more", "env", "lowered"),
    [
        ((), {"VLLM_USE_V2_MODEL_RUNNER": "0"}, True),
        ((), {}, False),
        (("--enforce-eager",), {"VLLM_USE_V2_MODEL_RUNNER": "0"}, False),
        (("-O1",), {"VLLM_USE_V2_MODEL_RUNNER": "0"}, False),
        (("-O1", "--compilation-config", '{"cudagraph_mode": "FULL"}'), {"VLLM_USE_V2_MODEL_RUNNER": "0"}, True),
        (("--compilation-config", '{"mode": 0}'), {"VLLM_USE_V2_MODEL_RUNNER": "0"}, False),
    ],
)
def test_a_schedule_on_the_v1_runner_gives_up_full_graphs(
    more: tuple[str, ...], env: dict[str, str], lowered: bool
) -> None:
    config = {"method": "ngram", "num_speculative_tokens": 3, "num_speculative_tokens_per_batch_size": [[1, 8, 3]]}
    result = verdict(config, *more, env=env).result
    assert ("vllm/schedule-graphs-025" in {f.constraint for f in result.findings}) is lowered
    assert ("compilation_config.cudagraph_mode" in result.effective) is lowered


@pytest.mark.parametrize(
    ("rates", "fault"),
    [
        ([0.9, 0.5, 0.5], None),
        ([1, 1, 0], None),
        ([0.9, 0.5], "there are 2 rates"),
        ([0.9, 0.5, 0.6], "higher than the one before it"),
        ([1.1, 0.5, 0.4], "not between 0 and 1"),
    ],
)
def test_synthetic_rates(rates: list[float], fault: str | None) -> None:
    config = {"method": "ngram", "num_speculative_tokens": 3, "rejection_sample_method": "synthetic"}
    judgement = verdict(config | {"synthetic_acceptance_rates": rates})
    found = [f.message for f in judgement.findings if f.constraint == "vllm/synthetic-rates"]
    assert bool(found) is (fault is not None)
    assert not found or str(fault) in found[0]
