"""vLLM's own ways of writing a launch: programs, flags, dotted members, short levels, numbers, option files."""

from __future__ import annotations

from typing import Any

import pytest

from specconf.settings import ProblemKind, Settings
from tests.engines.vllm.support import ENGINE, launch, view

SERVE = ["vllm", "serve", "org/target"]


def read(argv: list[str], release: str = "0.33.0", **case: Any) -> Settings:
    return ENGINE.resolve(launch({"argv": argv, **case}), view(release))


def config(settings: Settings) -> dict[str, Any]:
    return dict(settings.under("speculative_config"))


@pytest.mark.parametrize(
    "argv",
    [
        SERVE,
        ["/usr/local/bin/vllm", "serve", "org/target"],
        ["python3", "-m", "vllm.entrypoints.openai.api_server", "--model", "org/target"],
        ["python", "-m", "vllm.entrypoints.cli.main", "serve", "org/target"],
        ["python", "/app/vllm/entrypoints/openai/api_server.py", "--model=org/target"],
        ["serve", "org/target"],
        ["--model", "org/target"],
        ["vllm", "serve", "--model", "org/target"],
    ],
)
def test_programs(argv: list[str]) -> None:
    settings = read(argv)
    assert settings["model"] == "org/target"
    assert settings.problems == ()


@pytest.mark.parametrize("argv", [["vllm", "serve"], ["serve"], ["python", "-m", "vllm.entrypoints.openai.api_server"]])
def test_a_program_without_words(argv: list[str]) -> None:
    assert (dict(read(argv)), read(argv).problems) == ({}, ())


def test_a_model_flag_under_serve_was_refused_before() -> None:
    (problem,) = read(["vllm", "serve", "--model", "org/target"], "0.8.2").problems
    assert (problem.kind, problem.spelling) == (ProblemKind.UNEXPECTED, "--model")


def test_the_module_takes_no_positional() -> None:
    (problem,) = read(["python", "-m", "vllm.entrypoints.openai.api_server", "org/target"]).problems
    assert problem.kind is ProblemKind.UNEXPECTED


@pytest.mark.parametrize(
    ("words", "path", "value"),
    [
        (["--tensor_parallel_size", "2"], "tensor_parallel_size", 2),
        (["--tensor-parallel-size=2"], "tensor_parallel_size", 2),
        (["-tp", "2"], "tensor_parallel_size", 2),
        (["--tensor-par", "2"], "tensor_parallel_size", 2),
        (["--no-enable-prefix-caching"], "enable_prefix_caching", False),
        (["--max-model-len", "32k"], "max_model_len", 32000),
        (["--max-model-len", "32K"], "max_model_len", 32768),
        (["--max-model-len=1.5k"], "max_model_len", 1500),
        (["--max-model-len", "auto"], "max_model_len", -1),
        (["-O3"], "optimization_level", "3"),
        (["--served-model-name", "a", "b"], "served_model_name", ["a", "b"]),
    ],
)
def test_flags(words: list[str], path: str, value: Any) -> None:
    settings = read([*SERVE, *words])
    assert settings[path] == value
    assert settings.problems == ()


def test_underscores_were_no_dashes_at_first() -> None:
    (problem,) = read(["--model", "org/target", "--tensor_parallel_size", "2"], "0.4.1").problems
    assert (problem.kind, problem.spelling) == (ProblemKind.UNKNOWN, "--tensor_parallel_size")
    assert read(["--model", "org/target", "--max-seq_len-to-capture", "2"], "0.4.2")["max_seq_len_to_capture"] == 2


def test_a_short_level_was_a_compilation_config_before() -> None:
    assert read([*SERVE, "-O3"], "0.11.0")["compilation_config"] == 3


@pytest.mark.parametrize(
    ("words", "release"),
    [
        (["--speculative-config", '{"method":"ngram","num_speculative_tokens":3}'], "0.33.0"),
        (["--speculative-config.method", "ngram", "--speculative-config.num_speculative_tokens", "3"], "0.33.0"),
        (["--speculative-config.method=ngram", "--speculative-config.num-speculative-tokens=3"], "0.33.0"),
        (["--speculative-config", '{"method":"ngram","num-speculative-tokens":3}'], "0.26.0"),
        (["-sc", '{"method":"ngram","num_speculative_tokens":3}'], "0.19.0"),
        (["--spec-method", "ngram", "--spec-tokens", "3"], "0.22.0"),
        (["--spec-method", "ngram", "--speculative-config", '{"num_speculative_tokens":3}'], "0.22.0"),
        (["--speculative-config", "{'method': 'ngram', 'num_speculative_tokens': 3}"], "0.8.2"),
    ],
)
def test_ways_to_write_a_speculative_config(words: list[str], release: str) -> None:
    settings = read([*SERVE, *words], release)
    assert config(settings) == {"method": "ngram", "num_speculative_tokens": 3}
    assert settings.problems == ()


@pytest.mark.parametrize("sign", [" ", "="])
def test_json_true_is_no_python_literal(sign: str) -> None:
    written = f"--speculative-config{sign}" + '{"disable_mqa_scorer":%s}'
    (problem,) = read([*SERVE, *(written % "true").split(" ")], "0.8.2").problems
    assert (problem.kind, problem.value) == (ProblemKind.NOT_JSON, '{"disable_mqa_scorer":true}')
    assert config(read([*SERVE, *(written % "True").split(" ")], "0.8.2")) == {"disable_mqa_scorer": True}


OBJECT = '{"num_speculative_tokens":5}'


