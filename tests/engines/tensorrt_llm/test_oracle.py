"""The adapter on a package with the entry points it uses. It was never run against TensorRT-LLM itself."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from msgspec import Struct

from specconf.engines.registry import get_oracle
from specconf.errors import OracleError
from specconf.oracle.asking import Answer, Question, Unanswered, Verdict
from specconf.oracle.client import Worker
from tests.oracle.pretend import make_environment
from tests.oracle.pretended_trtllm import NEW, OLD

ORACLE = get_oracle("tensorrt-llm")
MODELS = {"target": {"model_type": "llama"}}


class Generation(Struct, frozen=True):
    """One generation of the package: its release, and how it names the option file."""

    worker: Worker
    release: str
    file_option: str
    tag: str


@pytest.fixture(scope="module", params=["1.2.1", "1.4.0rc1"])
def generation(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Generation]:
    old = request.param == "1.2.1"
    python = make_environment(tmp_path_factory.mktemp("trtllm") / "env", OLD if old else NEW)
    with ORACLE.worker(python, request.param) as worker:
        yield Generation(
            worker, request.param, "--extra_llm_api_options" if old else "--config", "Eagle" if old else "Eagle3"
        )


def ask(
    generation: Generation, *words: str, options: str | None = None, env: Mapping[str, str] | None = None
) -> Answer | Unanswered:
    files = {"options.yaml": options} if options is not None else {}
    named = [generation.file_option, "options.yaml"] if files else []
    return generation.worker.ask(Question(("trtllm-serve", *words, *named), env or {}, files, MODELS))


def answered(generation: Generation, *words: str, options: str | None = None) -> Answer:
    answer = ask(generation, *words, options=options)
    assert isinstance(answer, Answer), answer
    return answer


def test_the_canaries_sing(generation: Generation) -> None:
    assert ORACLE.broken(generation.worker) == ""


@pytest.mark.parametrize("words", [("target",), ("serve", "target")])
def test_a_launch_is_accepted_with_the_arguments_of_the_llm(generation: Generation, words: tuple[str, ...]) -> None:
    options = f"speculative_config:\n  decoding_type: {generation.tag}\n  max_draft_len: 4\n"
    answer = answered(generation, *words, "--max_batch_size", "16", options=options)
    assert (answer.verdict, answer.stage) == (Verdict.ACCEPTS, "config"), answer.message
    assert answer.parsed["max_batch_size"] == 16
    in_force = ORACLE.in_force(answer.effective)
    assert in_force["max_batch_size"] == 16
    assert in_force["max_num_tokens"] == 8192
    assert in_force["speculative_config.max_draft_len"] == 4
    assert in_force["speculative_config.decoding_type"] == generation.tag


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--no_such_flag",), "No such option"),
        (("--max_batch_size", "many"), "'many' is not a valid integer"),
        (("--grpc", "too", "many"), "Got unexpected extra argument"),
    ],
)
def test_what_click_refuses_is_refused_at_parse(generation: Generation, words: tuple[str, ...], message: str) -> None:
    answer = answered(generation, "target", *words)
    assert (answer.verdict, answer.stage, answer.exception) == (Verdict.REJECTS, "parse", "SystemExit")
    assert message in answer.message


@pytest.mark.parametrize(
    ("words", "options", "exception", "message"),
    [
        ((), "speculative_config: {max_draft_len: 9}\n", "ValidationError", "max_draft_len is too large"),
        ((), "speculative_config: {max_draft_len: four}\n", "ValidationError", "valid integer"),
        ((), "no_such_key: 1\n", "ValidationError", "Extra inputs are not permitted"),
        (("--backend", "none"), None, "SystemExit", "none is not a known backend"),
    ],
)
def test_what_its_arguments_refuse_is_refused_at_config(
    generation: Generation, words: tuple[str, ...], options: str | None, exception: str, message: str
) -> None:
    answer = answered(generation, "target", *words, options=options)
    assert (answer.verdict, answer.stage, answer.exception) == (Verdict.REJECTS, "config", exception)
    assert message in answer.message


def test_a_port_that_is_taken_on_this_machine_is_not_asked_about(generation: Generation) -> None:
    with socket.socket() as taken:
        taken.bind(("localhost", 0))
        taken.listen()
        assert answered(generation, "target", "--port", str(taken.getsockname()[1])).accepts


@pytest.mark.parametrize("words", [("disaggregated",), ("target", "--grpc")])
def test_other_servers_are_not_asked_about(generation: Generation, words: tuple[str, ...]) -> None:
    answer = ask(generation, *words)
    assert isinstance(answer, Unanswered)
    assert answer.excluded == "another-program"


def test_a_machine_without_a_gpu_is_no_verdict(generation: Generation) -> None:
    answer = ask(generation, "target", env={"PRETENDED_GPUS": "0"})
    assert isinstance(answer, Unanswered)
    assert answer.excluded == "no-gpu"


def test_help_is_no_verdict(generation: Generation) -> None:
    assert isinstance(ask(generation, "target", "--help"), Unanswered)


def test_a_release_without_the_entry_points_cannot_be_asked(tmp_path: Path) -> None:
    python = make_environment(tmp_path / "env", {**NEW, "tensorrt_llm/commands/serve.py": "main = None"})
    with pytest.raises(OracleError) as raised:
        ORACLE.worker(python, "1.4.0rc1")
    assert "has no serve: specconf cannot ask it" in str(raised.value)
