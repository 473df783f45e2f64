"""A spec's launch as a question, and an engine's answer beside our judgement; no engine is run."""

from __future__ import annotations

import json
from typing import Any

import pytest

from specconf.cli.asking import case_of_spec
from specconf.compat.database import load_database
from specconf.engines.base import Artifact, Models
from specconf.engines.registry import get_engine, get_oracle
from specconf.errors import InputError
from specconf.facts import Effective, OneOf
from specconf.models import Source, SourceKind, model_facts
from specconf.models.view import model_views
from specconf.oracle.asking import Answer, Unanswered, Verdict
from specconf.oracle.sided import SideBySide
from specconf.report.asked import limit_lines, one_line, side_lines, tally_line
from specconf.rules.judge import judge_spec
from specconf.spec import load_spec
from specconf.verify.refusing import alike
from specconf.verify.side_by_side import Case, beside, inner_name, limits, put
from tests.example_models import CONFIGS, FIXTURES

TARGET, DRAFT = "meta-llama/Llama-3.1-8B-Instruct", "yuhuili/EAGLE3-LLaMA3.1-Instruct-8B"
SPEC = """
specconf: 1
target: {{model: {target}, max_model_len: 2048}}
speculation:
  method: eagle3
  num_draft_tokens: 4
  draft: {{model: {draft}}}
{more}
"""


def config(name: str) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((FIXTURES / CONFIGS[name] / "config.json").read_text(encoding="utf-8"))
    return loaded


def case(
    engine: str = "vllm",
    release: str = "0.33.0",
    *,
    target: str = TARGET,
    draft: str = DRAFT,
    more: str = "",
    complete: bool = True,
    elided: frozenset[str] = frozenset(),
) -> Case:
    spec = load_spec(SPEC.format(target=target, draft=draft, more=more).encode(), "spec.yaml").spec
    found = [
        model_facts(config(name), source=Source(SourceKind.GIVEN, name), complete=complete, elided=elided)
        for name in (TARGET, DRAFT)
    ]
    models = Models(*model_views(found[0], found[1]))
    view = load_database(engine).at(release)
    made = case_of_spec(spec, get_engine(engine), view, models, judge_spec(spec, get_engine(engine), view, models))
    assert isinstance(made, Case), made
    return made


def answer(verdict: Verdict = Verdict.ACCEPTS, stage: str = "config", **more: Any) -> Answer:
    return Answer(verdict, stage, **more)


def side(made: Case, said: Answer | Unanswered | None) -> SideBySide:
    oracle = get_oracle(made.view.engine)
    return beside(made, oracle, put(made, oracle), said)


# -- the question


def test_the_question_is_the_launch_as_it_would_be_written() -> None:
    made = case()
    asked = put(made, get_oracle("vllm"))
    assert asked.question is not None
    assert asked.question.argv == made.artifact.argv
    assert asked.question.models == {TARGET: config(TARGET), DRAFT: config(DRAFT)}
    assert asked.question.gpu is None
    assert (asked.shown, asked.notes) == ("on a CPU", ())


def test_models_elsewhere_on_the_machine_move_below_the_folder_of_the_question() -> None:
    made = case(target="/data/llama", draft="/data/llama-head")
    asked = put(made, get_oracle("vllm"))
    assert asked.question is not None
    assert set(asked.question.models) == {"data/llama", "data/llama-head"}
    assert asked.question.argv[:3] == ("vllm", "serve", "data/llama")
    speculation = json.loads(asked.question.argv[asked.question.argv.index("--speculative-config") + 1])
    assert speculation["model"] == "data/llama-head"
    assert "/data/llama is called data/llama in the question" in asked.notes


def test_option_files_name_the_moved_models_too() -> None:
    made = case("tensorrt-llm", "1.4.0rc1", target="../llama", draft="/data/head")
    asked = put(made, get_oracle("tensorrt-llm"))
    assert asked.question is not None
    assert asked.question.argv[1] == "up/llama"
    assert "speculative_model: data/head" in next(iter(asked.question.files.values()))
    assert asked.shown == "on the cuda devices of its machine"


