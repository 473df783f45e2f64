"""Checkpoints of the speculators library, and other launches whose rules ask a derived fact of what is written."""

from __future__ import annotations

import json
from typing import Any

import pytest

from specconf.facts import Effective, Known
from specconf.rules.checker import CheckResult
from tests.engines.vllm.support import judged

SIZES = {"hidden_size": 64, "num_attention_heads": 4, "vocab_size": 1024, "max_position_embeddings": 512}
TARGET = SIZES | {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "num_hidden_layers": 8}


def head(verifier: str = "LlamaForCausalLM", tokens: int | None = 3) -> dict[str, Any]:
    return {
        "architectures": ["Eagle3Speculator"],
        "model_type": "speculator_model",
        "speculators_model_type": "eagle3",
        "draft_vocab_size": 768,
        "transformer_layer_config": SIZES | {"model_type": "llama"},
        "speculators_config": {
            "algorithm": "eagle3",
            "verifier": {"name_or_path": "some/verifier", "architectures": [verifier]},
            "proposal_methods": [{"proposal_type": "greedy", "speculative_tokens": tokens}],
        },
    }


def served(release: str, config: dict[str, Any]) -> CheckResult:
    return judged({"release": release, "argv": ["vllm", "serve", "/models/head"], "target": config}).result


def drafting(release: str, target: dict[str, Any], config: dict[str, Any]) -> set[str]:
    spec = '{"method":"eagle3","model":"/models/head","num_speculative_tokens":3}'
    argv = ["vllm", "serve", "/models/target", "--speculative-config", spec]
    result = judged({"release": release, "argv": argv, "target": target, "draft": config}).result
    return {f.constraint for f in result.findings}


@pytest.mark.parametrize("release", ["0.10.1", "0.11.0", "0.20.0", "0.33.0"])
def test_a_served_head_is_not_judged_as_if_it_were_the_target(release: str) -> None:
    result = served(release, head())
    assert not result.findings
    assert result.effective["model"] == Effective(Known("some/verifier"), "vllm/speculators-verifier-served")
    assert result.effective["speculative_config.model"].value == Known("/models/head")


@pytest.mark.parametrize("release", ["0.4.1", "0.9.2", "0.10.0"])
def test_older_releases_do_not_know_the_format(release: str) -> None:
    argv = ["python", "-m", "vllm.entrypoints.openai.api_server", "--model", "/models/head"]
    result = judged({"release": release, "argv": argv, "target": head()}).result
    assert "vllm/speculators-format-unknown" in {f.constraint for f in result.findings}


def test_a_number_of_tokens_must_be_there_only_where_it_is_taken_from_the_checkpoint() -> None:
    assert "vllm/speculators-structure" in {f.constraint for f in served("0.12.0", head(tokens=None)).findings}
    assert "vllm/speculators-structure-draft" not in drafting("0.12.0", TARGET, head(tokens=None))


@pytest.mark.parametrize(
    ("verifier", "other"),
    [("LlamaForCausalLM", False), ("LlamaForConditionalGeneration", False), ("Qwen3ForCausalLM", True)],
)
def test_a_head_is_another_models_where_it_names_another_family(verifier: str, *, other: bool) -> None:
    assert ("vllm/head-made-for-another" in drafting("0.33.0", TARGET, head(verifier))) is other


@pytest.mark.parametrize(
    ("tree", "branches"),
    [("[(0,),(1,)]", True), ("[(0,),(0,0)]", False), (None, False), ("[(0,", None)],
)
def test_a_tree_branches_where_two_tokens_share_a_depth(tree: str | None, branches: bool | None) -> None:
    config = {"method": "eagle3", "model": "/models/head", "num_speculative_tokens": 2, "speculative_token_tree": tree}
    argv = ["vllm", "serve", "/models/target", "--speculative-config", json.dumps(config)]
    result = judged({"release": "0.20.2", "argv": argv, "target": TARGET, "draft": head()}).result
    name = "vllm/token-tree-without-backend-013"
    assert (name in {f.constraint for f in result.findings}) is (branches is True)
    assert (name in {n.constraint for n in result.not_checked}) is (branches is None)


@pytest.mark.parametrize(("features", "told"), [(["lora"], True), (["streaming"], False), (None, False)])
def test_adapters_are_served_where_a_spec_lists_them(features: list[str] | None, *, told: bool) -> None:
    spec = '{"method":"ngram","num_speculative_tokens":3}'
    given: dict[str, Any] = {"argv": ["vllm", "serve", "/models/target", "--speculative-config", spec]}
    facts = {"facts": {"features": features}} if features else {}
    result = judged({"release": "0.33.0", "target": TARGET, **given, **facts}).result
    assert ("vllm/lora-not-documented" in {f.constraint for f in result.findings}) is told


@pytest.mark.parametrize(("name", "refused"), [("FLASH_ATTN", False), ("FLASH_ATTN_VLLM_V1", True), ("NONE", True)])
@pytest.mark.parametrize("release", ["0.11.0", "0.12.0"])
def test_a_backend_with_the_old_ending_is_refused(release: str, name: str, *, refused: bool) -> None:
    env = {"VLLM_ATTENTION_BACKEND": name}
    result = judged({"release": release, "argv": ["vllm", "serve", "/m"], "env": env, "target": TARGET}).result
    assert ("vllm/attention-backend-variable-refused-011" in {f.constraint for f in result.findings}) is refused


def test_a_classifier_has_the_class_of_its_language_model() -> None:
    target = TARGET | {"architectures": ["Qwen3ForSequenceClassification"], "model_type": "qwen3"}
    for release in ("0.9.2", "0.10.0", "0.10.2", "0.33.0"):
        result = judged({"release": release, "argv": ["vllm", "serve", "/m"], "target": target}).result
        assert "SC307" not in {f.code for f in result.findings}
