"""An answer beside our judgement: verdicts, values in force, and what they imply for a constraint."""

from __future__ import annotations

import json
from typing import Any

import pytest

from specconf.compat.database import load_database
from specconf.engines.registry import get_engine, get_oracle
from specconf.findings import Stage
from specconf.oracle.asking import Question, Verdict
from specconf.verify.compare import Agreement, Compared, Outcome, compare_one
from specconf.verify.filling import filled
from specconf.verify.implied import Implied, implied
from specconf.verify.judging import judge
from specconf.verify.observed import Row, Whose
from specconf.verify.refusing import alike

LLAMA = filled({"architectures": ["LlamaForCausalLM"]})


def compared(row: dict[str, Any], *words: str, models: Any = None, plain: Any = None) -> Compared:
    """A launch of vLLM 0.33.0 with what it is said to have answered."""
    question = Question(("vllm", "serve", "t", *words), models={"t": LLAMA, **(models or {})})
    said = {"origins": ("array 1:1",), "verdict": Verdict.ACCEPTS, "stage": "config", **row}
    ours = judge(get_engine("vllm"), get_oracle("vllm"), load_database("vllm").at("0.33.0"), question)
    return compare_one(Row(launch=question.key, **said), question, ours, plain)


def speculation(**config: Any) -> tuple[str, str]:
    return "--speculative-config", json.dumps(config)


NGRAM = speculation(method="ngram", num_speculative_tokens=3)
NO_LENGTH = speculation(method="ngram")
REJECTS = {"verdict": Verdict.REJECTS, "exception": "ValidationError"}


def test_both_accept() -> None:
    assert compared({}, *NGRAM).outcome is Outcome.AGREES


def test_both_refuse_and_the_stages_are_compared() -> None:
    assert compared(REJECTS, *NO_LENGTH).outcome is Outcome.AGREES
    assert compared(REJECTS, *NO_LENGTH).stages_agree
    assert not compared(REJECTS | {"stage": "parse"}, *NO_LENGTH).stages_agree


def test_a_refusal_of_ours_that_the_engine_takes_is_a_false_error() -> None:
    assert compared({}, *NO_LENGTH).outcome is Outcome.FALSE_ERROR


def test_a_refusal_of_the_engine_that_we_pass_is_missed() -> None:
    assert compared(REJECTS, *NGRAM).outcome is Outcome.MISSED


def test_a_refusal_is_not_missed_where_we_say_that_we_could_not_check() -> None:
    question = speculation(method="draft_model", model="d", num_speculative_tokens=3)
    found = compared(REJECTS, *question)  # no config of the draft was given
    assert found.ours.doubts
    assert found.outcome is Outcome.NOT_CHECKED


def test_values_are_compared_where_both_accept() -> None:
    row = {"values": {"speculative_config.method": "ngram", "speculative_config.num_speculative_tokens": 4}}
    found = compared(row, *NGRAM)
    assert found.compared == ("speculative_config.method", "speculative_config.num_speculative_tokens")
    assert [(d.path, d.theirs, d.ours) for d in found.differences] == [
        ("speculative_config.num_speculative_tokens", 4, 3)
    ]
    assert compared(row | REJECTS, *NGRAM).compared == ()


def test_values_are_filled_in_that_are_neither_written_nor_a_plain_launchs() -> None:
    values = {"speculative_config.method": "ngram", "max_num_seqs": 128, "enforce_eager": True}
    row, plain = {"values": values}, {"max_num_seqs": 128, "enforce_eager": False}
    assert compared(row, *NGRAM, plain=plain).filled == ("enforce_eager",)
    assert compared(row, *NGRAM, "--enforce-eager", plain=plain).filled == ()
    assert compared(row, *NGRAM).filled == ("max_num_seqs", "enforce_eager")
    found = Agreement("0.33.0", [compared(row, *NGRAM, plain=plain)]).tally()
    assert (found.values, found.equal, found.filled, found.filled_equal) == (3, 2, 1, 0)


@pytest.mark.parametrize(
    ("theirs", "ours", "same"),
    [
        (0.9, 0.9000000000001, True),
        (1, True, False),
        (None, None, True),
        (1, 1.0, True),
        ("a", "b", False),
        (0.5, None, False),
    ],
)
def test_alike(theirs: Any, ours: Any, same: bool) -> None:
    assert alike(theirs, ours) is same


def test_counts_are_kept_apart_by_stage_and_by_whose_launch_it_is() -> None:
    own = compared(REJECTS | {"origins": ("probe vllm/length-missing",)}, *NO_LENGTH)
    found = Agreement("0.33.0", [own, compared({}, *NGRAM), compared({}, *NO_LENGTH)])
    assert (found.tally(Whose.OWN).agreed, found.tally(Whose.OWN).verdicts) == (1, 1)
    assert (found.tally(Whose.NOBODY).agreed, found.tally(Whose.NOBODY).verdicts) == (1, 2)
    assert found.tally(stage=Stage.PARSE).verdicts == 0
    assert [one.outcome for one in found.of(Outcome.FALSE_ERROR)] == [Outcome.FALSE_ERROR]


@pytest.mark.parametrize(("loaded", "refused"), [(False, False), (True, True)])
def test_a_launch_that_is_started_is_judged_until_its_request(loaded: bool, refused: bool) -> None:
    config = speculation(
        method="ngram", num_speculative_tokens=3, rejection_sample_method="synthetic", synthetic_acceptance_rate=0.5
    )
    env = {"VLLM_USE_V2_MODEL_RUNNER": "0"}
    question = Question(("vllm", "serve", "t", *config), env, models={"t": LLAMA})
    view = load_database("vllm").at("0.32.0")
    ours = judge(get_engine("vllm"), get_oracle("vllm"), view, question, loaded=loaded)
    assert ("vllm/synthetic-on-cpu" in {finding.constraint for finding in ours.refusals}) is refused


def _refusal() -> str:
    """The id of the constraint that refuses a launch without a length."""
    return next(f.constraint for f in compared(REJECTS, *NO_LENGTH).ours.refusals if f.constraint)


@pytest.mark.parametrize(
    ("probe", "twin", "said"),
    [
        (REJECTS, {}, Implied.CONFIRMED),
        ({}, {}, Implied.CONTRADICTED),
        (REJECTS, REJECTS, Implied.UNSEEN),
        (REJECTS, None, Implied.UNSEEN),
    ],
)
def test_what_answers_imply_for_a_refusal(probe: dict[str, Any], twin: dict[str, Any] | None, said: Implied) -> None:
    name = _refusal()
    rows = [compared(probe | {"origins": (f"probe {name}",)}, *NO_LENGTH)]
    if twin is not None:
        rows.append(compared(twin | {"origins": (f"twin {name}",)}, *NGRAM))
    assert implied(Agreement("0.33.0", rows)) == {name: said}