@pytest.mark.parametrize(
    ("name", "inner"),
    [
        ("Qwen/Qwen3-4B", "Qwen/Qwen3-4B"),
        ("./models/llama", "./models/llama"),
        ("/data/llama", "data/llama"),
        ("/data//llama/", "data/llama"),
        ("../llama", "up/llama"),
        ("models/../llama", "models/up/llama"),
        ("~/llama", "home/llama"),
        ("/", "model"),
    ],
)
def test_inner_names(name: str, inner: str) -> None:
    assert inner_name(name) == inner


def test_two_models_never_get_one_name() -> None:
    made = case(target="/data/llama", draft="data/llama")
    asked = put(made, get_oracle("vllm"))
    assert asked.question is not None
    assert set(asked.question.models) == {"data/llama_", "data/llama"}
    assert asked.question.argv[2] == "data/llama_"


@pytest.mark.parametrize("partly", [{"complete": False}, {"elided": frozenset({"rope_scaling"})}])
def test_a_config_that_is_known_in_part_is_not_put(partly: dict[str, Any]) -> None:
    made = case(**partly)
    asked = put(made, get_oracle("vllm"))
    assert asked.question is None
    assert asked.not_asked == f"the whole config.json of {TARGET} is not at hand"
    assert side(made, None).agree is None


@pytest.mark.parametrize(
    ("hardware", "gpu", "note"),
    [
        ("{gpu: B200}", "B200", ""),
        ("{gpu: NVIDIA h200}", "H200", ""),
        ("{gpu: L40S}", "H100", "L40S is none of"),
        ("{gpu: MI300X, platform: rocm}", "H100", "hardware.platform is rocm"),
        ("{count: 2}", "H100", "hardware.gpu is not set"),
    ],
)
def test_sglang_is_shown_the_gpu_of_the_spec_or_the_usual_one_with_a_note(hardware: str, gpu: str, note: str) -> None:
    asked = put(case("sglang", "0.5.23", more=f"hardware: {hardware}"), get_oracle("sglang"))
    assert asked.question is not None
    assert (asked.question.gpu, asked.plain["hardware.gpu"], asked.plain["hardware.platform"]) == (gpu, gpu, "cuda")
    assert note in "".join(asked.notes)
    assert bool(note) is bool(asked.notes)


def test_on_a_cpu_we_judge_for_a_cpu() -> None:
    asked = put(case(more="hardware: {gpu: H100}"), get_oracle("vllm"))
    assert asked.plain["hardware.platform"] == "cpu"
    assert "hardware.gpu" not in asked.plain


def test_a_gpu_build_in_an_environment_of_the_users_is_judged_for_the_specs_gpu() -> None:
    asked = put(case(more="hardware: {gpu: H100}"), get_oracle("vllm"), sees="cuda")
    assert asked.shown == "on the cuda devices of its machine"
    assert (asked.plain["hardware.platform"], asked.plain["hardware.gpu"]) == ("cuda", "H100")


def test_fields_that_the_launch_does_not_hold_are_told() -> None:
    asked = put(case(more="serving: {attention_data_parallel_size: 2}"), get_oracle("vllm"))
    assert any("does not hold serving.attention_data_parallel_size" in note for note in asked.notes)


# -- the answer


def test_both_accept() -> None:
    both = side(case(), answer(effective={"scheduler_config.max_num_seqs": 128, "model_config.max_model_len": 2048}))
    assert (both.agree, both.overruled, both.refusals) == (True, False, ())
    assert both.differing == ()
    assert both.filled == ()
    assert "agree     yes" in "\n".join(side_lines(both, verbose=False))


def test_a_value_in_force_that_is_not_ours_stands_beside_ours() -> None:
    both = side(case(), answer(effective={"model_config.max_model_len": 4096}))
    (row,) = both.differing
    assert (row.option, row.engine, row.ours["value"]) == ("max_model_len", 4096, 2048)
    assert "max_model_len: the engine has 4096, specconf says 2048 (written)" in "\n".join(
        side_lines(both, verbose=False)
    )


