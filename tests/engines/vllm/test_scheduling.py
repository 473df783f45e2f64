"""What a step takes, who schedules it, which of its widths are captured, and targets with recurrent state."""

from __future__ import annotations

import json
from typing import Any

import pytest

from specconf.engines.base import default_fact
from specconf.facts import Context, Fact, Facts, Known, Missing, OneOf
from specconf.findings import Severity
from tests.engines.vllm.support import ENGINE, checkpoint, fixture, judged, judged_spec, launch, models, view

EAGLE = {"method": "eagle", "model": "/models/head", "num_speculative_tokens": 3}
WHOLE = {"method": "draft_model", "model": "/models/draft", "num_speculative_tokens": 3}
NGRAM = {"method": "ngram", "num_speculative_tokens": 3}
MTP = {"method": "mtp", "num_speculative_tokens": 1}
RECURRENT = {"architectures": ["JambaForCausalLM"], "model_type": "jamba", "num_hidden_layers": 8}
HYBRID_MTP = {
    "architectures": ["Qwen3_5ForConditionalGeneration"], "model_type": "qwen3_5",
    "text_config": {"model_type": "qwen3_5_text", "num_hidden_layers": 8, "mtp_num_hidden_layers": 1},
}  # fmt: skip


def case(
    release: str,
    config: dict[str, Any] | None,
    *more: str,
    env: dict[str, str] | None = None,
    target: dict[str, Any] | None = None,
    **facts: Any,
) -> dict[str, Any]:
    """A launch with a speculative config; facts of the hardware by their names."""
    speculation = ["--speculative-config", json.dumps(config)] if config else []
    return {
        "release": release, "argv": ["vllm", "serve", "/models/target", *speculation, *more], "env": env or {},
        "target": target or fixture("llama-3.1-8b"), "draft": fixture("llama-3.2-1b") if config and "model" in config else None,
        "facts": {f"hardware.{name}": value for name, value in facts.items()},
    }  # fmt: skip


def in_force(of: dict[str, Any], path: str) -> Fact | None:
    """What an option is in the effective configuration."""
    found = judged(of).result.effective.get(path)
    return found.value if found else None


def met(of: dict[str, Any]) -> dict[str, Severity]:
    """The severities of the constraints that a launch meets."""
    return {f.constraint: f.severity for f in judged(of).findings if f.constraint}


def derived(name: str, of: dict[str, Any]) -> Fact:
    """One derived fact of a launch."""
    at = view(of["release"])
    context = Context(checkpoint("target", of["target"]), checkpoint("draft", of["draft"]), of["facts"])
    facts = Facts(ENGINE.resolve(launch(of), at), context, default=default_fact(at), derivations=ENGINE.derivations)
    return facts.get(f"derived.{name}")


@pytest.mark.parametrize(
    ("release", "config", "more", "env", "scheduled"),
    [
        ("0.13.0", EAGLE, (), {}, None),
        ("0.14.0", EAGLE, (), {}, True),
        ("0.14.0", NGRAM, (), {}, False),
        ("0.14.0", None, ("-pp", "2"), {}, False),
        ("0.15.0", None, ("-pp", "2"), {}, True),
        ("0.20.2", WHOLE, (), {}, False),
        ("0.28.0", WHOLE, (), {}, True),
        ("0.28.0", EAGLE | {"disable_padded_drafter_batch": True}, (), {}, False),
        ("0.32.0", NGRAM, (), {}, False),
        ("0.33.0", NGRAM, (), {}, True),
        ("0.33.0", NGRAM, (), {"VLLM_USE_V2_MODEL_RUNNER": "0"}, False),
        ("0.33.0", EAGLE, ("--distributed-executor-backend", "ray"), {}, False),
        ("0.33.0", EAGLE, ("-pp", "2"), {}, True),
        ("0.33.0", EAGLE, ("-pp", "2"), {"VLLM_USE_V2_MODEL_RUNNER": "0"}, False),
        ("0.33.0", None, ("--runner", "pooling"), {}, False),
        ("0.33.0", EAGLE, ("--no-async-scheduling",), {}, False),
    ],
)
def test_asynchronous_scheduling_by_default(
    release: str, config: dict[str, Any] | None, more: tuple[str, ...], env: dict[str, str], scheduled: bool | None
) -> None:
    found = in_force(case(release, config, *more, env=env), "async_scheduling")
    assert found == (Known(scheduled) if scheduled is not None else None)


