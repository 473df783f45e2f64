"""The method and the draft length that a release ends with: by what is written, the draft, and the served checkpoint."""

from __future__ import annotations

import json
from typing import Any

import pytest

from specconf.facts import Effective, Known, OneOf
from specconf.findings import Severity
from specconf.rules.judge import Judgement, judge_settings
from tests.engines.vllm.support import ENGINE, UNKNOWN, judged, launch, view

METHOD, LENGTH = "speculative_config.method", "speculative_config.num_speculative_tokens"
_SIZES: dict[str, Any] = {
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "vocab_size": 1024,
    "max_position_embeddings": 512,
}


def config(architecture: str, model_type: str, **more: Any) -> dict[str, Any]:
    return {"architectures": [architecture], "model_type": model_type, **_SIZES, **more}


LLAMA = config("LlamaForCausalLM", "llama")
MEDUSA = config("MedusaModel", "medusa")
DEEPSEEK = config("DeepseekV3ForCausalLM", "deepseek_v3", num_nextn_predict_layers=1)
MIMO = config("MiMoForCausalLM", "mimo", num_nextn_predict_layers=1)
NEMOTRON = config("NemotronHForCausalLM", "nemotron_h", num_nextn_predict_layers=0)
SPECULATORS: dict[str, Any] = {
    "architectures": ["Eagle3Speculator"],
    "speculators_model_type": "eagle3",
    "transformer_layer_config": {"model_type": "llama", "vocab_size": 1024},
    "speculators_config": {
        "algorithm": "eagle3",
        "verifier": {"name_or_path": "some/verifier"},
        "proposal_methods": [{"proposal_type": "greedy", "speculative_tokens": 3}],
    },
}


def run(release: str, written: dict[str, Any] | None, draft: Any = None, target: Any = LLAMA) -> Judgement:
    argv = ["vllm", "serve", "/models/target"]
    if written is not None:
        argv += ["--speculative-config", json.dumps(written)]
    return judged({"release": release, "argv": argv, "target": target, "draft": draft})


def in_force(judgement: Judgement, path: str = METHOD) -> Any:
    value = judgement.result.effective.get(path, Effective(Known(None), "")).value
    return value.value if isinstance(value, Known) else value


BY_NAME = [
    # An EAGLE-3 head is taken for EAGLE by its name, unless its method is written; from 0.10.2 on the name says eagle3.
    ("0.8.4", None, "eagle3-head", "draft_model"),
    ("0.8.4", "eagle3", "eagle3-head", "draft_model"),
    ("0.8.4", "eagle", "head", "draft_model"),
    ("0.8.5", None, "eagle3-head", "eagle"),
    ("0.8.5", "eagle3", "eagle3-head", "eagle3"),
    ("0.10.1.1", None, "eagle3-head", "eagle"),
    ("0.10.2", None, "eagle3-head", "eagle3"),
    ("0.16.0", "draft_model", "eagle-head", "eagle"),
    ("0.19.1", "draft_model", "qwen-dflash", "draft_model"),
    ("0.20.0", "draft_model", "qwen-dflash", "dflash"),
    ("0.24.0", "draft_model", "qwen-dspark", "draft_model"),
    ("0.25.0", "draft_model", "qwen-dspark", "dspark"),
    ("0.25.0", "draft_model", "eagle3-dflash-dspark", "eagle3"),
    ("0.33.0", "eagle", "eagle3-head", "eagle"),
    ("0.33.0", "dspark", "qwen-dflash", "dspark"),
    ("0.33.0", "ngram", "eagle-head", "ngram"),
]


@pytest.mark.parametrize(("release", "method", "name", "expected"), BY_NAME)
def test_the_name_of_the_draft_counts_more_than_most_methods(
    release: str, method: str | None, name: str, expected: str
) -> None:
    written = {"model": f"/models/{name}", "num_speculative_tokens": 2, **({"method": method} if method else {})}
    assert in_force(run(release, written, LLAMA)) == expected


