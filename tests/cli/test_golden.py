"""What a user reads, whole: launches as written, and the text of check. `python -m tests.cli.test_golden` rewrites them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

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
    "init-mtp": [
        "init",
        "--model",
        "XiaomiMiMo/MiMo-7B-Base",
        "-e",
        "vllm=0.33.0",
        "-e",
        "sglang=0.5.23",
        "--gpu",
        "H100",
    ],
    "init-eagle3": ["init", "--model", "meta-llama/Llama-3.1-8B-Instruct", "-e", "trtllm=1.4.0rc1"],
    "init-ngram": ["init", "--model", "owner/unheard-of", "--objective", "latency", "-e", "vllm=0.33.0"],
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


INDEX = [
    "compile",
    "examples/llama-mtp.yaml",
    "--all",
    "-r",
    "vllm=0.33.0",
    "-r",
    "sglang=0.5.23",
    "-r",
    "trtllm=1.2.1",
    "-o",
]


def page(folder: Path) -> str:
    """The page of `compile --all` over an example that engines refuse."""
    output([*INDEX, str(folder)])
    return (folder / "README.md").read_text(encoding="utf-8")


def test_the_page_of_all(tmp_path: Path) -> None:
    assert page(tmp_path) == (GOLDEN / "index-mtp.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", COMMANDS)
def test_output(name: str) -> None:
    assert output(COMMANDS[name]) == (GOLDEN / f"{name}.txt").read_text(encoding="utf-8")


if __name__ == "__main__":
    GOLDEN.mkdir(exist_ok=True)
    for known, words in COMMANDS.items():
        (GOLDEN / f"{known}.txt").write_text(output(words), encoding="utf-8")
    with TemporaryDirectory() as temporary:
        (GOLDEN / "index-mtp.md").write_text(page(Path(temporary)), encoding="utf-8")