def test_a_target_that_may_pool_leaves_asynchronous_scheduling_open() -> None:
    assert in_force(case("0.19.1", None), "async_scheduling") == Known(True)
    assert in_force(case("0.20.0", None), "async_scheduling") != Known(True)


@pytest.mark.parametrize(
    ("release", "target", "cached"),
    [
        ("0.20.2", None, True),
        ("0.20.2", RECURRENT, False),
        ("0.27.1", RECURRENT, False),
        ("0.28.0", RECURRENT, True),
    ],
)
def test_prefixes_are_cached_by_default(release: str, target: dict[str, Any] | None, cached: bool) -> None:
    assert in_force(case(release, NGRAM, target=target), "enable_prefix_caching") == Known(cached)


@pytest.mark.parametrize(
    ("release", "gpu", "requests", "tokens"),
    [
        ("0.27.1", 24, 256, 2048),
        ("0.27.1", 180, 1024, 8192),
        ("0.28.0", 80, 1024, 8192),
        ("0.28.0", 180, 1024, 16384),
    ],
)
def test_the_size_of_a_step_follows_from_the_gpu(release: str, gpu: int, requests: int, tokens: int) -> None:
    of = case(release, NGRAM, memory=gpu)
    assert in_force(of, "max_num_seqs") == Known(requests)
    assert in_force(of, "max_num_batched_tokens") == Known(tokens)
    assert not isinstance(in_force(case(release, NGRAM), "max_num_seqs"), Known)


@pytest.mark.parametrize(
    ("gpu", "requests"),
    [("H100", 1024), ("NVIDIA H200", 1024), ("A100", 256), ("rtx-4090", 256), ("Unheard-of 1", None)],
)
def test_the_gpu_of_a_spec_says_its_memory(gpu: str, requests: int | None) -> None:
    fields = {"target.model": "org/target", "speculation.method": "ngram", "speculation.num_draft_tokens": 3}
    result = judged_spec({**fields, "hardware.gpu": gpu}, "0.33.0", models(fixture("llama-3.1-8b"))).result
    found = result.effective["max_num_seqs"].value
    assert found == Known(requests) if requests is not None else not isinstance(found, Known)


@pytest.mark.parametrize(
    ("release", "config", "left"),
    [
        ("0.16.0", WHOLE, None),
        ("0.17.0", WHOLE, 8192 - 64),
        ("0.27.1", WHOLE | {"parallel_drafting": True}, 8192 - 3 * 64),
        ("0.27.1", EAGLE | {"parallel_drafting": True}, 8192 - 2 * 64),
        ("0.27.1", EAGLE, 8192),
        ("0.28.0", WHOLE, 8192),
    ],
)
def test_drafts_take_tokens_of_a_step(release: str, config: dict[str, Any], left: int | None) -> None:
    found = in_force(
        case(release, config, "--max-num-batched-tokens", "8192", "--max-num-seqs", "64"), "max_num_scheduled_tokens"
    )
    assert found == (Known(left) if left is not None else None)


