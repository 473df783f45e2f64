"""The speculative part of a spec in the words of each era, and what no release can say."""

from __future__ import annotations

from typing import Any

import pytest

from tests.engines.vllm.support import fixture, lowered, models

CONFIG = "speculative_config."
BASE = {"target.model": "org/target", "speculation.method": "draft_model", "speculation.draft.model": "org/draft"}
K3 = BASE | {"speculation.num_draft_tokens": 3}


def config(fields: dict[str, Any], release: str, **more: Any) -> dict[str, Any]:
    return dict(lowered(fields, release, **more).settings.under("speculative_config"))


@pytest.mark.parametrize(
    ("changes", "release", "expected"),
    [
        ({}, "0.33.0", {"method": "draft_model", "model": "org/draft"}),
        ({}, "0.8.3", {"method": "draft_model", "model": "org/draft"}),
        ({}, "0.8.2", {"model": "org/draft"}),
        ({"speculation.draft.revision": "abc"}, "0.33.0", {"revision": "abc"}),
        ({"speculation.draft.tensor_parallel_size": 1}, "0.5.1", {"draft_tensor_parallel_size": 1}),
        ({"speculation.draft.max_model_len": 256}, "0.4.1", {"max_model_len": "256"}),
        ({"speculation.draft.max_model_len": 256}, "0.4.2", {"max_model_len": 256}),
        ({"speculation.draft.quantization": "fp8"}, "0.5.5", {"quantization": "fp8"}),
        ({"speculation.verification": {"mode": "typical", "posterior_alpha": 0.3}}, "0.9.2",
         {"acceptance_method": "typical_acceptance_sampler", "posterior_alpha": 0.3}),
        ({"speculation.verification": {"mode": "synthetic", "rate": 0.5}}, "0.19.0",
         {"rejection_sample_method": "synthetic", "synthetic_acceptance_rate": 0.5}),
        ({"speculation.verification": {"mode": "synthetic", "rates": [0.9, 0.5]}}, "0.20.0",
         {"rejection_sample_method": "synthetic", "synthetic_acceptance_rates": [0.9, 0.5]}),
        ({"speculation.verification": {"mode": "fly", "window_size": 2}}, "0.33.0",
         {"rejection_sample_method": "fly", "fly_window_size": 2}),
        ({"speculation.sampling.rejection": "standard"}, "0.20.2", {"rejection_sample_method": "strict"}),
        ({"speculation.sampling.rejection": "standard"}, "0.21.0", {"rejection_sample_method": "standard"}),
        ({"speculation.sampling.rejection": "block"}, "0.25.0", {"rejection_sample_method": "block"}),
        ({"speculation.sampling.draft": "probabilistic"}, "0.21.0", {"draft_sample_method": "gumbel"}),
        ({"speculation.sampling.draft": "probabilistic"}, "0.22.0", {"draft_sample_method": "probabilistic"}),
        ({"speculation.adaptive": True}, "0.28.0", {"enable_adaptive_verification": True}),
        ({"speculation.schedule": [{"up_to": 4, "k": 3}, {"up_to": 32, "k": 2}, {"k": 0}]}, "0.24.0",
         {"num_speculative_tokens_per_batch_size": [[1, 4, 3], [5, 32, 2], [33, 33, 0]]}),
        ({"speculation.disable_above": 16}, "0.24.0",
         {"num_speculative_tokens_per_batch_size": [[1, 16, 3], [17, 17, 0]]}),
        ({"speculation.schedule": [{"up_to": 4, "k": 3}], "speculation.disable_above": 16}, "0.24.0",
         {"num_speculative_tokens_per_batch_size": [[1, 16, 3], [17, 17, 0]]}),
        ({"speculation.disable_above": 16}, "0.9.2", {"disable_by_batch_size": 16}),
        ({"speculation.disable_above": 16}, "0.4.3", {"disable_by_batch_size": 16}),
        ({"speculation.method": "pard"}, "0.16.0", {"method": "draft_model", "parallel_drafting": True}),
    ],
)  # fmt: skip
def test_written(changes: dict[str, Any], release: str, expected: dict[str, Any]) -> None:
    given = config(K3 | changes, release)
    assert {key: given.get(key) for key in expected} == expected
    assert lowered(K3 | changes, release).refused == frozenset()


