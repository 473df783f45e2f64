"""Numbers of a round, adaptive mode with its file, environment variables, and captured states: what a launch ends up with."""

from __future__ import annotations

import json
from typing import Any

import pytest

from specconf.compat.database import Database
from specconf.engines.base import default_fact
from specconf.engines.sglang import ENGINE
from specconf.facts import Context, Fact, Facts, Known, Missing, as_fact
from specconf.findings import Severity
from specconf.readers.launches import find_launches
from specconf.rules.judge import Judgement, judge_settings
from tests.engines.sglang.support import UNKNOWN_MODELS, models_of, resolve

LLAMA = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "vocab_size": 1024}
QWEN = {"architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3", "vocab_size": 1024}
HEAD = {"architectures": ["LlamaForCausalLMEagle3"], "model_type": "llama", "vocab_size": 1024, "draft_vocab_size": 512}
EAGLE3 = ("--model-path", "t", "--speculative-algorithm", "EAGLE3", "--speculative-draft-model-path", "d")
CHAIN = ("--speculative-num-steps", "3", "--speculative-eagle-topk", "1", "--speculative-num-draft-tokens", "4")
FILE = ("--speculative-adaptive", "--speculative-adaptive-config", "a.json")


def judged(database: Database, release: str, *argv: str, target: dict[str, Any] = LLAMA, **around: Any) -> Judgement:
    view = database.at(release)
    return judge_settings(resolve(view, *argv, **around), ENGINE, view, models_of(target, HEAD))


def in_force(judgement: Judgement, path: str) -> Fact:
    item = judgement.result.effective.get(path)
    return as_fact(path, judgement.settings[path]) if item is None else item.value


def found(judgement: Judgement) -> set[str]:
    return {finding.constraint for finding in judgement.findings}


def derived(database: Database, name: str, *argv: str, release: str = "0.5.23", **around: Any) -> Fact:
    view = database.at(release)
    settings = resolve(view, *argv, **around)
    context = Context(UNKNOWN_MODELS.target, UNKNOWN_MODELS.draft, {})
    facts = Facts(settings, context, default=default_fact(view), derivations=ENGINE.derivations)
    return facts.get(f"derived.{name}")


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ('{"1": {"candidate_steps": [2, 4]}}', None),
        ('{"ema_alpha": 0.2, "8": {"candidate_steps": [0]}}', None),
        ('{"candidate_steps": [1, 3]}', "it has no entry under a batch size"),
        ('{"1": {"candidate_steps": []}}', "the entry 1 has no list of steps"),
        ('{"1": {}}', "the entry 1 has no list of steps"),
        ('{"8": {"candidate_steps": [1, -1]}}', "the entry 8 has steps that are no whole numbers from 0 on"),
        ('{"1": {"candidate_steps": [1.5]}}', "the entry 1 has steps that are no whole numbers from 0 on"),
        ('{"1": [1, 3]}', "the entry 1 is no object"),
        ("[1, 3]", "it is no JSON object"),
        ("{", "it is not JSON"),
    ],
)  # fmt: skip
def test_a_fault_of_the_adaptive_file_is_told(database: Database, content: str, fault: str | None) -> None:
    assert derived(database, "adaptive_file_fault", *EAGLE3, *FILE, files={"a.json": content}) == Known(fault)


def test_steps_of_all_entries_count_once_and_in_order(database: Database) -> None:
    content = json.dumps(
        {"8": {"candidate_steps": [2, 0]}, "1": {"candidate_steps": [6, 2]}, "note": {"candidate_steps": [9]}}
    )
    assert derived(database, "adaptive_steps", *EAGLE3, *FILE, files={"a.json": content}) == Known([0, 2, 6])
    assert derived(database, "adaptive_middle_step", *EAGLE3, *FILE, files={"a.json": content}) == Known(2)


@pytest.mark.parametrize("name", ["adaptive_file_fault", "adaptive_steps", "adaptive_by_batch", "adaptive_flat_steps"])
def test_nothing_is_known_of_a_file_that_is_not_here(database: Database, name: str) -> None:
    assert isinstance(derived(database, name, *EAGLE3, *FILE), Missing)


def test_steps_of_an_unsound_file_are_not_known(database: Database) -> None:
    assert isinstance(derived(database, "adaptive_steps", *EAGLE3, *FILE, files={"a.json": "[]"}), Missing)


def test_adaptive_mode_is_judged_by_the_chosen_numbers_to_0_5_13(database: Database) -> None:
    """Its check came after the numbers were chosen, and comes before that since 0.5.14."""
    adaptive = (*EAGLE3, "--speculative-adaptive")
    chain = judged(database, "0.5.13.post1", *adaptive, target=QWEN)
    tree = judged(database, "0.5.13.post1", *adaptive, target=LLAMA)
    newer = judged(database, "0.5.14", *adaptive, target=LLAMA)
    assert in_force(chain, "speculative_adaptive") == Known(True)
    assert in_force(tree, "speculative_adaptive") == Known(False)
    assert in_force(tree, "speculative_eagle_topk") == Known(4)
    assert in_force(newer, "speculative_adaptive") == Known(True)
    assert [in_force(newer, f"speculative_{name}") for name in ("num_steps", "eagle_topk", "num_draft_tokens")] == [
        Known(3),
        Known(1),
        Known(4),
    ]


def test_adaptive_mode_starts_in_the_middle_of_the_file(database: Database) -> None:
    content = {"a.json": '{"1": {"candidate_steps": [2, 4]}}'}
    judgement = judged(database, "0.5.23", *EAGLE3, *FILE, files=content)
    assert in_force(judgement, "speculative_num_steps") == Known(4)
    assert in_force(judgement, "speculative_num_draft_tokens") == Known(5)


