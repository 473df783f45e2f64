"""A spec's launch as a question, and an engine's answer beside our judgement; no engine is run."""

from __future__ import annotations

import ast
import json
import re
from typing import Any

import click
import pytest
from msgspec.structs import replace

from specconf.compat.database import load_database
from specconf.compat.names import ENGINE_NAMES
from specconf.engines.base import Artifact, Models
from specconf.engines.registry import get_engine, get_oracle
from specconf.errors import InputError
from specconf.facts import Effective, OneOf
from specconf.findings import Effect, Finding, Severity, Stage
from specconf.models import Source, SourceKind, model_facts
from specconf.models.view import NoModel, model_views
from specconf.oracle.asking import Answer, Unanswered, Verdict
from specconf.oracle.sided import SideBySide
from specconf.report.asked import limit_lines, one_line, side_json, side_lines, tally_line, unasked_line
from specconf.rules.judge import judge_spec
from specconf.spec import load_spec
from specconf.verify.refusing import alike
from specconf.verify.side_by_side import Case, beside, inner_name, limits, put
from specconf.verify.spec_case import case_of_spec
from tests.cli.conftest import ROOT
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
    assert (
        f"the whole config.json of {TARGET} is not at hand; point target.model at a folder that holds it"
        in asked.not_asked
    )
    for cure in ("Hugging Face cache", "'specconf[hub]'", "--offline"):
        assert cure in asked.not_asked
    assert side(made, None).agree is None


def test_the_cure_names_the_field_of_the_model_that_lacks_its_config() -> None:
    made = case()
    asked = put(replace(made, models=Models(made.models.target, NoModel())), get_oracle("vllm"))
    assert f"of {DRAFT} is not at hand; point speculation.draft.model at" in asked.not_asked


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
    both = side(case(more="serving: {attention_data_parallel_size: 2}"), answer())
    assert "the launch does not hold serving.attention_data_parallel_size (SC250)" in both.notes


# -- the answer


def test_both_accept() -> None:
    both = side(case(), answer(effective={"scheduler_config.max_num_seqs": 128, "model_config.max_model_len": 2048}))
    assert (both.agree, both.overruled, both.refusals) == (True, False, ())
    assert (both.differing, both.compared) == ((), 2)
    assert "values    2 compared, 0 differ" in "\n".join(side_lines(both, verbose=False))
    assert side_json(both)["compared"] == 2
    assert both.filled == ()
    assert "agree     yes" in "\n".join(side_lines(both, verbose=False))


def test_a_value_in_force_that_is_not_ours_stands_beside_ours() -> None:
    both = side(case(), answer(effective={"model_config.max_model_len": 4096}))
    assert "values    1 compared, 1 differs" in text_of(both)
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


def test_what_we_say_nothing_about_is_filled_in() -> None:
    said = {"kv_cache_config.free_gpu_memory_fraction": 0.9, "max_seq_len": 131072, "max_batch_size": 2048}
    text = SPEC.format(target=TARGET, draft=DRAFT, more="").replace(", max_model_len: 2048", "")
    both = side(of_spec(text, "tensorrt-llm", "1.4.0rc1"), answer(effective=said))
    assert "fills in  " in text_of(both)
    assert {"kv_cache_config.free_gpu_memory_fraction", "max_seq_len"} <= dict(both.filled).keys()
    assert both.compared == len(said) - len(both.filled)


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
    assert (both.agree, both.overruled, both.differing, both.compared) == (False, False, (), None)
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
    assert "asked vllm 0.33.0 itself, on a CPU" in click.unstyle(text)
    assert "no verdict: the environment lacks the module x (vllm/a.py:1) (missing-module)" in text
    assert "agree" not in text
    assert tally_line([both]).startswith("engines asked: 0 of 1 answered")


def test_the_first_warning_of_the_engine_is_shown_and_the_others_counted() -> None:
    both = side(case(), answer(warnings=("old flag", "slow", "no " * 100)))
    text = "\n".join(side_lines(both, verbose=False))
    assert "warned    old flag (and 2 more: --verbose)" in text
    assert "slow" not in text
    assert "warned    slow" in "\n".join(side_lines(both, verbose=True))
    assert "more: --verbose" not in "\n".join(side_lines(both, verbose=True))


def test_warnings_are_told_once_and_without_colours() -> None:
    red = "\x1b[1;33mold\x1b[0;0m flag\n  of yore \x1b]8;;http://x\x07here\x1b]8;;\x1b\\\\"
    both = side(case(), answer(warnings=(red, "old flag of yore here", "\x1b[0m", "slow")))
    assert side_json(both)["engine"]["warnings"] == ["old flag of yore here", "slow"]


