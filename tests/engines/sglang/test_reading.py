"""Launches as written: program forms, argparse's grammar by release, option files, environment variables."""

from __future__ import annotations

import pytest

from specconf.compat.database import Database
from specconf.engines.sglang import ENGINE
from specconf.settings import Origin, ProblemKind, Settings
from specconf.words import Launch, Word
from tests.engines.sglang.support import launch, resolve


def _kinds(settings: Settings) -> list[ProblemKind]:
    return [problem.kind for problem in settings.problems]


@pytest.mark.parametrize(
    "argv",
    [
        ["python", "-m", "sglang.launch_server", "--model-path", "m", "--port", "1"],
        ["/usr/bin/python3", "-m", "sglang.launch_server", "--model-path=m", "--port=1"],
        ["python3", "-u", "-X", "dev", "-m", "sglang.launch_server", "--model-path", "m", "--port", "1"],
        ["python3", "python/sglang/launch_server.py", "--model-path", "m", "--port", "1"],
        ["sglang", "serve", "--model-path", "m", "--port", "1"],
        ["/opt/venv/bin/sglang", "serve", "m", "--port", "1"],
        ["sglang", "serve", "--model-type", "llm", "m", "--port", "1"],
        ["--model-path", "m", "--port", "1"],
    ],
)
def test_program_forms(database: Database, argv: list[str]) -> None:
    settings = ENGINE.resolve(launch(*argv), database.at("0.5.23"))
    assert settings.flat() == {"model_path": "m", "port": 1}
    assert not settings.problems


def test_serve_takes_no_model_word_before(database: Database) -> None:
    assert _kinds(ENGINE.resolve(launch("sglang", "serve", "m"), database.at("0.5.15"))) == [ProblemKind.UNEXPECTED]


def test_the_module_takes_no_model_word(database: Database) -> None:
    assert _kinds(resolve(database.at("0.5.23"), "m")) == [ProblemKind.UNEXPECTED]


ABBREVIATIONS = [
    ("--tp", "0.3.6", "tp_size"),
    ("--tp", "0.5.23", "tp_size"),
    ("--pp", "0.5.3rc2", "pp_size"),
    ("--pp", "0.5.3.post1", None),
    ("--cuda-graph-max-bs", "0.5.19", "cuda_graph_max_bs_decode"),
    ("--cuda-graph-max-bs", "0.5.20", None),
    ("--speculative-draft", "0.5.1.post3", "speculative_draft_model_path"),
    ("--speculative-draft", "0.5.2", None),
]


@pytest.mark.parametrize(("flag", "release", "path"), ABBREVIATIONS)
def test_abbreviations(database: Database, flag: str, release: str, path: str | None) -> None:
    settings = resolve(database.at(release), flag, "2")
    if path is None:
        assert _kinds(settings) == [ProblemKind.AMBIGUOUS]
    else:
        assert list(settings) == [path]


FILE = "model-path: f\ntp-size: 2\ntrust-remote-code: true\nskip-tokenizer-init: false\nlora-paths: [a=x, b=y]\n"


def test_the_command_line_wins_over_the_file(database: Database) -> None:
    argv = ["--port", "1", "--config", "s.yaml", "--tp-size", "4"]
    settings = resolve(database.at("0.5.10"), *argv, files={"s.yaml": FILE})
    assert settings.flat() == {
        "model_path": "f",
        "tp_size": 4,
        "trust_remote_code": True,
        "lora_paths": ["a=x", "b=y"],
        "port": 1,
    }
    setting = settings.setting("tp_size")
    assert setting is not None
    assert [w.origin for w in setting.written] == [Origin.FILE, Origin.ARGV]


def test_a_file_is_read_in_the_two_word_form_only(database: Database) -> None:
    settings = resolve(database.at("0.5.10"), "--config=s.yaml", files={"s.yaml": FILE})
    assert settings.flat() == {"config": "s.yaml"}


def test_underscores_are_no_flags_in_a_file(database: Database) -> None:
    settings = resolve(database.at("0.5.23"), "--config", "s.yaml", files={"s.yaml": "tp_size: 2\n"})
    assert _kinds(settings) == [ProblemKind.UNKNOWN]


def test_an_absent_file_may_hold_anything(database: Database) -> None:
    assert resolve(database.at("0.5.23"), "--config", "s.yaml").may_hold_more


@pytest.mark.parametrize("text", ["- a\n", "a: [\n"])
def test_a_file_that_is_no_mapping(database: Database, text: str) -> None:
    settings = resolve(database.at("0.5.23"), "--config", "s.yaml", files={"s.yaml": text})
    assert _kinds(settings) == [ProblemKind.INVALID]


def test_a_file_of_another_kind(database: Database) -> None:
    settings = resolve(database.at("0.5.23"), "--config", "s.json", files={"s.json": "{}"})
    assert _kinds(settings) == [ProblemKind.INVALID]


def test_releases_before_the_file(database: Database) -> None:
    assert ProblemKind.UNKNOWN in _kinds(resolve(database.at("0.5.2"), "--config", "s.yaml"))


def test_environment_variables(database: Database) -> None:
    assert resolve(database.at("0.5.10"), env={"SGLANG_ENABLE_SPEC_V2": "1"}).flat() == {
        "env.SGLANG_ENABLE_SPEC_V2": "1"
    }


@pytest.mark.parametrize(("text", "length"), [("8192", 8192), ("8k", 8000), ("8Ki", 8192), ("1.5k", 1500)])
def test_numbers_with_suffixes(database: Database, text: str, length: int) -> None:
    assert resolve(database.at("0.5.23"), "--context-length", text)["context_length"] == length


def test_a_word_that_may_be_many(database: Database) -> None:
    words = (Word("--model-path"), Word("m"), Word(None, raw="$EXTRA", may_be_many=True))
    settings = ENGINE.resolve(Launch("sglang", words), database.at("0.5.23"))
    assert settings.may_hold_more
    assert settings["model_path"] == "m"
