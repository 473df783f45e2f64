"""What runs inside an engine's environment: verdicts of the engine, and what is no verdict because the question was not put."""

from __future__ import annotations

import json
import os
import signal
import sys
import sysconfig
import time
import types
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from pydantic import BaseModel, ValidationError

from specconf.errors import OracleError
from specconf.oracle.asking import Answer, Question, Unanswered, Verdict
from specconf.oracle.client import Worker
from specconf.oracle.worker.blame import STANDARD, package_of, said
from specconf.oracle.worker.listing import plain
from specconf.oracle.worker.protocol import HarnessError
from specconf.oracle.worker.serve import lay_out
from tests.oracle.conftest import ADAPTER


def ask(worker: Worker, case: str, *words: str, **question: object) -> Answer | Unanswered:
    return worker.ask(Question(("pretend", "--case", case, *words), **question))  # type: ignore[arg-type]


def answered(worker: Worker, case: str, *words: str, **question: object) -> Answer:
    answer = ask(worker, case, *words, **question)
    assert isinstance(answer, Answer), answer
    return answer


def unanswered(worker: Worker, case: str, *words: str, **question: object) -> Unanswered:
    answer = ask(worker, case, *words, **question)
    assert isinstance(answer, Unanswered), answer
    return answer


def test_a_launch_that_passes_every_stage_is_accepted_with_what_is_in_force(worker: Worker) -> None:
    answer = answered(worker, "accept", "--number", "3")
    assert (answer.verdict, answer.stage, answer.exception) == (Verdict.ACCEPTS, "config", None)
    assert answer.parsed == {"number": 3}  # not --case accept, which is the default
    assert answer.effective["paths"] == [1, 2]
    assert answer.effective["odd"] == "<class 'object'>"


def test_until_parse_stops_before_the_config(worker: Worker) -> None:
    answer = worker.ask(Question(("pretend", "--case", "reject")), until="parse")
    assert isinstance(answer, Answer)
    assert (answer.verdict, answer.stage) == (Verdict.ACCEPTS, "parse")


@pytest.mark.parametrize(
    ("case", "words", "verdict", "stage", "exception", "message"),
    [
        ("accept", ["--no-such-flag"], "rejects", "parse", "SystemExit", "unrecognized arguments: --no-such-flag"),
        ("accept", ["--number", "many"], "rejects", "parse", "SystemExit", "invalid int value: 'many'"),
        ("reject", [], "rejects", "config", "ValueError", "steps are too many"),
        ("empty_assertion", [], "rejects", "config", "AssertionError", ""),
        ("by_pydantic", [], "rejects", "config", "ValidationError", "steps must be positive"),
        ("by_standard_library", [], "rejects", "config", "JSONDecodeError", "Expecting property name"),
        ("complains_and_leaves", [], "rejects", "config", "SystemExit", "last line"),
        ("leaves_with_words", [], "rejects", "config", "SystemExit", "steps are too many"),
        ("accept", ["--refused"], "rejects", "parse", "SystemExit", "not together"),
        ("accept", ["--checked", "1"], "rejects", "parse", "SystemExit", "steps Unexpected keyword argument"),
        ("half_a_letter", [], "rejects", "config", "ValueError", "no such file: caf\\udce9"),
        ("half_a_letter_on_leaving", [], "rejects", "config", "SystemExit", "no such file: caf\\udce9"),
        ("crash", [], "crashes", "config", "AttributeError", "'NoneType' object has no attribute 'steps'"),
        ("no_such_case", [], "crashes", "config", "KeyError", "no_such_case"),
    ],
)
def test_what_the_engine_or_a_library_on_its_behalf_raises_is_its_verdict(
    worker: Worker, case: str, words: list[str], verdict: str, stage: str, exception: str, message: str
) -> None:
    answer = answered(worker, case, *words)
    assert (answer.verdict, answer.stage, answer.exception) == (verdict, stage, exception)
    assert message in answer.message
    assert answer.where.startswith("pretend/") is not (stage == "parse")