BY_CONFIG = [
    ("0.8.2", None, MEDUSA, "medusa"),
    ("0.9.2", "draft_model", MEDUSA, "medusa"),
    ("0.32.0", "draft_model", MEDUSA, "medusa"),
    ("0.33.0", "draft_model", MEDUSA, "draft_model"),
    ("0.8.5", "medusa", LLAMA, "draft_model"),
    ("0.9.2", "deepseek_mtp", LLAMA, "draft_model"),
    ("0.9.2", None, DEEPSEEK, "deepseek_mtp"),
    ("0.9.2", None, MIMO, "draft_model"),
    ("0.10.0", None, MIMO, "deepseek_mtp"),
    ("0.11.0", None, MIMO, "mtp"),
    ("0.16.0", "draft_model", MIMO, "mtp"),
    ("0.33.0", None, MIMO, "mtp"),
    ("0.33.0", "eagle", MIMO, "eagle"),
    ("0.33.0", None, NEMOTRON, "draft_model"),
    ("0.33.0", None, {**NEMOTRON, "num_nextn_predict_layers": 1}, "mtp"),
    ("0.33.0", None, LLAMA, "draft_model"),
    ("0.33.0", None, config("MuseGlimmerAssistantModel", "muse"), "dflash"),
    ("0.25.1", None, config("Gemma4DSparkModel", "gemma4"), "draft_model"),
    ("0.26.0", None, config("Gemma4DSparkModel", "gemma4"), "dspark"),
    ("0.29.0", None, config("DSparkDraftModel", "qwen3"), "dspark"),
    ("0.29.0", None, config("DSparkDraftModel", "llama"), "draft_model"),
]


@pytest.mark.parametrize(("release", "method", "draft", "expected"), BY_CONFIG)
def test_the_config_of_the_draft_counts_more_than_most_methods(
    release: str, method: str | None, draft: dict[str, Any], expected: str
) -> None:
    written = {"model": "/models/d", "num_speculative_tokens": 1, **({"method": method} if method else {})}
    assert in_force(run(release, written, draft)) == expected


@pytest.mark.parametrize(
    ("release", "written", "target", "expected"),
    [
        ("0.9.2", {}, DEEPSEEK, "deepseek_mtp"),
        ("0.10.2", {}, config("Qwen3NextForCausalLM", "qwen3_next", num_nextn_predict_layers=1), "qwen3_next_mtp"),
        ("0.10.2", {}, config("Ernie4_5_MoeForCausalLM", "ernie4_5_moe", num_nextn_predict_layers=1), "ernie_mtp"),
        ("0.11.0", {"method": "mimo_mtp"}, MIMO, "mtp"),
        ("0.33.0", {"method": "mtp"}, MIMO, "mtp"),
    ],
)
def test_a_target_that_drafts_for_itself(release: str, written: dict[str, Any], target: Any, expected: str) -> None:
    assert in_force(run(release, {"num_speculative_tokens": 1, **written}, target=target)) == expected


def test_the_target_s_own_name_is_searched_where_it_drafts_for_itself() -> None:
    argv = ["vllm", "serve", "/models/mimo-dspark", "--speculative-config"]
    case = {"release": "0.33.0", "argv": [*argv, '{"method":"mtp","num_speculative_tokens":1}'], "target": MIMO}
    found = {f.constraint: f for f in judged(case).findings}
    assert "/models/mimo-dspark" in found["vllm/dspark-by-name"].message


@pytest.mark.parametrize(
    ("release", "method", "model", "expected"),
    [
        ("0.21.0", "draft_model", "Qwen3-0.6B", "draft_model"),
        ("0.22.0", "draft_model", "Qwen3-0.6B", "custom_class"),
        ("0.25.1", "ngram", "eagle-1.0", "custom_class"),
        ("0.26.0", "draft_model", "pkg.Mine", "draft_model"),
        ("0.26.0", None, "pkg.Mine", "custom_class"),
        ("0.33.0", None, "Qwen3-0.6B", "draft_model"),
    ],
)
def test_a_name_with_a_dot_may_be_taken_for_a_class(
    release: str, method: str | None, model: str, expected: str
) -> None:
    written = {"model": model, "num_speculative_tokens": 3, **({"method": method} if method else {})}
    assert in_force(run(release, written, LLAMA)) == expected


def test_before_there_was_a_key_the_draft_decides() -> None:
    argv = ["vllm", "serve", "/models/target", "--speculative-model", "/models/eagle-head"]
    for release, expected in (("0.7.2", "draft_model"), ("0.7.3", "eagle"), ("0.8.1", "eagle")):
        case = {"release": release, "argv": [*argv, "--num-speculative-tokens", "3"], "target": LLAMA, "draft": LLAMA}
        assert in_force(judged(case)) == expected
    case = {"release": "0.8.1", "argv": [*argv[:3], "--num-speculative-tokens", "1"], "target": DEEPSEEK}
    assert in_force(judged(case)) == "deepseek_mtp"


