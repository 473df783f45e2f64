"""The client: what reaches an engine's process, what its answers become, and clear errors where there is no engine."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import threading
import time
from pathlib import Path
from unittest.mock import patch

import pytest

from specconf.errors import OracleError
from specconf.oracle.asking import Answer, Question, Unanswered, Verdict
from specconf.oracle.client import GRACE, Worker, _why_not_started
from specconf.oracle.engine import Canary, EngineOracle
from specconf.oracle.excluded import Excluded
from tests.oracle.conftest import ADAPTER


def case(name: str) -> Question:
    return Question(("pretend", "--case", name))


def test_the_users_environment_does_not_reach_the_engine(
    pretend: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("HF_TOKEN", "OPENAI_API_KEY", "PRETEND_OPTION", "PYTHONPATH", "VIRTUAL_ENV"):
        monkeypatch.setenv(name, "secret-of-the-user")
    with Worker(pretend, ADAPTER, "1.0", gpu="H100", cache=tmp_path) as worker:
        answer = worker.ask(Question(("pretend", "--case", "environment"), gpu="H100"))
    assert isinstance(answer, Answer)
    assert "secret-of-the-user" not in answer.effective.values()
    assert answer.effective["HF_HUB_OFFLINE"] == "1"
    assert answer.effective["SPECCONF_ENGINE_GPU"] == "H100"
    assert answer.effective["VLLM_CACHE_ROOT"] == str(tmp_path / "vllm")


def test_another_release_in_the_environment_is_an_error_that_names_both(pretend: Path) -> None:
    with pytest.raises(OracleError, match=r"holds pretend 1\.0, not 2\.0"):
        Worker(pretend, ADAPTER, "2.0")


def test_without_a_release_it_is_whichever_is_there(pretend: Path) -> None:
    with Worker(pretend, ADAPTER, None) as worker:
        assert worker.release == "1.0"


def test_a_python_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(OracleError, match=r"cannot be started: no such file or directory"):
        Worker(tmp_path / "python", ADAPTER, "1.0")


def test_a_python_that_may_not_be_run(tmp_path: Path) -> None:
    (tmp_path / "python").write_text("")
    with pytest.raises(OracleError, match=r"cannot be started: permission denied"):
        Worker(tmp_path / "python", ADAPTER, "1.0")


def test_a_program_that_is_no_python() -> None:
    echo = shutil.which("echo")
    assert echo is not None
    with pytest.raises(OracleError, match=r"which is no answer") as raised:
        Worker(Path(echo), ADAPTER, "1.0")
    assert "Name the python of an environment" in str(raised.value)


def test_an_engine_that_cannot_be_imported_says_why(pretend: Path) -> None:
    with pytest.raises(OracleError) as raised:
        Worker(pretend, "broken_adapter", "1.0")
    assert str(raised.value) == f"{pretend} cannot import the engine: RuntimeError: libcuda.so.1 is missing."
    assert raised.value.detail.startswith("Traceback")


@pytest.mark.parametrize(
    ("wrote", "why"),
    [
        ("Traceback:\n  x\nModuleNotFoundError: No module named 'vllm'", "has no package vllm"),
        (
            "ModuleNotFoundError: No module named 'vllm._C'",
            "cannot import the engine: ModuleNotFoundError: No module named 'vllm._C'",
        ),
        (
            "  File\npydantic.ValidationError: 1\n  field\n    Required",
            "cannot import the engine: pydantic.ValidationError: 1",
        ),
        ("KeyboardInterrupt", "cannot import the engine: KeyboardInterrupt"),
        ("Segmentation fault", ""),
        ("", ""),
    ],
)
def test_what_a_process_that_did_not_start_died_of(wrote: str, why: str) -> None:
    assert _why_not_started(wrote) == why


def test_a_process_that_ends_without_a_word_says_how(tmp_path: Path) -> None:
    silent = tmp_path / "python"
    silent.write_text("#!/bin/sh\necho gone >&2\nexit 3\n")
    silent.chmod(0o755)
    with pytest.raises(OracleError, match=r"the process that asks 1\.0 ended with 3\.\n  gone"):
        Worker(silent, ADAPTER, "1.0")


def test_a_process_that_ends_between_questions_is_told(pretend: Path) -> None:
    worker = Worker(pretend, ADAPTER, "1.0")
    worker._process.kill()
    worker._process.wait()
    with pytest.raises(OracleError, match=r"ended with -9"):
        worker.ask(case("accept"))
    worker.close()


def test_after_its_end_it_is_told_again(pretend: Path) -> None:
    worker = Worker(pretend, ADAPTER, "1.0")
    worker.close()
    with pytest.raises(OracleError, match=r"the process that asks 1\.0 was ended"):
        worker.ask(case("accept"))


def test_an_engine_that_is_not_imported_in_time_is_an_error_and_ended(pretend: Path, tmp_path: Path) -> None:
    (tmp_path / "python").write_text(f'#!/bin/sh\necho $$ > {tmp_path}/pid\nexec {pretend} "$@"\n')
    (tmp_path / "python").chmod(0o755)
    began = time.monotonic()
    with pytest.raises(OracleError, match=r"asks 1\.0 did not import the engine within 1 s and was ended"):
        Worker(tmp_path / "python", "slow_adapter", "1.0", start_limit=1)
    assert time.monotonic() - began < GRACE
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


def test_a_worker_that_hangs_between_questions_is_an_error(pretend: Path) -> None:
    worker = Worker(pretend, ADAPTER, "1.0", limit=1)
    worker._start_limit = 1
    worker._process.send_signal(signal.SIGSTOP)
    with patch("specconf.oracle.client.GRACE", 0.5), pytest.raises(OracleError, match=r"did not answer within 2 s"):
        worker.ask(case("accept"))
    assert worker._process.poll() == -signal.SIGKILL


@pytest.mark.parametrize("number", [None, signal.SIGTERM, signal.SIGKILL])
def test_no_temporary_file_outlives_the_worker(pretend: Path, number: signal.Signals | None) -> None:
    worker = Worker(pretend, ADAPTER, "1.0")
    answer = worker.ask(case("keeps_a_file"))
    assert isinstance(answer, Answer)
    folder = Path(answer.effective["folder"])
    assert folder.is_dir()
    if number is not None:
        worker._process.send_signal(number)
    worker.close()
    assert not folder.parent.exists()
    assert folder.parent.name.startswith("specconf-worker-")


def test_an_interrupted_question_is_ended_at_once(pretend: Path) -> None:
    worker = Worker(pretend, ADAPTER, "1.0", limit=60)
    timer = threading.Timer(1, signal.raise_signal, [signal.SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        worker.ask(case("closes_everything"))
    began = time.monotonic()
    worker.close()
    assert time.monotonic() - began < GRACE
    assert worker._process.returncode == 128 + signal.SIGTERM


def test_a_question_in_words_that_cannot_be_encoded_has_a_name(worker: Worker) -> None:
    question = Question(("pretend", "--number", "\udce9"))
    assert len(question.key) == 16
    answer = worker.ask(question)
    assert isinstance(answer, Answer)
    assert "invalid int value: '\\udce9'" in answer.message


def test_closing_ends_the_process(pretend: Path) -> None:
    worker = Worker(pretend, ADAPTER, "1.0")
    process: subprocess.Popen[str] = worker._process
    worker.close()
    worker.close()
    assert process.poll() == 0


def test_a_question_about_another_gpu_is_a_mistake_of_the_caller(worker: Worker) -> None:
    with pytest.raises(ValueError, match="shows the engine None, the question is about H100"):
        worker.ask(Question(("pretend",), gpu="H100"))


def test_classes_of_questions_that_cannot_be_put_are_named(worker: Worker) -> None:
    answer = worker.ask(case("elsewhere_itself"))
    assert isinstance(answer, Unanswered)
    assert answer.excluded == "outside"
    assert isinstance(worker.ask(case("reject")), Answer)


def test_a_refusal_by_a_limit_of_the_environment_is_no_verdict(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "_excluded", (Excluded("too-many", re.compile("too many"), "a limit of this machine"),))
    answer = worker.ask(case("reject"))
    assert isinstance(answer, Unanswered)
    assert (answer.excluded, answer.reason[:10]) == ("too-many", "ValueError")


def oracle(*canaries: Canary) -> EngineOracle:
    return EngineOracle("vllm", "specconf.engines.vllm.oracle", canaries, {"hardware.platform": "cpu"})


@pytest.mark.parametrize(
    ("canary", "broken"),
    [
        (Canary("accepted", case("accept"), Verdict.ACCEPTS, "config"), ""),
        (Canary("rejected", case("reject"), Verdict.REJECTS), ""),
        (Canary("wrong", case("accept"), Verdict.REJECTS), "wrong: the engine accepts at config"),
        (Canary("late", case("reject"), Verdict.REJECTS, "parse"), "late: the engine rejects at config: steps"),
        (Canary("mute", case("dies"), Verdict.ACCEPTS), "mute: the process ended with 3"),
    ],
)
def test_a_canary_that_does_not_sing_is_told(worker: Worker, canary: Canary, broken: str) -> None:
    said = oracle(Canary("first", case("accept"), Verdict.ACCEPTS), canary).broken(worker)
    assert said.startswith(broken)
    assert bool(said) is bool(broken)


def test_values_in_force_are_found_by_the_first_name_that_the_release_has() -> None:
    asked = EngineOracle(
        "vllm", "", (), {}, effective={"a": ("a",), "b": ("graphs.decode.b", "b"), "c": ("new.c", "c"), "d": ("d",)}
    )
    answer = {"a": None, "graphs": {"decode": {"b": 1}}, "b": None, "new": None, "c": 3}
    assert asked.in_force(answer) == {"a": None, "b": 1, "c": 3}
