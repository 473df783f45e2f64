"""Launches as written → settings: click's grammar, the YAML file by the engine's rules, and which of two values counts."""

from __future__ import annotations

from typing import Any

import pytest

from specconf.findings import Severity
from specconf.rules.spelling import spelling_findings
from specconf.settings import Origin, ProblemKind, Settings
from specconf.words import Candidates, Launch, Unresolved, Word, words
from tests.engines.tensorrt_llm.support import ENGINE, launch, view

SPECULATIVE = "speculative_config: {decoding_type: Eagle3, max_draft_len: 3, speculative_model: org/head}\n"
FLAT = {
    "speculative_config.decoding_type": "Eagle3",
    "speculative_config.max_draft_len": 3,
    "speculative_config.speculative_model": "org/head",
}


def read(*argv: str, release: str = "1.4.0rc1", file: str | None = None, env: dict[str, str] | None = None) -> Settings:
    files = {"llm.yaml": file} if file is not None else {}
    return ENGINE.resolve(launch("trtllm-serve", *argv, files=files, env=env), view(release))


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (["org/m"], {"model": "org/m"}),
        (["serve", "org/m"], {"model": "org/m"}),
        (["--port", "9000", "org/m"], {"cli.port": 9000, "model": "org/m"}),
        (["org/m", "--port=9000"], {"model": "org/m", "cli.port": 9000}),
        (["org/m", "--tp_size", "2"], {"model": "org/m", "tensor_parallel_size": 2}),
        (["org/m", "--tensor_parallel_size", "2"], {"model": "org/m", "tensor_parallel_size": 2}),
        (["org/m", "--trust_remote_code"], {"model": "org/m", "cli.trust_remote_code": True}),
        (["org/m", "--config", "llm.yaml"], {"model": "org/m", **FLAT}),
        (["org/m", "--extra_llm_api_options", "llm.yaml"], {"model": "org/m", **FLAT}),
        (["org/m", "--config=./llm.yaml"], {"model": "org/m", **FLAT}),
        (["--config", "llm.yaml"], FLAT),
    ],
)
def test_words(argv: list[str], expected: dict[str, Any]) -> None:
    settings = read(*argv, file=SPECULATIVE)
    assert settings.flat() == expected
    assert not settings.problems
    assert not settings.may_hold_more


@pytest.mark.parametrize(
    ("argv", "kind"),
    [
        (["org/m", "--tp-size", "2"], ProblemKind.UNKNOWN),
        (["org/m", "--max_batch", "8"], ProblemKind.UNKNOWN),
        (["org/m", "--port", "x"], ProblemKind.INVALID),
        (["org/m", "--port"], ProblemKind.MISSING_VALUE),
        (["org/m", "more"], ProblemKind.UNEXPECTED),
        (["org/m", "--trust_remote_code=true"], ProblemKind.INVALID),
    ],
)
def test_words_that_the_parser_would_not_take(argv: list[str], kind: ProblemKind) -> None:
    assert [p.kind for p in read(*argv).problems] == [kind]


def test_the_environment_is_kept() -> None:
    settings = read("org/m", env={"TLLM_LOG_LEVEL": "INFO", "TRTLLM_ENABLE_PDL": "1"})
    assert settings["env.TLLM_LOG_LEVEL"] == "INFO"
    assert settings["env.TRTLLM_ENABLE_PDL"] == "1"


def test_a_file_that_is_not_at_hand_may_hold_anything() -> None:
    settings = read("org/m", "--config", "elsewhere.yaml")
    assert settings.may_hold_more
    assert settings["cli.config"] == "elsewhere.yaml"


def test_a_file_named_by_a_variable_may_hold_anything() -> None:
    given = Launch("tensorrt-llm", (*words("trtllm-serve", "org/m", "--config"), Word(None, raw="$FILE")))
    settings = ENGINE.resolve(given, view("1.4.0rc1"))
    assert settings.may_hold_more
    assert settings["cli.config"] == Unresolved("$FILE")


def test_config_in_a_release_that_does_not_have_it_is_told_and_read() -> None:
    settings = read("org/m", "--config", "llm.yaml", file="tensor_parallel_size: 2\n", release="1.1.0")
    assert settings["tensor_parallel_size"] == 2
    (problem,) = settings.problems
    assert (problem.kind, problem.spelling, problem.near) == (
        ProblemKind.UNKNOWN,
        "--config",
        ("--extra_llm_api_options",),
    )


