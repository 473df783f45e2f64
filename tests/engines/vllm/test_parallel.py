"""Parallel layouts and features beside speculation: what the derived facts tell apart, and what must not be told."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from specconf.engines.vllm.derived import DERIVATIONS
from specconf.facts import Facts, Known, Missing
from specconf.models import model_facts
from specconf.models.view import model_view
from specconf.rules.judge import Judgement, judge_settings
from tests.engines.vllm.support import ENGINE, UNKNOWN, judged, launch, view

DENSE: dict[str, Any] = {
    "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 64, "num_hidden_layers": 8,
    "num_attention_heads": 4, "vocab_size": 1024, "max_position_embeddings": 512,
}  # fmt: skip
MIMO = DENSE | {"architectures": ["MiMoForCausalLM"], "model_type": "mimo", "num_nextn_predict_layers": 1}
DEEPSEEK = DENSE | {"architectures": ["DeepseekV3ForCausalLM"], "model_type": "deepseek_v3", "n_routed_experts": 8,
                    "num_nextn_predict_layers": 1}  # fmt: skip
HEAD = DENSE | {"architectures": ["LlamaForCausalLMEagle3"], "draft_vocab_size": 768}
CASES = [
    (DENSE, Known(0)),
    (DENSE | {"num_experts": 8}, Known(8)),
    (DENSE | {"num_experts": None}, Known(0)),
    (DENSE | {"moe_num_experts": [64, 64]}, Known(64)),
    (DENSE | {"text_config": {"num_local_experts": 16}}, Known(16)),
    (DENSE | {"ffn_config": {"moe_num_experts": 16}}, None),
    (DENSE | {"block_configs": [{"block_type": "moe", "n_routed_experts": 8}]}, None),
    (DENSE | {"expert_count": 8}, None),
]


def case(release: str, config: Mapping[str, Any] | None, *flags: str, **more: Any) -> dict[str, Any]:
    """A launch with a speculative config."""
    speculation = ["--speculative-config", json.dumps(config)] if config else []
    return {
        "release": release,
        "argv": ["vllm", "serve", "/models/target", *speculation, *flags],
        "target": DENSE,
        **more,
    }


def ids(given: Mapping[str, Any]) -> set[str]:
    return {str(finding.constraint).removeprefix("vllm/") for finding in judged(given).findings}


def judged_without_configs(given: Mapping[str, Any]) -> Judgement:
    at = view(given["release"])
    return judge_settings(ENGINE.resolve(launch(given), at), ENGINE, at, UNKNOWN)


@pytest.mark.parametrize(("config", "expected"), CASES)
def test_experts_of_a_target(config: dict[str, Any], expected: Known | None) -> None:
    """A config that speaks of experts in another way than the engine's keys is neither dense nor counted."""

    class Only(Facts):
        def __init__(self) -> None:
            self.target = model_view("target", model_facts(config))

        def get(self, path: str) -> Any:
            return self.target.fact(path.removeprefix("target."))

    found = DERIVATIONS["target_experts"](Only())
    assert found == expected if expected is not None else isinstance(found, Missing)


@pytest.mark.parametrize(
    ("release", "target", "refused"),
    [("0.13.0", MIMO, True), ("0.13.0", DEEPSEEK, False), ("0.14.0", DEEPSEEK, True), ("0.30.0", DEEPSEEK, False)],
)
def test_mtp_over_pipeline_stages_is_refused_where_the_draft_class_does_not_take_them(
    release: str, target: dict[str, Any], refused: bool
) -> None:
    given = case(release, {"method": "mtp", "num_speculative_tokens": 1}, "-pp", "2", target=target)
    assert ("mtp-pipeline-parallel" in ids(given)) is refused
    assert ("pipeline-parallel-no-drafter" in ids(given)) is (release == "0.13.0" and not refused)


@pytest.mark.parametrize(
    ("target", "dies"),
    [
        (MIMO, False),
        (DEEPSEEK, False),
        (DENSE | {"architectures": ["Qwen3NextForCausalLM"], "model_type": "qwen3_next", "num_experts": 8}, True),
    ],
)
@pytest.mark.parametrize("release", ["0.30.0", "0.33.0"])
def test_mtp_over_pipeline_stages_on_the_v2_runner_dies_where_the_draft_class_awaits_an_earlier_stage(
    release: str, target: dict[str, Any], dies: bool
) -> None:
    found = judged(case(release, {"method": "mtp", "num_speculative_tokens": 1}, "-pp", "2", target=target)).findings
    said = {f.constraint for f in found if "stage" in f.message}
    assert said == ({"vllm/mtp-awaits-an-earlier-stage"} if dies else set())