def test_a_message_is_told_without_colours() -> None:
    both = side(case(), answer(Verdict.REJECTS, message="\x1b[31mtoo many\x1b[0m"))
    assert side_json(both)["engine"]["message"] == "too many"
    assert side(case(), Unanswered("\x1b[31mgone\x1b[0m")).not_asked == "gone"


# -- what we refuse though no stage or no word of the launch says so


def of_spec(text: str, engine: str = "vllm", release: str = "0.33.0", *, draft: bool = True) -> Case:
    """A spec of its own on the same target."""
    spec = load_spec(text.encode(), "spec.yaml").spec
    target, head = (model_facts(config(name), source=Source(SourceKind.GIVEN, name)) for name in (TARGET, DRAFT))
    models = Models(*model_views(target, head if draft else None))
    view = load_database(engine).at(release)
    made = case_of_spec(spec, get_engine(engine), view, models, judge_spec(spec, get_engine(engine), view, models))
    assert isinstance(made, Case), made
    return made


def of_method(method: str, release: str, *, engine: str = "vllm") -> Case:
    text = f"specconf: 1\ntarget: {{model: {TARGET}}}\nspeculation: {{method: {method}, num_draft_tokens: 2}}\n"
    return of_spec(text, engine, release, draft=False)


def text_of(both: SideBySide) -> str:
    return click.unstyle("\n".join(side_lines(both, verbose=False)))


@pytest.mark.parametrize(
    ("said", "agree", "shown"),
    [
        (answer(Verdict.REJECTS, message="no such"), True, "agree     yes"),
        (answer(), None, "agree     open: SC301 may come up later than the config"),
    ],
)
def test_an_error_of_ours_without_a_stage_refuses(said: Answer, agree: bool | None, shown: str) -> None:
    """MTP on a target without MTP layers: what the engine does about it stands nowhere in a rule of SGLang's."""
    both = side(of_method("mtp", "0.5.23", engine="sglang"), said)
    assert "specconf  refuses: SC301" in text_of(both)
    assert (both.agree, both.overruled) == (agree, False)
    assert shown in text_of(both)
    assert side_json(both)["specconf"]["rules"][0]["stage"] is None
    assert "specconf refuses: SC301" in one_line(both)


def test_a_launch_without_its_speculation_is_not_asked_about() -> None:
    made = of_method("suffix", "0.10.2")
    asked = put(made, get_oracle("vllm"))
    assert asked.question is None
    both = side(made, None)
    assert text_of(both).splitlines() == [
        "not asked vllm 0.10.2",
        "  specconf  refuses: SC201",
        "  engine    not asked: the launch without its speculation (SC201) is not the one that the spec asks for",
        "  note      the launch does not hold speculation.method (SC201)",
    ]
    assert side_json(both)["specconf"]["verdict"] == "refuses"
    assert [row["code"] for row in side_json(both)["specconf"]["left_out"]] == ["SC201"]


def test_speculation_withdrawn_for_its_numbers_or_named_by_an_unknown_option_is_not_asked_about() -> None:
    target = f"specconf: 1\ntarget: {{model: {TARGET}}}\n"
    text = f"{target}speculation: {{method: none}}\n"
    options = "engines: {{vllm: {{options: {{{}: x}}}}}}\n"
    assert "without its speculation (SC101)" in of_spec(text + options.format("speculative_model")).no_launch_of_its
    assert of_spec(text + options.format("no_such_thing")).no_launch_of_its == ""
    tree = "speculation: {method: eagle3, tree: {topk: 4}, draft: {model: " + DRAFT + "}}\n"
    assert "without its speculation" in of_spec(target + tree, "sglang", "0.4.9.post6").no_launch_of_its


@pytest.mark.parametrize(
    ("options", "code", "name"),
    [
        ("no_such_thing: 3", "SC101", "no_such_thing"),
        ("enforce_eager: 3", "SC103", "enforce_eager"),
        ("max_model_len: 4096", "SC252", "engines.vllm.options.max_model_len"),
    ],
)
@pytest.mark.parametrize("verdict", list(Verdict))
def test_what_was_left_out_is_told_and_leaves_the_agreement_open(
    options: str, code: str, name: str, verdict: Verdict
) -> None:
    both = side(case(more=f"engines: {{vllm: {{options: {{{options}}}}}}}"), answer(verdict))
    assert f"specconf  refuses: {code}" in text_of(both)
    assert f"note      the launch does not hold {name} ({code})" in text_of(both)
    assert f"agree     open: the engine never saw what specconf refuses ({code})" in text_of(both)
    assert (both.agree, both.overruled) == (None, verdict is not Verdict.ACCEPTS)
    assert "0 agree with specconf, 1 left open" in tally_line([both])