def test_a_bare_file_names_no_flag() -> None:
    assert not read("--config", "llm.yaml", file="tensor_parallel_size: 2\n", release="1.1.0").problems


@pytest.mark.parametrize(
    ("release", "value"),
    [("1.2.1", 16), ("1.3.0rc14", 16), ("1.3.0rc18", Candidates((8, 16))), ("1.3.0rc22", 8), ("1.4.0rc1", 8)],
)
def test_flag_or_key(release: str, value: Any) -> None:
    settings = read(
        "org/m", "--max_batch_size", "8", "--config", "llm.yaml", file="max_batch_size: 16\n", release=release
    )
    assert settings["max_batch_size"] == value
    told = [p.value for p in settings.problems if p.kind is ProblemKind.OVERWRITTEN]
    assert told == ([] if isinstance(value, Candidates) else ["max_batch_size"])


def test_flag_and_key_that_say_the_same_are_no_problem() -> None:
    settings = read("org/m", "--max_batch_size", "8", "--config", "llm.yaml", file="max_batch_size: 8\n")
    assert settings["max_batch_size"] == 8
    assert not settings.problems


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("tokenizer_mode: yes", True),
        ("tokenizer_mode: 'yes'", "yes"),
        ("tokenizer_mode: 0x10", 16),
        ("tokenizer_mode: 1:30", 90),
        ("tokenizer_mode: 1e3", "1e3"),
        ("tokenizer_mode: 1_000", 1000),
        ("tokenizer_mode: ~", None),
        ("tokenizer_mode: [1, a]", [1, "a"]),
        ("tokenizer_mode: {4: 1, b: on}", {"4": 1, "b": True}),
    ],
)
def test_yaml_1_1(text: str, value: Any) -> None:
    got = read("org/m", "--config", "llm.yaml", file=text)["tokenizer_mode"]
    assert got == value
    assert isinstance(got, bool) is isinstance(value, bool)


def test_values_are_converted_as_the_engines_models_do() -> None:
    text = "tensor_parallel_size: '2'\nspeculative_config: {decoding_type: MTP, max_draft_len: 3.0, use_mtp_vanilla: 'true'}\n"
    flat = read("org/m", "--config", "llm.yaml", file=text).flat()
    assert flat["tensor_parallel_size"] == 2
    assert flat["speculative_config.max_draft_len"] == 3
    assert isinstance(flat["speculative_config.max_draft_len"], int)
    assert flat["speculative_config.use_mtp_vanilla"] is True


def test_a_key_written_twice_counts_once() -> None:
    text = "attn_backend: VANILLA\nspeculative_config: {max_draft_len: 3, max_draft_len: 4}\nattn_backend: TRTLLM\n"
    settings = read("org/m", "--config", "llm.yaml", file=text)
    assert settings["attn_backend"] == "TRTLLM"
    assert settings["speculative_config.max_draft_len"] == 4
    told = [(p.kind, p.value, p.where.line if p.where else 0) for p in settings.problems]
    assert told == [
        (ProblemKind.OVERWRITTEN, "attn_backend", 1),
        (ProblemKind.OVERWRITTEN, "speculative_config.max_draft_len", 2),
    ]


def test_an_object_written_twice_loses_its_first_members() -> None:
    text = "speculative_config: {decoding_type: MTP, max_draft_len: 3}\nspeculative_config: {decoding_type: NGram}\n"
    assert read("org/m", "--config", "llm.yaml", file=text).under("speculative_config") == {"decoding_type": "NGram"}


def test_anchors_and_merge_keys() -> None:
    text = (
        "x: &base {decoding_type: Eagle3, max_draft_len: 3}\nspeculative_config:\n  <<: *base\n  max_draft_len: 5\n"
        "  speculative_model: org/head\n"
    )
    settings = read("org/m", "--config", "llm.yaml", file=text)
    assert settings.under("speculative_config") == {
        **{k.partition(".")[2]: v for k, v in FLAT.items()},
        "max_draft_len": 5,
    }
    assert not [p for p in settings.problems if p.kind is ProblemKind.OVERWRITTEN]