@pytest.mark.parametrize(
    ("case", "reason", "excluded"),
    [
        ("elsewhere_itself", "raised by elsewhere, not by pretend: ValueError: not in this version", "outside"),
        ("elsewhere_leaves", "raised by elsewhere, not by pretend: SystemExit: out of memory", "outside"),
        ("elsewhere_parses", "raised by elsewhere, not by pretend: SystemExit: ", "outside"),
        ("standin_itself", "raised by specconf, not by pretend: AttributeError", "outside"),
        ("kernels_missing", "the environment lacks the module no_such_kernels", "missing-module"),
        ("file_missing", "a file or model config is missing: FileNotFoundError", ""),
        ("leaves", "the engine ended without an error", ""),
        ("dies", "the process ended with 3 before it could answer", ""),
        ("forks_a_helper_and_dies", "the process ended with 3 before it could answer", ""),
        ("nothing", "this release keeps nothing", ""),
    ],
)
def test_what_comes_from_elsewhere_is_no_verdict(worker: Worker, case: str, reason: str, excluded: str) -> None:
    answer = unanswered(worker, case)
    assert answer.reason.startswith(reason)
    assert answer.excluded == excluded


def test_help_is_no_verdict(worker: Worker) -> None:
    assert "ended without an error" in unanswered(worker, "accept", "--help").reason


def test_messages_do_not_name_the_folder_of_the_question(worker: Worker) -> None:
    assert answered(worker, "reject").message == "steps are too many, see target"


def test_files_and_models_lie_in_the_working_directory(worker: Worker) -> None:
    models = {"owner/name": {"vocab_size": 8}}
    answer = answered(worker, "laid_out", files={"options/a.yaml": "x: 1\n"}, models=models)
    shown = {name: value for name, value in answer.effective.items() if name != "parsed"}
    assert shown == {"options/a.yaml": "x: 1\n", "owner/name/config.json": '{"vocab_size": 8}'}


@pytest.mark.parametrize("name", ["../outside", "/outside"])
def test_names_that_lead_out_of_the_folder_are_refused(worker: Worker, name: str) -> None:
    assert "leads out of the request's folder" in unanswered(worker, "accept", models={name: {}}).reason


def test_each_question_is_answered_by_a_process_of_its_own(worker: Worker) -> None:
    assert [answered(worker, "accept").effective["asked"] for _ in range(3)] == [1, 1, 1]
    seen = answered(worker, "environment", env={"PRETEND": "1"}).effective
    assert seen["PRETEND"] == "1"
    assert "PRETEND" not in answered(worker, "environment").effective


def test_nobody_answers_an_engine_that_asks(worker: Worker) -> None:
    """The requests that wait on standard input are not read by the engine."""
    assert answered(worker, "asks_a_question").exception == "EOFError"
    assert answered(worker, "accept").effective["stdin"] == ""


def test_warnings_are_kept_and_standard_output_is_not_an_answer(worker: Worker) -> None:
    assert answered(worker, "warn").warnings == ("the flag --x is old",)


def test_the_time_limit_ends_the_question_with_all_that_it_started(pretend: Path, tmp_path: Path) -> None:
    note = tmp_path / "pid"
    with Worker(pretend, ADAPTER, "1.0", limit=3) as worker:
        began = time.monotonic()
        assert unanswered(worker, "never_ends", env={"NOTE": str(note)}).reason == "no answer within 3 s"
        assert time.monotonic() - began < 20
        helper = int(note.read_text())
        assert _gone(helper)
        assert answered(worker, "accept").accepts


def test_a_child_that_says_nothing_more_is_ended_at_the_limit(pretend: Path) -> None:
    with Worker(pretend, ADAPTER, "1.0", limit=2) as worker:
        assert unanswered(worker, "closes_everything").reason == "no answer within 2 s"


@pytest.mark.parametrize("case", ["starts_a_helper", "forks_a_helper"])
def test_what_the_engine_started_ends_with_its_answer(worker: Worker, case: str) -> None:
    began = time.monotonic()
    helper = answered(worker, case).effective["helper"]
    assert time.monotonic() - began < 10
    assert _gone(helper)


def test_a_process_that_the_engine_forked_does_not_answer_in_its_place(worker: Worker) -> None:
    assert answered(worker, "forks_a_helper_that_returns").accepts


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_a_worker_that_is_ended_takes_the_question_with_it(
    pretend: Path, tmp_path: Path, number: signal.Signals
) -> None:
    note = tmp_path / "pid"
    worker = Worker(pretend, ADAPTER, "1.0", limit=60)
    with ThreadPoolExecutor() as pool:
        asked = pool.submit(ask, worker, "never_ends", env={"NOTE": str(note)})
        own = _written(note.with_name("pid.own"))
        worker._process.send_signal(number)
        with pytest.raises(OracleError, match=r"the process that asks 1\.0 ended with"):
            asked.result(timeout=20)
    assert _gone(own)
    if number is not signal.SIGKILL:  # which leaves the worker no time to end what the engine started
        assert _gone(int(note.read_text()))
    else:
        os.kill(int(note.read_text()), signal.SIGKILL)
    worker.close()