def unknown_draft(method: str | None) -> Judgement:
    written = {"model": "some/draft", "num_speculative_tokens": 1, **({"method": method} if method else {})}
    argv = ["vllm", "serve", "some/target", "--speculative-config", json.dumps(written)]
    at = view("0.33.0")
    return judge_settings(ENGINE.resolve(launch({"argv": argv}), at), ENGINE, at, UNKNOWN)


def test_a_draft_of_which_nothing_is_known_may_be_of_several_methods_unless_one_is_written() -> None:
    undecided = in_force(unknown_draft(None))
    assert isinstance(undecided, OneOf)
    assert {"draft_model", "mtp"} <= set(undecided.values)
    assert in_force(unknown_draft("draft_model")) == "draft_model"


LENGTHS = [
    ("0.11.1", {"method": "suffix"}, None, 24),
    ("0.33.0", {"method": "suffix", "suffix_decoding_max_tree_depth": 9}, None, 9),
    ("0.20.2", {"model": "/models/d"}, config("MLPSpeculator", "mlp_speculator", n_predict=3), 3),
    ("0.33.0", {"method": "dspark", "model": "/models/d"}, config("Qwen3DSparkModel", "qwen3", block_size=7), 7),
    ("0.33.0", {"method": "dspark", "model": "/models/d"}, config("X", "qwen3", dspark_block_size=5), 5),
    ("0.30.0", {"method": "dspark", "model": "/models/d"}, config("Qwen3DSparkModel", "qwen3", block_size=7), None),
    ("0.30.0", {"method": "dspark", "model": "/models/d"}, config("Gemma4DSparkModel", "gemma4", block_size=7), 7),
    ("0.33.0", {"method": "dflash", "model": "/models/d", "num_speculative_tokens": 4}, LLAMA, 4),
]


@pytest.mark.parametrize(("release", "written", "draft", "expected"), LENGTHS)
def test_the_length_that_is_filled_in(release: str, written: dict[str, Any], draft: Any, expected: int | None) -> None:
    judgement = run(release, written, draft)
    assert in_force(judgement, LENGTH) == expected
    assert any(f.code == "SC202" for f in judgement.errors) is (expected is None)


def test_the_window_of_an_n_gram_is_filled_in() -> None:
    def window(**keys: int) -> tuple[Any, Any]:
        judgement = run("0.33.0", {"method": "ngram", "num_speculative_tokens": 3, **keys})
        return tuple(in_force(judgement, f"speculative_config.prompt_lookup_{end}") for end in ("min", "max"))  # type: ignore[return-value]

    assert window() == (5, 5)
    assert window(prompt_lookup_max=4) == (4, 4)
    assert window(prompt_lookup_min=2) == (2, 2)
    assert window(prompt_lookup_min=2, prompt_lookup_max=4) == (2, 4)


@pytest.mark.parametrize(
    ("release", "written", "expected"),
    [
        ("0.10.1.1", None, ("eagle3", 3)),
        ("0.10.2", None, (None, None)),
        ("0.10.2", {"method": "ngram", "num_speculative_tokens": 7}, ("ngram", 7)),
        ("0.20.2", None, ("eagle3", 3)),
        ("0.20.2", {"method": "eagle", "num_speculative_tokens": 7}, ("eagle3", 3)),
        ("0.33.0", {"num_speculative_tokens": 7}, ("eagle3", 7)),
        ("0.33.0", {"method": "eagle", "num_speculative_tokens": 7}, ("eagle3", 7)),
    ],
)
def test_a_served_speculators_checkpoint_brings_its_speculation(
    release: str, written: dict[str, Any] | None, expected: tuple[str | None, int | None]
) -> None:
    judgement = run(release, written, target=SPECULATORS)
    assert (in_force(judgement), in_force(judgement, LENGTH)) == expected


def test_a_speculators_checkpoint_speculates_with_nothing_written() -> None:
    """Per-request metrics are refused where nothing speculates; here something does."""
    argv = ["vllm", "serve", "/models/target", "--per-request-spec-decode-metrics", "summary"]
    case = {"release": "0.33.0", "argv": argv}
    refused = "vllm/metrics-without-speculation"
    assert refused in {f.constraint for f in judged({**case, "target": LLAMA}).findings}
    assert refused not in {f.constraint for f in judged({**case, "target": SPECULATORS}).findings}


