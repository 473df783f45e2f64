"""`tools/live.py`: only a release without an environment is skipped; whatever else goes wrong fails."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from specconf.oracle.asking import Answer, Unanswered, Verdict
from specconf.oracle.environment import Environment
from specconf.verify.observed import Folder, Header, Observed, row_of
from tests.verify.pretended import CANARIES, PLAIN, VERSIONS, accepts, pretended
from tests.verify.test_run import FIRST, SECOND
from tools import live

HEADER = Header("vllm", "0.33.0", "vllm-0.33.0.tar.gz", "ab" * 32, "3.11.7", VERSIONS)


@pytest.fixture
def recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Folder:
    """Two answers of a release that is built."""
    folder = Folder(tmp_path / "vllm" / "observed")
    rows = tuple(row_of(each.key, ["array 1:1"], accepts(each), {}) for each in (FIRST, SECOND))
    folder.write(Observed(HEADER, rows), {each.key: each for each in (FIRST, SECOND)})
    monkeypatch.setattr(live, "COMPAT", tmp_path)
    place = Environment("vllm", "0.33.0", tmp_path, tmp_path, HEADER.archive, HEADER.sha256, "", (), None, "")
    monkeypatch.setattr(live.environment, "find", lambda *_: place)
    return folder


def ask(monkeypatch: pytest.MonkeyPatch, **changes: Any) -> bool:
    monkeypatch.setattr(live, "get_oracle", lambda _: pretended(**changes))
    return live.ask_again("vllm", "0.33.0", 30, 10.0)


def test_recorded_answers(
    recorded: Folder, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ask(monkeypatch)
    assert "live vllm 0.33.0: 2 of 2 answers are the recorded ones" in capsys.readouterr().out


def test_another_answer_fails(
    recorded: Folder, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    refused = Answer(Verdict.REJECTS, "config", "ValueError", "no")
    assert not ask(monkeypatch, says=lambda question: refused if question == FIRST else accepts(question))
    assert "recorded accepts at config, now rejects at config" in capsys.readouterr().out


def test_an_answer_that_does_not_come_fails(recorded: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not ask(monkeypatch, says=lambda question: accepts(question) if question == PLAIN else Unanswered("gone"))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"fails": frozenset({"0.33.0"})}, "failed: the process that asks 0.33.0 ended with 1"),
        ({"canaries": (replace(CANARIES[0], verdict=Verdict.REJECTS),)}, "failed: broken: a plain launch is accepted"),
        ({"says": lambda _: Unanswered("the adapter is broken")}, "failed: broken"),
    ],
)
def test_a_worker_that_does_not_start_or_answer_fails(
    recorded: Folder,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    changes: dict[str, Any],
    said: str,
) -> None:
    assert not ask(monkeypatch, **changes)
    assert said in capsys.readouterr().out


def test_another_archive_fails(
    recorded: Folder, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = recorded.read("0.33.0")
    recorded.write(replace(before, header=replace(HEADER, sha256="cd" * 32)), {})
    assert not ask(monkeypatch)
    assert "holds another archive than the recorded one" in capsys.readouterr().out


def test_a_release_of_which_nothing_is_recorded_fails(
    recorded: Folder, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (recorded.path / "0.33.0.jsonl").unlink()
    assert not ask(monkeypatch)
    assert "0.33.0.jsonl: nothing is recorded there" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("import sys; sys.exit('error: the index cannot be reached')", "the index cannot be reached"),
        ("import time; time.sleep(60)", "was not built within 0.2 s"),
    ],
)
def test_only_where_there_is_no_environment_a_release_is_skipped(
    recorded: Folder,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    program: str,
    said: str,
) -> None:
    run = live.subprocess.run
    monkeypatch.setattr(live.environment, "find", lambda *_: None)
    monkeypatch.setattr(live.subprocess, "run", lambda words, **more: run([words[0], "-c", program], **more))
    assert live.ask_again("vllm", "0.33.0", 30, 0.2 if "sleep" in program else 20.0)
    told = capsys.readouterr().out
    assert "live vllm 0.33.0: skipped" in told
    assert said in told


def test_one_failure_is_the_exit_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "ask_again", lambda engine, *_: engine == "vllm")
    assert live.main(["vllm=0.33.0", "sglang=0.5.23"]) == 1
    assert live.main(["vllm=0.33.0"]) == 0