def _written(note: Path) -> int:
    for _ in range(200):
        if note.exists() and note.read_text():
            return int(note.read_text())
        time.sleep(0.05)
    raise AssertionError(f"{note} was not written")


def test_values_that_cannot_be_encoded_are_escaped(worker: Worker) -> None:
    answer = answered(worker, "half_a_letter_as_value")
    assert answer.effective["caf\\udce9"] == ["caf\\udce9", "\\ud800"]
    assert answer.warnings == ("old: caf\\udce9",)
    assert answered(worker, "accept", "--number", "1", files={"caf\udce9": ""}).accepts
    assert "cannot be laid out" in unanswered(worker, "accept", files={"a": "\ud800"}).reason


def _gone(process: int) -> bool:
    """Whether a process ended, given a moment for whoever collects it."""
    for _ in range(50):
        try:
            state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
        except FileNotFoundError:
            return True
        if state == "Z":
            return True
        time.sleep(0.1)
    return False


def test_listing_says_what_the_parser_registers(worker: Worker) -> None:
    listing = worker.listing()
    rows = {row["dest"]: row for row in listing["options"]}
    assert rows["number"]["default"] == 1
    assert rows["switch"]["stores"] == {"--switch": {"switch": True}}
    assert listing["members"] == {"pretend.env": [{"name": "PRETEND", "default": None}]}


def test_what_is_ready_says_what_a_verdict_depends_on(worker: Worker) -> None:
    assert (worker.ready.version, worker.ready.platform) == ("1.0", "cpu")
    assert worker.ready.python == sys.version.split()[0]
    assert "pydantic" in worker.ready.versions


# -- the parts, in this process


def test_the_engines_package_may_lie_anywhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    module = types.ModuleType("engine_of_mine")
    module.__path__ = [str(tmp_path / "checkout" / "engine_of_mine")]
    monkeypatch.setitem(sys.modules, "engine_of_mine", module)
    file = str(tmp_path / "checkout" / "engine_of_mine" / "args.py")
    assert package_of(file, "engine_of_mine") == ("engine_of_mine", "engine_of_mine/args.py")


@pytest.mark.parametrize(
    ("file", "owner"),
    [
        ("/env/lib/python3.12/site-packages/torch/_C.py", "torch"),
        ("/usr/lib/python3/dist-packages/yaml/__init__.py", "yaml"),
        ("/env/lib/python3.12/site-packages/six.py", "six"),
        ("/cache/vllm-1/sources/vllm/config.py", "vllm"),
        ("<frozen importlib._bootstrap>", STANDARD),
        (os.path.join(sysconfig.get_path("stdlib"), "json", "decoder.py"), STANDARD),  # noqa: PTH118
        ("/anywhere/adapter.py", "specconf"),
    ],
)
def test_whose_code_a_file_is(file: str, owner: str) -> None:
    assert package_of(file, "vllm")[0] == owner


def test_of_a_validation_error_the_first_is_said() -> None:
    class Two(BaseModel):
        steps: int
        topk: int

    with pytest.raises(ValidationError) as raised:
        Two(steps="x", topk="y")  # type: ignore[arg-type]
    assert said(raised.value).splitlines() == [
        "steps",
        "  Input should be a valid integer, unable to parse string as an integer",
    ]
    assert said(ValueError("one\ntwo")) == "one\ntwo"


def test_what_json_cannot_hold_is_shown_by_its_text() -> None:
    assert plain({"b", "a"}) == ["a", "b"]
    assert plain(Verdict.ACCEPTS) == "accepts"
    assert plain(float("nan")) == "nan"
    assert plain({"x": object}) == "{'x': <class 'object'>}"


def test_laying_out_stays_below_the_folder(tmp_path: Path) -> None:
    lay_out({"models": {"a/b": {"x": 1}}}, tmp_path)
    assert json.loads((tmp_path / "a" / "b" / "config.json").read_text()) == {"x": 1}
    with pytest.raises(HarnessError):
        lay_out({"files": {"../x": ""}}, tmp_path)