def test_peagle_is_eagle3_that_drafts_in_parallel() -> None:
    judgement = run("0.33.0", None, target={**SPECULATORS, "speculators_model_type": "peagle"})
    assert in_force(judgement) == "eagle3"
    assert in_force(judgement, "speculative_config.parallel_drafting") is True


def broken(**changed: Any) -> dict[str, Any]:
    return {**SPECULATORS, "speculators_config": {**SPECULATORS["speculators_config"], **changed}}


@pytest.mark.parametrize(
    ("target", "met"),
    [
        (SPECULATORS, False),
        (broken(proposal_methods=[]), True),
        (broken(proposal_methods=[{}]), True),
        (broken(verifier={}), True),
        ({k: v for k, v in SPECULATORS.items() if k != "speculators_model_type"}, True),
    ],
)
def test_what_a_speculators_checkpoint_may_lack(target: dict[str, Any], met: bool) -> None:
    found = {f.constraint for f in run("0.20.2", None, target=target).findings}
    assert ("vllm/speculators-structure" in found) is met


ADDITIONAL, GENERATION = "additional_config", "override_generation_config"


@pytest.mark.parametrize(
    ("option", "text", "expected"),
    [
        (
            ADDITIONAL,
            '{"method":"eagle3","num_speculative_tokens":3}',
            "no num_speculative_tokens in --additional-config",
        ),
        (
            ADDITIONAL,
            '{"method":"eagle3","num_speculative_tokrns":3}',
            "no num_speculative_tokrns in --additional-config",
        ),
        (ADDITIONAL, '{"num-speculative-tokens":3}', "no num-speculative-tokens in --additional-config"),
        (ADDITIONAL, '{"speculative_config":{"method":"ngram"}}', "no speculative_config in --additional-config"),
        (ADDITIONAL, '{"method":"suffix"}', "no method suffix in --additional-config"),
        (GENERATION, '{"num_speculative_tokens":3}', "no num_speculative_tokens in --override-generation-config"),
        (ADDITIONAL, '{"enable_graph":true,"method":"auto"}', None),
        (ADDITIONAL, '{"ascend_scheduler_config":{"enabled":true},"torchair_graph_config":{"enabled":true}}', None),
        (ADDITIONAL, '{"lmhead_tensor_parallel_size":2,"weight_prefetch_config":{}}', None),
        (GENERATION, '{"temperature":0.2,"max_new_tokens":64}', None),
    ],
)
def test_speculation_in_an_object_that_does_not_read_it_is_lost(option: str, text: str, expected: str | None) -> None:
    argv = ["vllm", "serve", "/models/target", f"--{option}", text]
    found = [f for f in judged({"release": "0.33.0", "argv": argv, "target": LLAMA}).findings if f.code == "SC106"]
    assert [f.severity for f in found] == ([Severity.ERROR] if expected else [])
    assert all(expected is not None and expected in f.message for f in found)


@pytest.mark.parametrize(("word", "meant"), [("eagel3", "eagle3"), ("n-gram", "ngram"), ("suffx", "suffix")])
def test_a_misspelt_method_is_told_which_was_meant(word: str, meant: str) -> None:
    judgement = run("0.33.0", {"method": word, "model": "/models/d", "num_speculative_tokens": 3}, LLAMA)
    assert [f.fix for f in judgement.errors if f.code == "SC103"] == [f"Did you mean {meant}?"]


def test_a_word_that_no_release_checked_is_no_error_of_its_value() -> None:
    """To 0.9.0.1 the method is not held against its annotation: an unknown word drafts with a plain model."""
    judgement = run("0.9.0.1", {"method": "medussa", "model": "/models/d", "num_speculative_tokens": 3}, LLAMA)
    assert in_force(judgement) == "draft_model"
    assert [f.code for f in judgement.errors] == []


def test_a_served_speculators_checkpoint_speculates_beside_a_misplaced_key() -> None:
    argv = ["vllm", "serve", "/models/target", "--additional-config", '{"num_speculative_tokens":3}']
    found = {f.constraint for f in judged({"release": "0.20.2", "argv": argv, "target": SPECULATORS}).findings}
    assert "vllm/speculation-in-additional-config" not in found


def test_a_json_word_where_a_release_reads_a_python_literal() -> None:
    judgement = run("0.8.2", {"method": "ngram", "num_speculative_tokens": None})
    assert [(f.code, f.fix) for f in judgement.errors] == [
        ("SC103", "Give --speculative-config a Python literal."),
    ]
    assert "takes a Python literal" in judgement.errors[0].message