def test_the_place_of_a_value_is_in_the_file() -> None:
    text = "attn_backend: TRTLLM\nspeculative_config:\n  max_draft_len: 3\n"
    setting = read("org/m", "--config", "llm.yaml", file=text).setting("speculative_config.max_draft_len")
    assert setting is not None
    assert str(setting.final.where) == "llm.yaml:3:18"
    assert (setting.final.origin, setting.final.spelling) == (Origin.FILE, "max_draft_len")


@pytest.mark.parametrize("text", ["", "# nothing\n", "---\n"])
def test_an_empty_file_sets_nothing(text: str) -> None:
    settings = read("org/m", "--config", "llm.yaml", file=text)
    assert settings.flat() == {"model": "org/m"}
    assert not settings.problems


BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{chr(98 + n)}: &{chr(98 + n)} [{', '.join([f'*{chr(97 + n)}'] * 9)}]\n" for n in range(8)
)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("- a\n", "one mapping"),
        ("a: [\n", "valid YAML"),
        ("a: b: c\n", "valid YAML (line 1)"),
        ("a: !!python/object:os.system x\n", "valid YAML"),
        ("a: {b: 1\n", "valid YAML"),
        ("--- 1\n--- 2\n", "valid YAML"),
        ("? [1]\n: 2\n", "keys that are plain text"),
        ("a: &a [*a]\n", "less deeply nested"),
        ("a: " + "[" * 3000 + "]" * 3000 + "\n", "less deeply nested"),
        (BOMB, "smaller"),
    ],
)
def test_files_that_the_engine_could_not_take(text: str, part: str) -> None:
    (problem,) = [p for p in read("org/m", "--config", "llm.yaml", file=text).problems if p.kind is ProblemKind.INVALID]
    assert part in problem.expected


def test_a_date_is_not_text() -> None:
    settings = read("org/m", "--config", "llm.yaml", file="attn_backend: 2026-01-02\n")
    assert [p.kind for p in settings.problems] == [ProblemKind.INVALID]


def found(text: str, release: str) -> list[tuple[str, Severity]]:
    settings = read("org/m", "--extra_llm_api_options", "llm.yaml", file=text, release=release)
    return [(f.code, f.severity) for f in spelling_findings(settings, ENGINE, view(release))]


@pytest.mark.parametrize(
    ("members", "release", "expected"),
    [
        ("decoding_type: NGram, max_draft_len: 3", "1.4.0rc1", []),
        ("decoding_type: Eagle3, max_draft_len: x", "1.4.0rc1", [("SC103", Severity.ERROR)]),
        ("decoding_type: Eagle3, max_draft_length: 3", "1.4.0rc1", [("SC101", Severity.ERROR)]),
        ("decoding_type: Eagle, max_draft_length: 3", "0.21.0", [("SC101", Severity.INFO)]),
        ("decoding_type: Eagle3, max_draft_length: 3", "1.3.0rc20", [("SC101", Severity.INFO)]),
        # Keys that another decoding_type has.
        ("decoding_type: NGram, use_dynamic_tree: true", "1.4.0rc1", [("SC101", Severity.ERROR)]),
        ("decoding_type: Eagle3, use_dynamic_tree: true", "1.4.0rc1", []),
        ("decoding_type: SA, max_matching_ngram_size: -1", "1.4.0rc1", []),
        ("decoding_type: NGram, max_matching_ngram_size: -1", "1.4.0rc1", [("SC103", Severity.ERROR)]),
        ("decoding_type: DSpark, attention_backend: CUTEDSL", "1.4.0rc1", []),
        ("decoding_type: DFlash, attention_backend: CUTEDSL", "1.4.0rc1", [("SC103", Severity.ERROR)]),
        # The spelling of the draft.
        ("decoding_type: Eagle, speculative_model: org/head", "1.1.0", [("SC101", Severity.ERROR)]),
        ("decoding_type: Eagle, speculative_model_dir: org/head", "1.1.0", []),
        ("decoding_type: Eagle, speculative_model: org/head", "1.2.1", []),
    ],
)
def test_keys_of_speculative_config(members: str, release: str, expected: list[tuple[str, Severity]]) -> None:
    assert found(f"speculative_config: {{{members}}}\n", release) == expected


def test_an_unknown_key_of_the_file_is_told_as_not_checked() -> None:
    assert found("attn_backnd: TRTLLM\n", "1.4.0rc1") == [("SC101", Severity.INFO)]