@pytest.mark.parametrize(
    ("config", "slots", "with_anchor", "lookahead"),
    [
        (NGRAM, 0, 0, 0),
        (EAGLE, 0, 0, 3),
        (WHOLE, 1, 1, 3),
        (EAGLE | {"parallel_drafting": True}, 2, 2, 3),
        (WHOLE | {"parallel_drafting": True}, 3, 3, 3),
        ({"method": "dflash", "model": "/models/d", "num_speculative_tokens": 3}, 2, 3, 4),
        ({"method": "dspark", "model": "/models/d", "num_speculative_tokens": 3}, 2, 2, 3),
    ],
)
def test_slots_and_lookahead(config: dict[str, Any], slots: int, with_anchor: int, lookahead: int) -> None:
    of = case("0.33.0", config)
    found = [derived(name, of) for name in ("draft_slots", "draft_slots_with_anchor", "lookahead_tokens")]
    assert found == [Known(slots), Known(with_anchor), Known(lookahead)]


def test_a_length_that_the_draft_says_is_not_known() -> None:
    of = case("0.33.0", {"method": "mtp"}, target=HYBRID_MTP)
    assert isinstance(derived("decode_step", of), Missing)
    assert derived("decode_step", case("0.33.0", None)) == Known(1)


@pytest.mark.parametrize(
    ("words", "largest"),
    [
        (("--max-cudagraph-capture-size", "42"), 40),
        (("--max-cudagraph-capture-size", "6"), 4),
        (("--max-cudagraph-capture-size", "255"), 248),
        (("--max-cudagraph-capture-size", "300"), 288),
        (("--cudagraph-capture-sizes", "7", "42"), 42),
        (("--cudagraph-capture-sizes", "7", "42", "--max-num-batched-tokens", "32"), 7),
        (("--compilation-config", '{"max_cudagraph_capture_size": 42}'), 40),
        (("--max-cudagraph-capture-size", "6", "--performance-mode", "interactivity"), 6),
        ((), None),
    ],
)
def test_the_largest_captured_size(words: tuple[str, ...], largest: int | None) -> None:
    assert derived("largest_graph_asked", case("0.28.0", NGRAM, *words)) == Known(largest)
    assert derived("graph_sizes_asked", case("0.28.0", NGRAM, *words)) == Known(largest is not None)


@pytest.mark.parametrize(
    ("release", "tokens", "words", "told"),
    [
        ("0.28.0", 6, ("--max-num-seqs", "6", "--max-cudagraph-capture-size", "42"), Severity.WARNING),
        ("0.28.0", 6, ("--max-num-seqs", "6", "--cudagraph-capture-sizes", "7", "42"), None),
        ("0.28.0", 6, ("--max-num-seqs", "5", "--max-cudagraph-capture-size", "42"), None),
        ("0.33.0", 3, ("--max-num-seqs", "6", "--max-cudagraph-capture-size", "6"), Severity.WARNING),
        ("0.27.1", 16, ("--max-num-seqs", "32"), Severity.WARNING),
        ("0.27.1", 16, ("--max-num-seqs", "30"), None),
        ("0.27.1", 16, (), None),
        ("0.27.1", 16, ("--max-num-seqs", "32", "--enforce-eager"), None),
        ("0.27.1", 16, ("--max-num-seqs", "32", "--max-num-batched-tokens", "512"), None),
        ("0.12.0", 3, ("--max-num-seqs", "32"), Severity.WARNING),
        ("0.13.0", 3, ("--max-num-seqs", "32"), None),
        ("0.10.2", 3, ("--max-num-seqs", "32", "--cuda-graph-sizes", "128"), None),
    ],
)
def test_decode_steps_wider_than_the_graphs(
    release: str, tokens: int, words: tuple[str, ...], told: Severity | None
) -> None:
    """A warning where the launch writes how many requests it serves, with sizes or without; steps end at their budget."""
    found = met(case(release, {"method": "ngram", "num_speculative_tokens": tokens}, *words))
    severities = {severity for name, severity in found.items() if name.startswith("vllm/graphs-below-decode")}
    assert severities == ({told} if told else set())


def test_the_default_limit_of_graphs_depends_on_the_gpu_from_0_28_0_on() -> None:
    config, words = {"method": "ngram", "num_speculative_tokens": 16}, ("--max-num-seqs", "32")
    rule = "vllm/graphs-below-decode-028"
    assert rule in met(case("0.28.0", config, *words, capability=9.0))
    assert rule not in met(case("0.28.0", config, *words, capability=10.3))
    assert rule in {n.constraint for n in judged(case("0.28.0", config, *words)).result.not_checked}


