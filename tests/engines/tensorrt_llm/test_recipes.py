"""Launches of the shapes that people publish and run: what is right about them is not reported, what is wrong is."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from specconf.findings import Severity
from specconf.rules.judge import Judgement
from specconf.rules.probes import run_probe
from tests.engines.tensorrt_llm.support import DB, ENGINE

DEEPSEEK = {
    "architectures": ["DeepseekV3ForCausalLM"],
    "model_type": "deepseek_v3",
    "num_hidden_layers": 61,
    "vocab_size": 129280,
    "kv_lora_rank": 512,
    "num_nextn_predict_layers": 1,
}
GPT_OSS = {
    "architectures": ["GptOssForCausalLM"],
    "model_type": "gpt_oss",
    "num_hidden_layers": 36,
    "vocab_size": 201088,
    "layer_types": ["sliding_attention", "full_attention"] * 18,
}
HEAD = {
    "architectures": ["LlamaForCausalLMEagle3"],
    "model_type": "llama",
    "num_hidden_layers": 1,
    "vocab_size": 201088,
    "draft_vocab_size": 32000,
}
MODELS: dict[str, dict[str, Any]] = {
    "deepseek": {"target": DEEPSEEK},
    "gpt-oss": {"target": GPT_OSS, "draft": HEAD},
}
OLD_FLAG, NEW_FLAG = "--extra_llm_api_options", "--config"


def judged(
    release: str, models: str, config: dict[str, Any], *flags: str, env: dict[str, str] | None = None
) -> Judgement:
    flag = OLD_FLAG if release.startswith(("0.", "1.0", "1.1", "1.2.0rc")) else NEW_FLAG
    argv = ["trtllm-serve", "org/target", "--backend", "pytorch", *flags, flag, "llm.yaml"]
    probe = {"release": release, "argv": argv, "env": env or {}, "files": {"llm.yaml": yaml.safe_dump(config)}}
    return run_probe(DB, ENGINE, {**probe, **MODELS[models]})[1]


def eagle(tag: str, key: str, length: int = 3, **more: Any) -> dict[str, Any]:
    return {"decoding_type": tag, "max_draft_len": length, key: "/models/head", **more}


LATENCY = {
    "enable_attention_dp": False,
    "disable_overlap_scheduler": False,
    "enable_autotuner": False,
    "cuda_graph_config": {"max_batch_size": 1},
    "kv_cache_config": {"free_gpu_memory_fraction": 0.9, "enable_block_reuse": False},
}
SERVED = {
    "cuda_graph_config": {"enable_padding": True, "max_batch_size": 256},
    "kv_cache_config": {"dtype": "fp8", "enable_block_reuse": True, "free_gpu_memory_fraction": 0.9},
    "moe_config": {"backend": "TRTLLM"},
    "max_seq_len": 131072,
    "max_batch_size": 256,
    "enable_chunked_prefill": True,
    "print_iter_log": True,
}


@pytest.mark.parametrize(
    ("release", "models", "config"),
    [
        ("1.0.0", "gpt-oss", {**LATENCY, "speculative_config": eagle("Eagle", "speculative_model_dir")}),
        ("1.1.0rc2", "gpt-oss", {**LATENCY, "speculative_config": eagle("Eagle", "speculative_model_dir")}),
        ("1.2.0rc6", "gpt-oss", {**LATENCY, "speculative_config": eagle("Eagle", "speculative_model_dir", 5)}),
        ("1.3.0rc12", "gpt-oss", {**LATENCY, "speculative_config": eagle("Eagle", "speculative_model_dir", 5)}),
        (
            "1.3.0rc14",
            "gpt-oss",
            {
                **SERVED,
                "speculative_config": eagle(
                    "Eagle3", "speculative_model", eagle3_one_model=True, eagle3_layers_to_capture=[23, 29, 35]
                ),
            },
        ),
        (
            "1.2.1",
            "deepseek",
            {**SERVED, "speculative_config": {"decoding_type": "MTP", "num_nextn_predict_layers": 3}},
        ),
        (
            "1.3.0rc14",
            "deepseek",
            {**SERVED, "speculative_config": {"decoding_type": "MTP", "num_nextn_predict_layers": 3}},
        ),
        (
            "1.3.0rc18",
            "deepseek",
            {**SERVED, "speculative_config": {"decoding_type": "MTP", "max_draft_len": 3, "use_mtp_vanilla": False}},
        ),
        (
            "1.3.0rc22.post1",
            "deepseek",
            {
                **SERVED,
                "speculative_config": {"decoding_type": "MTP", "max_draft_len": 5, "num_nextn_predict_layers": 5},
            },
        ),
        ("1.3.0rc24", "deepseek", {**SERVED, "speculative_config": {"decoding_type": "MTP", "max_draft_len": 7}}),
        (
            "1.3.0rc29",
            "gpt-oss",
            {
                **SERVED,
                "kv_cache_config": {
                    "enable_block_reuse": True,
                    "tokens_per_block": 128,
                    "use_kv_cache_manager_v2": True,
                },
                "speculative_config": eagle("Eagle3", "speculative_model"),
            },
        ),
        ("1.4.0rc1", "gpt-oss", {**SERVED, "speculative_config": eagle("Eagle3", "speculative_model")}),
        ("1.4.0rc1", "deepseek", {"speculative_config": {"decoding_type": "SA", "max_draft_len": 4}}),
        (
            "1.2.1",
            "deepseek",
            {"speculative_config": {"decoding_type": "NGram", "max_draft_len": 3, "max_matching_ngram_size": 2}},
        ),
    ],
)
def test_what_people_run_is_not_refused(release: str, models: str, config: dict[str, Any]) -> None:
    findings = judged(release, models, config).findings
    assert [(f.constraint, f.message) for f in findings if f.severity is Severity.ERROR] == []


def test_two_lengths_of_mtp_that_agree_are_not_reported_as_different() -> None:
    speculative = {"decoding_type": "MTP", "max_draft_len": 3, "num_nextn_predict_layers": 3}
    for release in ("1.2.1", "1.3.0rc14", "1.3.0rc24", "1.4.0rc1"):
        found = {f.constraint for f in judged(release, "deepseek", {"speculative_config": speculative}).findings}
        assert not found & {"tensorrt-llm/mtp-nextn-wins", "tensorrt-llm/mtp-max-draft-len-wins"}, release


@pytest.mark.parametrize(
    ("value", "wrong"), [("1.78", True), ("2", True), ("0", False), ("0.0", False), ("off", False)]
)
def test_a_benchmark_that_fakes_acceptance_is_told_apart(value: str, wrong: bool) -> None:
    env = {"TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS": value}
    config = {"speculative_config": eagle("Eagle3", "speculative_model")}
    found = {f.constraint for f in judged("1.3.0rc29", "gpt-oss", config, env=env).findings}
    assert ("tensorrt-llm/forced-acceptance" in found) is wrong


@pytest.mark.parametrize(
    ("release", "config", "constraint"),
    [
        # The newest feature page still writes the tag of 1.2.
        ("1.4.0rc1", eagle("DraftTarget", "speculative_model"), "draft-target-old-tag"),
        ("1.2.1", eagle("Eagle3", "speculative_model"), "eagle3-tag-before-1-3"),
        ("1.3.0rc29", eagle("Eagle3", "speculative_model", eagle3_one_model=False), "eagle3-two-model-removed"),
        ("1.3.0rc14", {"decoding_type": "MTP", "max_draft_len": 3}, "mtp-nextn-wins"),
        ("1.3.0rc24", eagle("Eagle3", "speculative_model", dynamic_tree_max_topK=4), "topk-without-tree-ignored"),
        (
            "1.3.0rc14",
            eagle("Eagle3", "speculative_model", draft_len_schedule={1: 3, 8: 0}),
            "schedule-written-as-lower-bounds",
        ),
        ("1.2.1", eagle("Eagle", "speculative_model", draft_len_schedule={8: 3}), "schedule-without-batch-one"),
    ],
)
def test_what_breaks_at_an_upgrade_is_said(release: str, config: dict[str, Any], constraint: str) -> None:
    found = {f.constraint for f in judged(release, "gpt-oss", {"speculative_config": config}).findings}
    assert f"tensorrt-llm/{constraint}" in found