@pytest.mark.parametrize(
    ("words", "file"),
    [
        (["--spec-tokens", "3", "--speculative-config", OBJECT], ""),
        (["--spec-tokens=3", f"--speculative-config={OBJECT}"], ""),
        (["--spec_tokens=3", f"-sc={OBJECT}"], ""),
        (["--spec-tokens", "3", "-sc.num_speculative_tokens", "5"], ""),
        (["--spec-tokens", "3"], f"speculative-config: '{OBJECT}'\n"),
        (["-sc", OBJECT], "spec-tokens: 3\n"),
    ],
)
def test_a_short_flag_and_the_same_key_of_the_object(words: list[str], file: str) -> None:
    named = ["--config", "c.yaml"] if file else []
    (problem,) = read([*SERVE, *named, *words], files={"c.yaml": file}).problems
    assert (problem.kind, problem.value) == (ProblemKind.EXCLUSIVE, "3")
    assert problem.spelling.replace("_", "-") == "--spec-tokens"


def test_a_short_flag_beside_other_keys_of_the_object() -> None:
    settings = read([*SERVE, f"-sc={OBJECT}", "--spec-method=ngram"])
    assert settings.problems == ()
    assert config(settings) == {"num_speculative_tokens": 5, "method": "ngram"}


def test_a_dotted_key_replaces_the_json() -> None:
    words = ["--speculative-config", '{"method":"ngram","num_speculative_tokens":3}']
    settings = read([*SERVE, *words, "--speculative-config.method", "suffix"])
    assert config(settings) == {"method": "suffix"}
    assert {p.kind for p in settings.problems} == {ProblemKind.OVERWRITTEN}


YAML = """
model: org/other
tensor-parallel-size: 2
enforce-eager: true
enable-prefix-caching: false
speculative-config: '{"method":"ngram","num_speculative_tokens":3}'
"""


def test_an_option_file() -> None:
    settings = read([*SERVE, "--config", "vllm.yaml", "-tp", "4"], "0.9.2", files={"vllm.yaml": YAML})
    assert settings["tensor_parallel_size"] == 4
    assert settings["enforce_eager"] is True
    assert "enable_prefix_caching" not in settings  # false was left out until 0.28.0
    assert config(settings) == {"method": "ngram", "num_speculative_tokens": 3}
    (loser,) = settings.items_by_path["tensor_parallel_size"].losers
    assert loser.value == 2
    newer = read([*SERVE, "--config", "vllm.yaml"], "0.33.0", files={"vllm.yaml": YAML})
    assert newer["enable_prefix_caching"] is False
    assert newer["model"] == "org/target"


NESTED = "speculative-config:\n  method: ngram\n  num_speculative_tokens: 3\n"


def test_a_nested_mapping_of_an_option_file() -> None:
    assert config(read([*SERVE, "--config", "a.yaml"], "0.16.0", files={"a.yaml": NESTED})) == {
        "method": "ngram",
        "num_speculative_tokens": 3,
    }
    (problem,) = read([*SERVE, "--config", "a.yaml"], "0.15.1", files={"a.yaml": NESTED}).problems
    assert problem.kind is ProblemKind.NOT_JSON


def test_the_command_line_replaces_an_object_of_the_option_file() -> None:
    words = ["--config", "a.yaml", "--speculative-config", '{"method":"suffix"}']
    assert config(read([*SERVE, *words], files={"a.yaml": NESTED})) == {"method": "suffix"}


@pytest.mark.parametrize("flag", ["--ngram-prompt-lookup-max", "--ngram-prompt-lookup-ma"])
def test_a_separate_flag_leaves_those_of_the_option_file(flag: str) -> None:
    text = "speculative-model: '[ngram]'\nnum-speculative-tokens: 3\nngram-prompt-lookup-max: 2\n"
    settings = read([*SERVE, "--config", "c.yaml", flag, "4"], "0.7.2", files={"c.yaml": text})
    assert config(settings) == {"model": "[ngram]", "num_speculative_tokens": 3, "prompt_lookup_max": 4}


def test_a_short_flag_is_merged_into_the_object_of_the_option_file() -> None:
    text = 'speculative-config: \'{"method": "ngram"}\'\n'
    settings = read([*SERVE, "--config", "c.yaml", "--spec-tokens", "4"], files={"c.yaml": text})
    assert config(settings) == {"method": "ngram", "num_speculative_tokens": 4}


@pytest.mark.parametrize(
    ("name", "text"), [("a.yaml", "- 1\n"), ("a.yaml", "a: [\n"), ("a.json", "{}"), ("a.yaml", "")]
)
def test_a_bad_option_file(name: str, text: str) -> None:
    (problem,) = read([*SERVE, "--config", name], files={name: text}).problems
    assert (problem.kind, problem.spelling) == (ProblemKind.INVALID, "--config")


def test_an_option_file_that_is_not_at_hand_may_hold_anything() -> None:
    assert read([*SERVE, "--config", "a.yaml"]).may_hold_more


def test_environment() -> None:
    settings = read(SERVE, env={"VLLM_USE_V2_MODEL_RUNNER": "0", "HF_HUB_OFFLINE": "1"})
    assert settings["env.VLLM_USE_V2_MODEL_RUNNER"] == "0"
    assert settings["env.HF_HUB_OFFLINE"] == "1"  # whatever stands beside the launch: nothing of it is lost


def test_unknown_and_ambiguous_flags() -> None:
    settings = read([*SERVE, "--tensor-parallel-sizes", "2", "--max-num", "4"])
    assert [p.kind for p in settings.problems] == [ProblemKind.UNKNOWN, ProblemKind.AMBIGUOUS]
    assert "--tensor-parallel-size" in settings.problems[0].near


def test_dashes_in_a_key_of_the_json_before_they_were_read() -> None:
    settings = read([*SERVE, "--speculative-config", '{"num-speculative-tokens":3}'], "0.25.1")
    assert "speculative_config.num_speculative_tokens" not in settings