def test_tensor_parallelism_and_the_width_of_a_step_in_0_11_1() -> None:
    rule, flash = "vllm/graph-step-tensor-parallel", {"capability": 9.0}
    two = {"method": "ngram", "num_speculative_tokens": 2}
    assert rule in met(case("0.11.1", two, "-tp", "2", **flash))
    assert rule not in met(case("0.11.1", NGRAM, "-tp", "2", **flash))
    assert rule not in met(case("0.11.2", two, "-tp", "2", **flash))
    assert rule in {n.constraint for n in judged(case("0.11.1", two, "-tp", "2")).result.not_checked}


@pytest.mark.parametrize(
    ("release", "target", "refused"),
    [
        ("0.16.0", RECURRENT, True),
        ("0.16.0", RECURRENT | {"layer_types": ["attention"] * 8}, False),
        ("0.17.0", RECURRENT, False),
        ("0.10.1", RECURRENT | {"architectures": ["MambaForCausalLM"], "model_type": "mamba"}, True),
    ],
)
def test_speculation_on_a_target_with_recurrent_state(release: str, target: dict[str, Any], refused: bool) -> None:
    found = met(case(release, NGRAM, target=target))
    assert any(name.startswith("vllm/recurrent-target") for name in found) is refused


def test_prefix_caching_of_a_hybrid_target_is_on_by_default_where_reports_say_it_breaks() -> None:
    rule = "vllm/recurrent-prefix-reuse"
    assert met(case("0.28.0", MTP, target=HYBRID_MTP))[rule] is Severity.WARNING
    assert rule not in met(case("0.27.1", MTP, target=HYBRID_MTP))
    assert rule in met(case("0.27.1", MTP, "--enable-prefix-caching", target=HYBRID_MTP))
    assert rule not in met(case("0.28.0", MTP, "--no-enable-prefix-caching", target=HYBRID_MTP))
    assert rule not in met(case("0.28.0", NGRAM, target=HYBRID_MTP))
    assert rule in {n.constraint for n in judged(case("0.33.0", MTP, target=HYBRID_MTP)).result.not_checked}


DFLASH_DRAFT = {
    "architectures": ["DFlashDraftModel"], "model_type": "qwen3", "hidden_size": 64, "num_hidden_layers": 2,
    "num_attention_heads": 4, "vocab_size": 128256, "max_position_embeddings": 131072,
    "dflash_config": {"mask_token_id": 5, "target_layer_ids": [1, 3]},
}  # fmt: skip


def dflash(release: str, length: int, *more: str, **facts: Any) -> dict[str, Any]:
    config = {"method": "dflash", "model": "/models/dflash", "num_speculative_tokens": length}
    return case(release, config, *more, **facts) | {"draft": DFLASH_DRAFT}


@pytest.mark.parametrize(
    ("length", "scheduled"),
    [(7, OneOf((512, 2048))), (4, OneOf((1280, 5120)))],
)
def test_defaults_that_one_unknown_gpu_decides_are_taken_in_pairs(length: int, scheduled: Fact) -> None:
    of = dflash("0.27.0", length, platform="cuda")
    assert in_force(of, "max_num_scheduled_tokens") == scheduled
    (cut,) = [f for f in judged(of).findings if f.constraint == "vllm/draft-slots-cut-the-step"]
    assert "-" not in cut.message.partition("schedules ")[2]


@pytest.mark.parametrize("release", ["0.20.0", "0.27.1"])
@pytest.mark.parametrize("facts", [{}, {"memory": 24}, {"memory": 80}])
def test_defaults_that_leave_no_token_on_any_gpu_are_refused(release: str, facts: dict[str, Any]) -> None:
    found = met(dflash(release, 15, platform="cuda", **facts))
    assert found["vllm/draft-slots-leave-nothing"] is Severity.ERROR
    assert not {"vllm/draft-slots-cut-the-step", "vllm/few-scheduled-tokens"} & set(found)