def test_what_we_refuse_of_the_launch_itself_settles_more_than_what_was_left_out() -> None:
    options = "speculative_config.draft_tensor_parallel_size: 3, no_such_thing: 3"
    made = case(more=f"engines: {{vllm: {{options: {{{options}}}}}}}")
    assert side(made, answer(Verdict.REJECTS)).agree is True
    assert side(made, answer()).agree is False


def test_what_stops_later_is_told_beside_that_we_pass_up_to_the_config() -> None:
    text = SPEC.format(target=TARGET, draft=DRAFT, more="").replace(", max_model_len: 2048", "")
    both = side(of_spec(text, "sglang", "0.5.23"), answer())
    assert "specconf  passes up to config; refuses later: sglang/draft-context-blocks at load" in text_of(both)
    assert both.agree is True
    assert side_json(both)["specconf"]["later"][0]["stage"] == "load"


def finding(effect: Effect, stage: Stage, constraint: str) -> Finding:
    return Finding("SC303", Severity.ERROR, "no", effect=effect, stage=stage, constraint=constraint)


@pytest.mark.parametrize(
    ("effect", "stage", "shown"),
    [
        (Effect.REJECTS, Stage.CONFIG, "refuses on the hardware of the spec: vllm/x"),
        (Effect.CRASHES, Stage.WORKER, "refuses later: vllm/x at worker"),
        (Effect.LOSSY, Stage.OUTPUT, "lossy once it runs: vllm/x"),
    ],
)
def test_every_error_about_the_spec_is_named_beside_that_we_pass(effect: Effect, stage: Stage, shown: str) -> None:
    made = replace(case(), errors=(finding(effect, stage, "vllm/x"),))
    assert f"specconf  passes up to config; {shown}" in text_of(side(made, answer()))


def test_nothing_is_said_of_a_question_that_was_not_put() -> None:
    made = case(target="/data/llama", more="hardware: {gpu: H100}")
    asked = put(made, get_oracle("vllm"))
    assert asked.notes
    both = beside(made, get_oracle("vllm"), replace(asked, not_asked="the index cannot be reached"), None)
    assert text_of(both).splitlines() == [
        "not asked vllm 0.33.0",
        "  specconf  passes",
        "  engine    not asked: the index cannot be reached",
    ]
    assert (both.shown, both.notes) == ("", ())


@pytest.mark.parametrize(("method", "told"), [("suffix", True), ("ngram", False)])
def test_a_package_that_is_pretended_is_told_where_the_launch_needs_it(method: str, told: bool) -> None:
    both = side(of_method(method, "0.33.0"), answer())
    assert ("arctic-inference, which this launch needs, was taken as installed" in text_of(both)) is told


def test_the_page_lists_every_stand_in_of_sglang_and_every_package_that_a_note_names() -> None:
    page = (ROOT / "docs" / "asking.md").read_text(encoding="utf-8")
    source = (ROOT / "specconf" / "engines" / "sglang" / "oracle" / "adapter.py").read_text(encoding="utf-8")
    absent = next(
        ast.literal_eval(node.value)
        for node in ast.parse(source).body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "ABSENT"
    )
    named = {each.package.removesuffix("-transfer-engine") for e in ENGINE_NAMES for each in get_oracle(e).pretended}
    listed = set(re.findall(r"[\w-]+", page))
    assert listed >= {*absent.split(), *named}


@pytest.mark.parametrize(("engine", "release"), [("vllm", "0.33.0"), ("sglang", "0.5.23")])
def test_options_that_need_a_pretended_package_exist(engine: str, release: str) -> None:
    view = load_database(engine).at(release)
    for each in get_oracle(engine).pretended:
        assert view.has(each.option), each
        choices = view.by_path[each.option][0].choices
        assert not choices or set(each.values) <= set(choices), each


def test_why_nothing_could_be_asked_is_one_line() -> None:
    one = SideBySide("vllm", "1", not_asked="no disk")
    assert unasked_line([one]) == "nothing could be asked: no disk"
    two = [one, SideBySide("sglang", "3", not_asked="no index")]
    assert unasked_line(two) == "nothing could be asked of 2 launches, sglang 3 because: no index"
    assert unasked_line([*two, SideBySide("vllm", "4", answer=answer())]) == ""


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
