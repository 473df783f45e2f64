"""The speculative part of a spec in the words of each era, and what no release can say."""

from __future__ import annotations

from typing import Any

import pytest

from specconf.engines.lifting import lift
from specconf.engines.lowering import lower
from specconf.spec.model import Spec
from tests.engines.vllm.support import ENGINE, UNKNOWN, fixture, judged_spec, lowered, models, view

CONFIG = "speculative_config."
CONFIGS: dict[str, dict[str, Any]] = {
    "glm-4.5-air": {"architectures": ["Glm4MoeForCausalLM"], "model_type": "glm4_moe", "num_nextn_predict_layers": 1},
    "qwen3-next-80b-a3b": {"architectures": ["Qwen3NextForCausalLM"], "model_type": "qwen3_next"},
}
BASE = {"target.model": "org/target", "speculation.method": "draft_model", "speculation.draft.model": "org/draft"}
K3 = BASE | {"speculation.num_draft_tokens": 3}


def config_of(name: str) -> dict[str, Any]:
    return CONFIGS.get(name) or fixture(name)


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
         "error"),
        ({"speculation.tree.topk": 4, "speculation.tree.num_verify_tokens": 9}, "0.33.0",
         "speculation.tree.num_verify_tokens", "error"),
        ({"speculation.schedule": [{"up_to": 4, "k": 3}]}, "0.23.0", "speculation.schedule", "error"),
        ({"speculation.disable_above": 16}, "0.10.0", "speculation.disable_above", "error"),
        ({"speculation.disable_above": 16}, "0.23.0", "speculation.disable_above", "error"),
        ({"speculation.disable_above": 16, "speculation.num_draft_tokens": None}, "0.33.0",
         "speculation.disable_above", "error"),
        ({"speculation.verification": {"mode": "typical"}}, "0.10.0", "speculation.verification", "error"),
        ({"speculation.verification": {"mode": "relaxed"}}, "0.33.0", "speculation.verification", "error"),
        ({"speculation.verification": {"mode": "fly"}}, "0.32.0", "speculation.verification", "error"),
        ({"speculation.verification": {"mode": "synthetic", "rate": 0.5}}, "0.20.0", "speculation.verification",
         "error"),
        ({"speculation.sampling.rejection": "block"}, "0.24.0", "speculation.sampling.rejection", "warning"),
        ({"speculation.sampling.draft": "probabilistic"}, "0.20.2", "speculation.sampling.draft", "warning"),
        ({"speculation.sampling.draft": "greedy"}, "0.9.2", "speculation.sampling.draft", "warning"),
        ({"speculation.adaptive": True}, "0.27.1", "speculation.adaptive", "error"),
        ({"speculation.adaptive": {"ema_alpha": 0.2}}, "0.33.0", "speculation.adaptive", "error"),
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
    assert finding.code == ("SC201" if refused == "speculation.method" else "SC250")