def test_values_that_the_engine_may_decide_by_itself_are_no_difference() -> None:
    made = case()
    judged = {"max_model_len": Effective(OneOf((None, 2048)), "vllm/target-cut-to-draft")}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("specconf.verify.side_by_side.with_defaults", lambda *_: judged)
        both = side(made, answer(effective={"model_config.max_model_len": 4096}))
    assert (both.differing, both.filled) == ((), (("max_model_len", 4096),))


@pytest.mark.parametrize("verdict", [Verdict.REJECTS, Verdict.CRASHES])
def test_an_engine_that_refuses_what_we_pass_wins_visibly(verdict: Verdict) -> None:
    both = side(case(), answer(verdict, exception="ValueError", message="no such head", where="vllm/config.py:7"))
    assert (both.agree, both.overruled) == (False, True)
    text = "\n".join(side_lines(both, verbose=False))
    assert f"engine    {verdict} at config: ValueError: no such head (vllm/config.py:7)" in text
    assert "the engine refuses what specconf passes; the engine wins" in text
    assert "the engine wins" in one_line(both)
    assert "1 refused by the engine though specconf passes" in tally_line([both])


def refused() -> Case:
    """A launch that a rule of ours says vLLM refuses at its config."""
    return case(more="engines: {vllm: {options: {speculative_config.draft_tensor_parallel_size: 3}}}")


def test_an_engine_that_takes_what_we_refuse_is_told_and_does_not_win() -> None:
    both = side(refused(), answer())
    assert both.refusals
    assert (both.agree, both.overruled, both.differing) == (False, False, ())
    text = "\n".join(side_lines(both, verbose=False))
    assert "specconf  refuses at config: " in text
    assert "the engine takes what specconf refuses" in text


def test_both_refuse() -> None:
    both = side(refused(), answer(Verdict.REJECTS, exception="ValueError", message="3"))
    assert (both.agree, both.overruled) == (True, False)


def test_what_could_not_be_asked_says_why_and_names_its_class() -> None:
    both = side(case(), Unanswered("the environment lacks the module x (vllm/a.py:1)", "missing-module"))
    assert (both.agree, both.overruled) == (None, False)
    text = "\n".join(side_lines(both, verbose=False))
    assert "not asked: the environment lacks the module x (vllm/a.py:1) (missing-module)" in text
    assert "agree" not in text
    assert tally_line([both]).startswith("engines asked: 0 of 1 answered")


def test_warnings_of_the_engine_are_shown_when_verbose() -> None:
    both = side(case(), answer(warnings=("old flag",)))
    assert "old flag" not in "\n".join(side_lines(both, verbose=False))
    assert "warned    old flag" in "\n".join(side_lines(both, verbose=True))


def test_what_asking_cannot_say_is_said_for_each_engine() -> None:
    told = {name: limits(get_oracle(name), name) for name in ("vllm", "sglang")}
    assert "asked on a CPU" in told["vllm"].text
    assert "shown GPUs of one kind (H100, H200, B200, A100) that are not there" in told["sglang"].text
    for each in told.values():
        assert "nothing about loading weights, requests, kernels or real memory" in each.text
        assert "missing-package" in "\n".join(limit_lines([each], verbose=False))
        assert "stops before its own checks" in "\n".join(limit_lines([each], verbose=True))


@pytest.mark.parametrize(
    ("theirs", "ours", "same"),
    [
        (1, 1.0, True),
        (0.1 + 0.2, 0.3, True),
        (True, 1, False),
        (False, False, True),
        ("a", "a", True),
        (None, 0, False),
    ],
)
def test_alike(theirs: Any, ours: Any, same: bool) -> None:
    assert alike(theirs, ours) is same


def test_a_launch_that_cannot_be_written_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    engine, made = get_engine("vllm"), case()

    def emit(*_: object) -> Artifact:
        raise InputError("the launch names a file of its own.")

    monkeypatch.setattr(type(engine), "emit", emit)
    spec = load_spec(SPEC.format(target=TARGET, draft=DRAFT, more="").encode(), "spec.yaml").spec
    judgement = judge_spec(spec, engine, made.view, made.models)
    result = case_of_spec(spec, engine, made.view, made.models, judgement)
    assert isinstance(result, SideBySide)
    assert result.not_asked == "no launch can be written: the launch names a file of its own."
