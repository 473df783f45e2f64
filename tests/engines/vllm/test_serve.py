"""The words that a launch of vLLM is started with on a CPU."""

from __future__ import annotations

from pathlib import Path

import pytest

from specconf.engines.vllm.oracle.serve import command

PYTHON = Path("/e/bin/python")
ADDRESS = ("--host", "127.0.0.1", "--port", "81")


@pytest.mark.parametrize(
    ("words", "added"),
    [
        ((), (*ADDRESS, "--dtype", "float32", "--enforce-eager", "--max-model-len", "512")),
        (("--dtype", "half"), (*ADDRESS, "--enforce-eager", "--max-model-len", "512")),
        (("--dtype=half", "--max_model_len=64"), (*ADDRESS, "--enforce-eager")),
        (("--no-enforce-eager", "--max-model-len", "64"), (*ADDRESS, "--dtype", "float32")),
        (("--port", "9"), (*ADDRESS, "--dtype", "float32", "--enforce-eager", "--max-model-len", "512")),
    ],
)
def test_only_what_the_launch_leaves_open_is_added(words: tuple[str, ...], added: tuple[str, ...]) -> None:
    made = command(("vllm", "serve", "m", *words), PYTHON, 81)
    assert made.added == added
    assert made.words == ("/e/bin/vllm", "serve", "m", *words, *added)


def test_the_module_is_run_by_the_environment_s_python() -> None:
    argv = ("python", "-m", "vllm.entrypoints.openai.api_server", "--model", "m")
    assert command(argv, PYTHON, 81).words[:5] == ("/e/bin/python", *argv[1:])
