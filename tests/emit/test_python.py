"""Programs that make an engine: executed beside stand-ins for the engines' packages, which show what they are given."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import EXAMPLES, Run
from tests.emit.cases import RELEASES, compiled, spec_file

_STAND_IN = """
import json, os
class {name}:
    def __init__(self, **given):
        shown = {{key: dict(vars(value), made_by=type(value).__name__) if hasattr(value, "__dict__") else value
                 for key, value in given.items()}}
        print(json.dumps([shown, os.environ.get("VLLM_USE_V1")]))
    def shutdown(self):
        print("shut")
class Config:
    def __init__(self, **given):
        self.__dict__.update(given)
def __getattr__(name):
    return type(name, (Config,), {{}})
"""


def given(folder: Path, script: str) -> tuple[dict[str, Any], str | None, bool]:
    """What the engine's class is called with, a variable it sees, and whether it was told to stop."""
    for package, name in (("vllm", "LLM"), ("sglang", "Engine"), ("tensorrt_llm", "LLM")):
        (folder / package).mkdir()
        (folder / package / "__init__.py").write_text(_STAND_IN.format(name=name), encoding="utf-8")
        (folder / package / "llmapi.py").write_text(_STAND_IN.format(name=name), encoding="utf-8")
    path = folder / "launch.py"
    path.write_text(script, encoding="utf-8")
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(folder)}
    done = subprocess.run([sys.executable, path], env=environment, capture_output=True, text=True, check=True)
    first, *rest = done.stdout.splitlines()
    keywords, variable = json.loads(first)
    return keywords, variable, rest == ["shut"]


def test_vllm(specconf: Run, tmp_path: Path) -> None:
    own = '{vllm: {options: {max-logprobs: 5}, env: {VLLM_USE_V1: "1"}}}'
    spec = spec_file(tmp_path, serving='{tensor_parallel_size: 2, served_model_name: "a\\"b"}', engines=own)
    keywords, variable, _ = given(tmp_path, compiled(specconf, spec, "vllm", "python"))
    assert keywords == {
        "model": "Qwen/Qwen3-4B-Thinking-2507",
        "served_model_name": ['a"b'],
        "tensor_parallel_size": 2,
        "speculative_config": {"method": "ngram", "num_speculative_tokens": 3, "prompt_lookup_max": 3},
        "max_logprobs": 5,
    }
    assert variable == "1"


def test_sglang(specconf: Run, tmp_path: Path) -> None:
    script = compiled(specconf, EXAMPLES / "llama-eagle3.yaml", "sglang", "python")
    keywords, _, stopped = given(tmp_path, script)
    assert keywords["model_path"] == "meta-llama/Llama-3.1-8B-Instruct"
    assert keywords["speculative_algorithm"] == "EAGLE3"
    assert keywords["speculative_num_draft_tokens"] == 5
    assert stopped


def test_tensorrt_llm(specconf: Run, tmp_path: Path) -> None:
    keywords, _, _ = given(tmp_path, compiled(specconf, EXAMPLES / "llama-eagle3.yaml", "tensorrt-llm", "python"))
    assert keywords["max_seq_len"] == 2048
    assert keywords["speculative_config"]["made_by"] == "Eagle3DecodingConfig"
    assert keywords["speculative_config"]["max_draft_len"] == 4


@pytest.mark.parametrize(
    ("engine", "sections", "path"),
    [
        ("vllm", {"serving": "{port: 9000}"}, "port"),
        ("vllm", {"engines": "{vllm: {options: {enable-auto-tool-choice: true}}}"}, "enable_auto_tool_choice"),
        ("vllm", {"engines": "{vllm: {options: {enable-log-requests: true}}}"}, "enable_log_requests"),
        ("tensorrt-llm", {"serving": "{host: 0.0.0.0}", "speculation": "{method: none}"}, "cli.host"),
    ],
)
def test_what_has_no_keyword_is_refused(
    specconf: Run, tmp_path: Path, engine: str, sections: dict[str, str], path: str
) -> None:
    spec = spec_file(tmp_path, **sections)
    ran = specconf("compile", spec, "-e", engine, "-r", f"{engine}={RELEASES[engine]}", "-f", "python", "--quiet")
    assert ran.code == 2
    assert f"takes no keyword for {path}" in ran.err