@pytest.mark.parametrize(
    ("target", "release", "expected"),
    [
        ("mimo-7b", "0.11.0", {"method": "mtp"}),
        ("mimo-7b", "0.10.2", {"method": "deepseek_mtp"}),
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
    ("target", "release", "fix"),
    [
        ("mimo-7b", "0.8.5", "Use vLLM 0.9.0 or newer, or another method."),
        ("glm-4.5-air", "0.7.3", "Use vLLM 0.10.0 or newer, or another method."),
        ("glm-4.5-air", "0.9.1", "Use vLLM 0.10.0 or newer, or another method."),
        ("qwen3-next-80b-a3b", "0.8.1", "Use vLLM 0.10.2 or newer, or another method."),
        ("qwen3-next-80b-a3b", "0.9.2", "Use vLLM 0.10.2 or newer, or another method."),
        ("qwen3-next-80b-a3b", "0.10.1", "Use vLLM 0.10.2 or newer, or another method."),
        ("qwen3-next-80b-a3b", "0.10.1.dev1", "Use vLLM 0.10.2 or newer, or another method."),
        (
            "llama-3.1-8b",
            "0.9.1",
            "Use a target with MTP layers of a family that this release knows, or another method.",
        ),
    ],
)
def test_mtp_of_a_family_that_the_release_does_not_have(target: str, release: str, fix: str) -> None:
    fields = {"target.model": "org/target", "speculation.method": "mtp", "speculation.num_draft_tokens": 2}
    result = lowered(fields, release, models(config_of(target)))
    assert result.settings.under("speculative_config") == {}
    (finding,) = [f for f in result.findings if f.code == "SC305"]
    model_type = config_of(target)["model_type"]
    assert finding.message == f"vLLM {release} has no MTP for {model_type}, so speculation.method cannot be expressed."
    assert finding.severity == "error"
    assert finding.fix == fix


def test_mtp_before_there_was_any_names_the_release_for_the_family() -> None:
    fields = {"target.model": "org/target", "speculation.method": "mtp", "speculation.num_draft_tokens": 2}
    (finding,) = [f for f in lowered(fields, "0.7.2", models(CONFIGS["glm-4.5-air"])).findings if f.code == "SC201"]
    assert finding.fix == "Choose another method, or vLLM 0.10.0 or newer."


def test_mtp_that_a_later_release_has_is_named_beside_the_engines_own_effect() -> None:
    fields = {"target.model": "org/target", "speculation.method": "mtp", "speculation.num_draft_tokens": 2}
    of = models(
        {"model_type": "qwen3_5", "architectures": ["Qwen3_5ForConditionalGeneration"], "mtp_num_hidden_layers": 1}
    )
    judgement = judged_spec(fields, "0.16.0", of)
    (finding,) = [f for f in judgement.errors if f.code == "SC305" and "MTP" in f.message]
    assert finding.message == "vLLM 0.16.0 has no MTP for qwen3_5."
    assert finding.fix == "Use vLLM 0.17.0 or newer, or another method."
    assert "vllm/mtp-not-supported" in {f.constraint for f in judgement.errors}
    assert not [f for f in judged_spec(fields, "0.17.0", of).errors if "MTP" in f.message]


@pytest.mark.parametrize("release", ["0.7.3", "0.9.1", "0.10.1", "0.10.2", "0.16.0"])
def test_mtp_of_an_unknown_target_is_not_refused(release: str) -> None:
    fields = {"target.model": "org/target", "speculation.method": "mtp", "speculation.num_draft_tokens": 2}
    assert lowered(fields, release).refused == frozenset()
    assert not [f for f in lowered(fields, release).findings if f.code == "SC305"]


@pytest.mark.parametrize(
    ("method", "release", "env", "written"),
    [
        ("eagle3", "0.8.5", {}, False),
        ("eagle3", "0.9.2", {}, False),
        ("eagle", "0.9.2", {}, False),
        ("eagle", "0.8.5", {}, True),
        ("eagle", "0.8.5", {"VLLM_USE_V1": "1"}, False),
        ("eagle", "0.9.2", {"VLLM_USE_V1": "0"}, True),
        ("ngram", "0.9.0", {}, False),
        ("ngram", "0.8.5", {}, True),
        ("ngram", "0.8.1", {"VLLM_USE_V1": "1"}, False),
        ("ngram", "0.6.3", {"VLLM_USE_V1": "1"}, True),  # this release does not read the variable
        ("draft_model", "0.9.2", {}, True),
    ],
)
def test_disable_above_is_written_for_the_engine_that_reads_it(
    method: str, release: str, env: dict[str, str], written: bool
) -> None:
    fields = K3 | {"speculation.method": method, "speculation.disable_above": 16, "speculation.ngram.max": 4}
    if method == "ngram":
        del fields["speculation.draft.model"]
    else:
        del fields["speculation.ngram.max"]
    spec = Spec.from_fields(fields, engines={"vllm": {"env": env}})
    result = lower(spec, ENGINE, view(release), models(fixture("llama-3.1-8b"), fixture("eagle3-llama3.1-8b")))
    assert ("speculative_config.disable_by_batch_size" in result.settings) is written
    refusals = [f for f in result.findings if f.option == "speculation.disable_above"]
    assert not refusals if written else [f.severity for f in refusals] == ["error"]
    if not written:
        assert "runs this speculation on its V1 engine" in refusals[0].message
        assert refusals[0].fix == "Unset speculation.disable_above, or use vLLM 0.24.0 or newer."


@pytest.mark.parametrize(
    ("method", "release", "env", "written"),
    [
        ("draft_model", "0.9.2", {}, True),
        ("draft_model", "0.7.3", {}, True),
        ("eagle3", "0.9.2", {}, False),
        ("eagle3", "0.8.5", {}, False),
        ("eagle", "0.9.2", {}, False),
        ("eagle", "0.9.2", {"VLLM_USE_V1": "0"}, True),
        ("eagle", "0.8.5", {}, True),
        ("eagle", "0.8.5", {"VLLM_USE_V1": "1"}, False),
    ],
)
def test_typical_acceptance_is_written_for_the_engine_that_reads_it(
    method: str, release: str, env: dict[str, str], written: bool
) -> None:
    fields: dict[str, Any] = K3 | {"speculation.method": method, "speculation.verification": {"mode": "typical"}}
    spec = Spec.from_fields(fields, engines={"vllm": {"env": env}})
    result = lower(spec, ENGINE, view(release), models(fixture("llama-3.1-8b"), fixture("llama-3.2-1b")))
    assert ("speculative_config.acceptance_method" in result.settings) is written
    refusals = [f for f in result.findings if f.option == "speculation.verification"]
    assert [(f.code, f.severity) for f in refusals] == ([] if written else [("SC250", "error")])
    if not written:
        assert "runs this speculation on its V1 engine, where nothing reads acceptance_method" in refusals[0].message


@pytest.mark.parametrize(
    ("changes", "release", "whether"),
    [
        ({"speculation.disable_above": 16}, "0.23.1.dev3", "stops speculating above a number of requests"),
        ({"speculation.disable_above": 16}, "0.10.0.dev1", "stops speculating above a number of requests"),
        ({"speculation.schedule": [{"up_to": 4, "k": 3}]}, "0.23.1.dev3",
         "has a draft length that depends on the batch size"),
        ({"speculation.adaptive": True}, "0.27.2.dev1", "has adaptive verification"),
        ({"speculation.tree.topk": 4, "speculation.tree.num_verify_tokens": 4}, "0.9.0.dev1",
         "has an option for a tree of candidates"),
        ({"speculation.method": "dflash"}, "0.19.2.dev1", "has the method dflash"),
        ({"speculation.verification": {"mode": "fly"}}, "0.32.1.dev1", "has the verification mode fly"),
        ({"speculation.sampling.rejection": "block"}, "0.24.1.dev1", "has block rejection sampling"),
        ({"speculation.sampling.draft": "probabilistic"}, "0.20.3.dev1",
         "has a choice of how the draft picks its tokens"),
        ({"speculation.draft.revision": "abc"}, "0.8.2.dev1", "has revision for the draft"),
        ({"serving.attention_backend": "turboquant"}, "0.19.2.dev1", "has an attention backend turboquant"),
    ],
)  # fmt: skip
def test_between_two_releases_that_differ_it_is_not_known(changes: dict[str, Any], release: str, whether: str) -> None:
    (finding,) = [f for f in lowered(K3 | changes, release).findings if f.option in changes]
    assert f"it is not known whether it {whether}, so" in finding.message


@pytest.mark.parametrize(
    ("method", "release", "fix"),
    [
        ("medusa", "0.5.1", "Choose another method, or vLLM 0.5.2 or newer."),
        ("medusa", "0.33.0", "Choose another method, or vLLM 0.32.0 or older."),
        ("dflash", "0.19.1", "Choose another method, or vLLM 0.20.0 or newer."),
        ("dflash", "0.19.2.dev1", "Choose another method, or vLLM 0.20.0 or newer."),
        ("mtp", "0.7.2", "Choose another method, or vLLM 0.7.3 or newer."),
        ("sa", "0.33.0", "Choose another method or engine."),
        ("eagle", "0.8.1",
         "Give a draft (speculation.draft.model) whose config.json says that it is one, or use vLLM 0.8.5 or newer, which "
         "takes the written method."),
    ],
)  # fmt: skip
def test_the_nearest_release_with_the_method_is_named(method: str, release: str, fix: str) -> None:
    fields = {k: v for k, v in K3.items() if method not in {"sa", "mtp"} or k != "speculation.draft.model"}
    (finding,) = [f for f in lowered(fields | {"speculation.method": method}, release).findings if f.code == "SC201"]
    assert finding.fix == fix


@pytest.mark.parametrize(
    ("value", "release", "path", "written"),
    [
        ("flashinfer", "0.6.3", "env.VLLM_ATTENTION_BACKEND", "FLASHINFER"),
        ("flash_attn", "0.9.2", "env.VLLM_ATTENTION_BACKEND", "FLASH_ATTN"),
        ("flash-attn", "0.12.0", "env.VLLM_ATTENTION_BACKEND", "FLASH_ATTN"),
        ("FLASHINFER", "0.12.0", "env.VLLM_ATTENTION_BACKEND", "FLASHINFER"),
        ("flashinfer", "0.33.0", "attention_backend", "FLASHINFER"),
        ("auto", "0.18.0", "attention_backend", "AUTO"),
    ],
)
def test_attention_backends_are_written_in_the_engines_spelling(
    value: str, release: str, path: str, written: str
) -> None:
    result = lowered(K3 | {"serving.attention_backend": value}, release)
    assert result.settings[path] == written
    spec = lift(result.settings, ENGINE, view(release), UNKNOWN)
    assert spec.serving.attention_backend == written


@pytest.mark.parametrize(
    ("value", "release", "fix"),
    [
        (
            "triton",
            "0.33.0",
            "Set serving.attention_backend to TRITON_ATTN or TRITON_ATTN_DIFFKV or TRITON_FLASHINFER.",
        ),
        ("fa3", "0.9.2", "Unset serving.attention_backend."),
        ("flashinfer", "0.4.1", "Set serving.attention_backend to FLASH_ATTN."),
    ],
)
def test_attention_backends_that_the_release_does_not_have(value: str, release: str, fix: str) -> None:
    result = lowered(K3 | {"serving.attention_backend": value}, release)
    assert "serving.attention_backend" in result.refused
    (finding,) = [f for f in result.findings if f.option == "serving.attention_backend"]
    assert f"has no attention backend {value}" in finding.message
    assert finding.fix == fix


def test_the_choice_of_a_backend_left_to_the_engine_needs_nothing_before_it_has_a_word() -> None:
    result = lowered(K3 | {"serving.attention_backend": "auto"}, "0.17.1")
    assert "attention_backend" not in result.settings
    assert result.refused == frozenset()


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
