"""What a user reads, whole: launches as written, and the text of check. `python -m tests.cli.test_golden` rewrites them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
GOLDEN = Path(__file__).parent / "golden"
COMMANDS = {
    "launch-vllm-0.33.0": ["compile", "examples/llama-eagle3.yaml", "-e", "vllm", "-r", "0.33.0"],
    "launch-vllm-0.8.1": ["compile", "examples/llama-draft-model.yaml", "-e", "vllm", "-r", "0.8.1"],
    "launch-sglang-0.5.23": ["compile", "examples/llama-draft-model-sglang.yaml", "-e", "sglang", "-r", "0.5.23"],
    "launch-sglang-0.5.12": ["compile", "examples/llama-eagle-tree.yaml", "-e", "sglang", "-r", "0.5.12"],
    "launch-trtllm-1.4.0rc1": ["compile", "examples/llama-eagle3.yaml", "-e", "trtllm", "-r", "1.4.0rc1"],
    "launch-trtllm-1.2.1": ["compile", "examples/llama-eagle3.yaml", "-e", "trtllm", "-r", "1.2.1"],
    "launch-trtllm-1.1.0": ["compile", "examples/llama-eagle3.yaml", "-e", "trtllm", "-r", "1.1.0"],
    "launch-forced": ["compile", "examples/llama-mtp.yaml", "-e", "trtllm", "-r", "1.4.0rc1", "--force"],
    "yaml-vllm-0.33.0": ["compile", "examples/llama-eagle3.yaml", "-e", "vllm", "-r", "0.33.0", "-f", "engine-yaml"],
    "argv-sglang-0.5.10": [
        "compile",
        "examples/llama-draft-model-sglang.yaml",
        "-e",
        "sglang",
        "-r",
        "0.5.10",
        "-f",
        "argv",
    ],
    "check-vocabulary": ["check", "examples/qwen25-vocab-mismatch.yaml", "-r", "sglang=0.5.10", "-r", "sglang=0.5.23"],
    "check-mtp": [
        "check",
        "examples/llama-mtp.yaml",
        "-r",
        "vllm=0.33.0",
        "-r",
        "sglang=0.5.23",
        "-r",
        "trtllm=1.4.0rc1",
    ],
    "explain-constraint": ["explain", "sglang/overlap-topk"],
    # Every example over every release of every engine.
    **{
        f"matrix-{path.stem}": ["check", f"examples/{path.name}", "--all-releases"]
        for path in sorted((ROOT / "examples").glob("*.yaml"))
    },
}


def output(command: list[str]) -> str:
    """Both streams of one run, with the exit code."""
    env = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_HUB_CACHE": str(ROOT / "no-such-cache")}
    code = "from specconf.cli.main import main; main()"
    ran = subprocess.run(
        [sys.executable, "-c", code, *command], check=False, capture_output=True, text=True, cwd=ROOT, env=env
    )
    return f"$ specconf {' '.join(command)}\n{ran.stdout}-- standard error\n{ran.stderr}-- exit code {ran.returncode}\n"


@pytest.mark.parametrize("name", COMMANDS)
def test_output(name: str) -> None:
    assert output(COMMANDS[name]) == (GOLDEN / f"{name}.txt").read_text(encoding="utf-8")


if __name__ == "__main__":
    GOLDEN.mkdir(exist_ok=True)
    for known, words in COMMANDS.items():
        (GOLDEN / f"{known}.txt").write_text(output(words), encoding="utf-8")