def test_sizes_that_a_launch_writes_are_not_paired_with_defaults() -> None:
    found = met(dflash("0.27.0", 15, "--max-num-seqs", "128", platform="cuda"))
    assert "vllm/draft-slots-leave-nothing" not in found


@pytest.mark.parametrize(
    ("layers", "hybrid"), [(None, True), (["attention"] * 8, False), (["full_attention"] * 8, True), ([], False)]
)
def test_a_class_with_recurrent_layers_is_a_hybrid_unless_its_config_lists_attention_only(
    layers: list[str] | None, hybrid: bool
) -> None:
    target = {"architectures": ["GraniteMoeHybridForCausalLM"], "model_type": "granitemoehybrid", "layer_types": layers}
    assert derived("target_all_attention", case("0.25.0", None, target=target)) == Known(not hybrid)


QWEN_NEXT = {
    "architectures": ["Qwen3NextForCausalLM"], "model_type": "qwen3_next", "num_hidden_layers": 8, "hidden_size": 64,
    "num_attention_heads": 4, "vocab_size": 1024, "max_position_embeddings": 4096, "num_nextn_predict_layers": 1,
}  # fmt: skip


@pytest.mark.parametrize(
    ("release", "target", "kept"),
    [
        ("0.10.2", QWEN_NEXT, False),
        ("0.11.0", QWEN_NEXT, False),
        ("0.11.0", RECURRENT, False),
        ("0.11.1", QWEN_NEXT, False),
        ("0.14.1", QWEN_NEXT, False),
        ("0.14.1", RECURRENT, True),
        ("0.15.0", QWEN_NEXT, True),
    ],
)
def test_prefix_caching_of_a_hybrid_is_cleared_where_its_class_cannot_do_it(
    release: str, target: dict[str, Any], kept: bool
) -> None:
    of = case(release, NGRAM, "--enable-prefix-caching", target=target)
    assert in_force(of, "enable_prefix_caching") == Known(kept)


@pytest.mark.parametrize("release", ["0.23.0", "0.24.0"])
@pytest.mark.parametrize(("flags", "refused"), [(["--enable-prefix-caching"], True), ([], False)])
def test_the_v2_runner_does_not_align_the_states_of_a_hybrid(release: str, flags: list[str], refused: bool) -> None:
    of = case(release, MTP, *flags, target=QWEN_NEXT, env={"VLLM_USE_V2_MODEL_RUNNER": "1"})
    assert any(name.startswith("vllm/v2-runner-refuses") for name in met(of)) is refused


@pytest.mark.parametrize(
    ("release", "env", "chunked"),
    [("0.9.1", {}, True), ("0.10.0", {}, True), ("0.10.2", {"VLLM_USE_V1": "0"}, False), ("0.11.0", {}, True)],
)
def test_only_the_v1_engine_splits_prompts_whatever_is_written(
    release: str, env: dict[str, str], chunked: bool
) -> None:
    of = case(release, NGRAM | {"prompt_lookup_max": 3}, "--no-enable-chunked-prefill", env=env)
    assert in_force(of, "enable_chunked_prefill") == Known(chunked)


@pytest.mark.parametrize("release", ["0.9.1", "0.10.2", "0.11.0", "0.12.0"])
@pytest.mark.parametrize(("memory", "tokens", "requests"), [(80, 8192, 1024), (24, 2048, 256)])
def test_the_sizes_of_a_step_by_the_gpu(release: str, memory: int, tokens: int, requests: int) -> None:
    of = case(release, NGRAM | {"prompt_lookup_max": 3}, platform="cuda", memory=memory)
    assert in_force(of, "max_num_batched_tokens") == Known(tokens)
    assert in_force(of, "max_num_seqs") == Known(requests)
    assert in_force(of, "enable_prefix_caching") == Known(True)