@pytest.mark.parametrize(("release", "refused"), [("0.19.1", False), ("0.20.0", True), ("0.30.0", False)])
def test_the_pipeline_size_of_a_dflash_draft_is_no_matter_where_there_is_no_dflash(release: str, refused: bool) -> None:
    given = case(release, {"method": "dflash", "model": "/models/d", "num_speculative_tokens": 3}, "-pp", "2")
    assert ("draft-pipeline-parallel" in ids(given)) is refused


@pytest.mark.parametrize(("release", "refused"), [("0.32.0", True), ("0.33.0", False)])
def test_a_head_that_reads_no_hidden_states_needs_no_relay_from_0_33_0_on(release: str, refused: bool) -> None:
    target = DENSE | {"architectures": ["Qwen3MoeForCausalLM"], "model_type": "qwen3_moe", "num_experts": 8}
    config = {"method": "eagle3", "model": "/models/head", "num_speculative_tokens": 3}
    own = HEAD | {"eagle_config": {"use_aux_hidden_state": False}}
    found = {name for name in ids(case(release, config, "-pp", "2", target=target, draft=own)) if "not-relayed" in name}
    assert bool(found) is refused
    assert any("not-relayed" in name for name in ids(case(release, config, "-pp", "2", target=target, draft=HEAD)))


@pytest.mark.parametrize(
    ("release", "method", "env", "dies"),
    [
        ("0.10.2", "ngram", {}, False),
        ("0.11.0", "ngram", {}, True),
        ("0.20.2", "ngram", {}, True),
        ("0.31.0", "ngram", {}, True),
        ("0.33.0", "ngram", {}, False),
        ("0.33.0", "ngram", {"VLLM_USE_V2_MODEL_RUNNER": "0"}, True),
        ("0.33.0", "suffix", {}, True),
    ],
)
def test_the_v1_runner_dies_where_a_stage_has_no_drafter(
    release: str, method: str, env: dict[str, str], dies: bool
) -> None:
    found = ids(case(release, {"method": method, "num_speculative_tokens": 3}, "-pp", "2", env=env))
    assert any(name.startswith("pipeline-parallel-no-drafter") for name in found) is dies


@pytest.mark.parametrize(("release", "refused"), [("0.29.0", False), ("0.30.0", True), ("0.31.0", False)])
def test_one_release_asks_a_dense_draft_for_expert_parallelism(release: str, refused: bool) -> None:
    speculation = {"method": "eagle3", "model": "/models/head", "num_speculative_tokens": 3}
    given = case(release, speculation, "--enable-expert-parallel", target=DEEPSEEK, draft=HEAD)
    assert ("expert-parallel-dense-draft" in ids(given)) is refused


def test_rules_about_experts_and_heads_say_nothing_of_an_unknown_target() -> None:
    given = case("0.33.0", None, "--enable-expert-parallel", "-tp", "3", "--max-model-len", "1024")
    judgement = judged_without_configs(given)
    assert not judgement.findings
    assert {"vllm/expert-parallel-dense-target", "vllm/tensor-parallel-heads", "vllm/max-length-above-target-030"} <= {
        n.constraint for n in judgement.result.not_checked
    }


@pytest.mark.parametrize(
    ("target", "flags", "env"),
    [
        (
            DENSE | {"rope_scaling": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 512}},
            [],
            {},
        ),
        (DENSE | {"model_max_length": 4096}, [], {}),
        (DENSE, ["--hf-overrides", '{"max_position_embeddings": 4096}'], {}),
        (DENSE, [], {"VLLM_ALLOW_LONG_MAX_MODEL_LEN": "1"}),
    ],
)
def test_a_length_that_something_else_may_allow_is_not_refused(
    target: dict[str, Any], flags: list[str], env: dict[str, str]
) -> None:
    given = case("0.33.0", None, "--max-model-len", "1024", *flags, target=target, env=env)
    assert "max-length-above-target" not in ids(given)


@pytest.mark.parametrize(
    ("flags", "target", "missing"),
    [
        ([], DENSE, True),
        ([], DENSE | {"eagle_aux_hidden_state_layer_ids": [1, 2]}, False),
        (
            ["--speculative-config.draft_model_config.hf_config.eagle_aux_hidden_state_layer_ids", "[1, 2]"],
            DENSE,
            False,
        ),
    ],
)
def test_where_the_layers_of_hidden_states_can_stand(flags: list[str], target: dict[str, Any], missing: bool) -> None:
    method = [
        "--speculative-config.method",
        "extract_hidden_states",
        "--speculative-config.num_speculative_tokens",
        "1",
    ]
    given = case("0.33.0", None, *method, *flags, target=target)
    assert ("hidden-states-without-layers" in ids(given)) is missing