@pytest.mark.parametrize(
    ("changes", "release", "refused", "changed"),
    [
        ({"speculation.method": "sa", "speculation.draft.model": None}, "0.33.0", "speculation.method", "error"),
        ({"speculation.method": "eagle3"}, "0.8.4", "speculation.method", "error"),
        ({"speculation.method": "suffix", "speculation.draft.model": None}, "0.11.0", "speculation.method", "error"),
        ({"speculation.method": "medusa"}, "0.33.0", "speculation.method", "error"),
        ({"speculation.method": "eagle"}, "0.8.1", "speculation.method", "error"),
        ({"speculation.method": "mtp", "speculation.draft.model": None}, "0.7.2", "speculation.method", "error"),
        ({"speculation.tree.topk": 4, "speculation.tree.num_verify_tokens": 4}, "0.33.0", "speculation.tree.topk",
         "warning"),
        ({"speculation.tree.topk": 4, "speculation.tree.num_verify_tokens": 9}, "0.33.0",
         "speculation.tree.num_verify_tokens", "error"),
        ({"speculation.schedule": [{"up_to": 4, "k": 3}]}, "0.23.0", "speculation.schedule", "warning"),
        ({"speculation.disable_above": 16}, "0.10.0", "speculation.disable_above", "warning"),
        ({"speculation.disable_above": 16}, "0.23.0", "speculation.disable_above", "warning"),
        ({"speculation.disable_above": 16, "speculation.num_draft_tokens": None}, "0.33.0",
         "speculation.disable_above", "warning"),
        ({"speculation.verification": {"mode": "typical"}}, "0.10.0", "speculation.verification", "error"),
        ({"speculation.verification": {"mode": "relaxed"}}, "0.33.0", "speculation.verification", "error"),
        ({"speculation.verification": {"mode": "fly"}}, "0.32.0", "speculation.verification", "error"),
        ({"speculation.verification": {"mode": "synthetic", "rate": 0.5}}, "0.20.0", "speculation.verification",
         "error"),
        ({"speculation.sampling.rejection": "block"}, "0.24.0", "speculation.sampling.rejection", "warning"),
        ({"speculation.sampling.draft": "probabilistic"}, "0.20.2", "speculation.sampling.draft", "warning"),
        ({"speculation.sampling.draft": "greedy"}, "0.9.2", "speculation.sampling.draft", "warning"),
        ({"speculation.adaptive": True}, "0.27.1", "speculation.adaptive", "warning"),
        ({"speculation.adaptive": {"ema_alpha": 0.2}}, "0.33.0", "speculation.adaptive", "warning"),
        ({"speculation.draft.revision": "abc"}, "0.8.1", "speculation.draft.revision", "error"),
        ({"serving.cuda_graph_max_batch": 8}, "0.6.4", "serving.cuda_graph_max_batch", "warning"),
        ({"serving.cuda_graph_max_batch": 8, "speculation.num_draft_tokens": None}, "0.33.0",
         "serving.cuda_graph_max_batch", "warning"),
        ({"serving.overlap_schedule": True}, "0.9.2", "serving.overlap_schedule", "warning"),
        ({"serving.attention_data_parallel_size": 2}, "0.33.0", "serving.attention_data_parallel_size", "warning"),
        ({"serving.expert_parallel_size": 4, "serving.tensor_parallel_size": 8}, "0.33.0",
         "serving.expert_parallel_size", "warning"),
    ],
)  # fmt: skip
def test_refused(changes: dict[str, Any], release: str, refused: str, changed: str) -> None:
    fields = {name: value for name, value in (K3 | changes).items() if value is not None}
    result = lowered(fields, release)
    assert refused in result.refused
    (finding,) = [f for f in result.findings if f.option == refused]
    assert finding.severity == changed
    assert finding.code == "SC250"


@pytest.mark.parametrize(
    ("target", "release", "expected"),
    [
        ("mimo-7b", "0.11.0", {"method": "mtp"}),
        ("mimo-7b", "0.10.2", {"method": "deepseek_mtp"}),
        ("mimo-7b", "0.8.5", {"model": "org/target"}),
        ("deepseek-v3", "0.9.0", {"method": "deepseek_mtp"}),
        ("deepseek-v3", "0.8.1", {}),
        (None, "0.10.2", {"model": "org/target"}),
    ],
)
def test_mtp_by_family_and_release(target: str | None, release: str, expected: dict[str, Any]) -> None:
    fields = {"target.model": "org/target", "speculation.method": "mtp", "speculation.num_draft_tokens": 1}
    of = models(fixture(target) if target else None)
    assert config(fields, release, of=of) == expected | {"num_speculative_tokens": 1}


@pytest.mark.parametrize(
    ("release", "k", "path", "value"),
    [
        ("0.33.0", 3, "max_cudagraph_capture_size", 32),
        ("0.11.0", 3, "cuda_graph_sizes", [32]),
        ("0.11.0", 4, "cuda_graph_sizes", [40]),
        ("0.8.5", 1, "compilation_config", {"cudagraph_capture_sizes": [1, 2, 4, 8, 16]}),
    ],
)
def test_cuda_graphs_are_counted_in_tokens(release: str, k: int, path: str, value: Any) -> None:
    fields = BASE | {"speculation.num_draft_tokens": k, "serving.cuda_graph_max_batch": 8}
    assert lowered(fields, release).settings[path] == value


def test_eagle3_asks_for_the_engine_that_runs_it() -> None:
    fields = K3 | {"speculation.method": "eagle3"}
    assert lowered(fields, "0.8.5").settings["env.VLLM_USE_V1"] == "1"
    assert "env.VLLM_USE_V1" not in lowered(fields, "0.9.0").settings


def test_switches_without_a_negation_are_left_out_where_false_is_the_default() -> None:
    fields = K3 | {"serving.enforce_eager": False, "target.trust_remote_code": False}
    assert "enforce_eager" not in lowered(fields, "0.8.5").settings
    assert lowered(fields, "0.9.0").settings["enforce_eager"] is False
    assert lowered(fields, "0.8.5").refused == frozenset()