@pytest.mark.parametrize(("value", "read"), [("2.5", 2.5), ("-1", -1.0), ("two", -1.0), ("", -1.0)])
def test_a_simulated_length_that_is_no_number_counts_as_off(database: Database, value: str, read: float) -> None:
    around = {"env": {"SGLANG_SIMULATE_ACC_LEN": value}}
    assert derived(database, "simulated_acceptance", *EAGLE3, **around) == Known(read)


@pytest.mark.parametrize(("value", "on"), [("1", True), ("Yes", True), ("0", False), ("perhaps", False)])
def test_a_switch_that_is_no_boolean_counts_as_off(database: Database, value: str, on: bool) -> None:
    around = {"env": {"SGLANG_ENABLE_DP_SPEC_PREFILL_COORDINATION": value}}
    assert derived(database, "prefill_coordination", *EAGLE3, **around) == Known(on)


def test_simulated_acceptance_is_an_error(database: Database) -> None:
    judgement = judged(database, "0.5.23", *EAGLE3, *CHAIN, env={"SGLANG_SIMULATE_ACC_LEN": "3"})
    assert [f.severity for f in judgement.findings if f.constraint == "sglang/simulated-acceptance-all"] == [
        Severity.ERROR
    ]


def test_the_word_none_is_no_unknown_algorithm(database: Database) -> None:
    judgement = judged(database, "0.5.23", "--model-path", "t", "--speculative-algorithm", "none")
    assert "sglang/algorithm-none" in found(judgement)
    assert not judgement.errors


def test_a_word_in_lower_case_is_no_alarm(database: Database) -> None:
    argv = ["eagle3" if word == "EAGLE3" else word for word in EAGLE3]
    judgement = judged(database, "0.5.23", *argv, *CHAIN)
    assert [f.severity for f in judgement.findings if f.constraint == "sglang/algorithm-upper-cased"] == [Severity.INFO]


def test_a_word_that_a_plugin_may_have_registered_is_not_refused(database: Database) -> None:
    argv = ("--model-path", "t", "--speculative-algorithm", "OURS")
    assert "sglang/unknown-algorithm" in found(judged(database, "0.5.23", *argv))
    assert "sglang/unknown-algorithm" not in found(judged(database, "0.5.23", *argv, env={"SGLANG_PLUGINS": "ours"}))


@pytest.mark.parametrize(("tokens", "dies"), [("5", False), ("6", True)])
def test_a_tree_of_one_step_holds_its_root_and_topk_tokens(database: Database, tokens: str, dies: bool) -> None:
    numbers = (
        "--speculative-num-steps",
        "1",
        "--speculative-eagle-topk",
        "4",
        "--speculative-num-draft-tokens",
        tokens,
    )
    judgement = judged(database, "0.5.23", *EAGLE3, *numbers)
    assert ("sglang/tree-too-small" in found(judgement)) is dies


@pytest.mark.parametrize(("tokens", "dies"), [("21", False), ("22", True)])
def test_every_further_step_adds_topk_squared(database: Database, tokens: str, dies: bool) -> None:
    numbers = (
        "--speculative-num-steps",
        "2",
        "--speculative-eagle-topk",
        "4",
        "--speculative-num-draft-tokens",
        tokens,
    )
    judgement = judged(database, "0.5.23", *EAGLE3, *numbers)
    assert ("sglang/tree-too-small" in found(judgement)) is dies


def test_captured_states_leave_no_algorithm(database: Database) -> None:
    argv = ("--model-path", "t", "--speculative-algorithm", "eagle3", "--enable-return-aux-hidden-states")
    judgement = judged(database, "0.5.23", *argv)
    assert in_force(judgement, "speculative_algorithm") == Known(None)
    assert "sglang/capture-drafts-nothing" in found(judgement)


@pytest.mark.parametrize(
    ("layers", "fault"), [(("2", "8"), None), (("2", "2"), "names one twice"), (("-1",), "names a negative one")]
)
def test_layers_to_capture_are_named_once_and_from_0(
    database: Database, layers: tuple[str, ...], fault: str | None
) -> None:
    argv = ("--model-path", "t", "--return-aux-hidden-state-layer-ids", *layers)
    assert derived(database, "capture_layers_fault", *argv) == Known(fault)


def test_block_verification_brings_the_conditions_of_rejection_sampling(database: Database) -> None:
    block = ("--speculative-use-block-verification", "--speculative-accept-threshold-acc", "0.5")
    judgement = judged(database, "0.5.23", *EAGLE3, *CHAIN, *block)
    assert in_force(judgement, "speculative_use_rejection_sampling") == Known(True)
    assert "sglang/rejection-thresholds" in found(judgement)


def test_the_adaptive_file_of_a_script_is_read(database: Database) -> None:
    script = (
        "cat > a.json <<'EOF'\n"
        '{"candidate_steps": [1, 3]}\n'
        "EOF\n"
        "python -m sglang.launch_server --model-path t --speculative-algorithm EAGLE3 --speculative-draft-model-path d "
        "--speculative-adaptive --speculative-adaptive-config a.json\n"
    )
    (item,) = find_launches(script, "run.sh")
    view = database.at("0.5.23")
    judgement = judge_settings(ENGINE.resolve(item.launch, view), ENGINE, view, models_of(LLAMA, HEAD))
    (error,) = judgement.errors
    assert error.constraint == "sglang/adaptive-file"
    assert "no entry under a batch size" in error.message
