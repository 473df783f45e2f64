"""How a launch of vLLM is started for real on a CPU: its words with the few that are added, and its variables."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

HOST = "127.0.0.1"
# Enough for one request. The CPU backend would otherwise take a share of the machine's memory for its cache.
ENV = {
    "VLLM_NO_USAGE_STATS": "1",
    "VLLM_CPU_KVCACHE_SPACE": "1",
    # Binding to cores needs a core for each worker and one beside them, which a small machine does not have.
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",
}
CONTEXT = 512


class Command(Struct, frozen=True):
    """The words of the program, and those of them that the question does not have."""

    words: tuple[str, ...]
    added: tuple[str, ...]


def command(argv: Sequence[str], python: Path, port: int) -> Command:
    """The launch with an address of its own, and what a CPU needs where the launch does not say otherwise."""
    program = str(python.parent / "vllm") if argv[0] == "vllm" else str(python)
    added = ["--host", HOST, "--port", str(port)]
    if not _says(argv, "--dtype"):
        added += ["--dtype", "float32"]  # in bfloat16 the attention kernel needs a permission that nobody asks for
    if not _says(argv, "--enforce-eager", "--no-enforce-eager"):
        added += ["--enforce-eager"]
    if not _says(argv, "--max-model-len"):
        added += ["--max-model-len", str(CONTEXT)]
    return Command((program, *argv[1:], *added), tuple(added))


def _says(argv: Sequence[str], *names: str) -> bool:
    """Whether an option is written, in either of the spellings that the parser takes."""
    written = {word.partition("=")[0].replace("_", "-") for word in argv if word.startswith("--")}
    return not written.isdisjoint(names)
