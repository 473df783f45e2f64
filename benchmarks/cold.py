"""Cold starts as ratios to `python -c "import yaml, click"`, and the parts of a check in one process. Prints; asserts nothing.

python benchmarks/cold.py [RUNS]
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SPECCONF = [sys.executable, "-c", "from specconf.cli.main import main; main()"]
SPEC = str(ROOT / "examples" / "llama-eagle3.yaml")
COMMANDS = {
    "bare interpreter": [sys.executable, "-c", "pass"],
    "import yaml, click": [sys.executable, "-c", "import yaml, click"],
    "specconf --version": [*SPECCONF, "--version"],
    "compile vllm": [*SPECCONF, "compile", SPEC, "--engine", "vllm", "--offline"],
    "compile sglang": [*SPECCONF, "compile", SPEC, "--engine", "sglang", "--offline"],
    "compile tensorrt-llm": [*SPECCONF, "compile", SPEC, "--engine", "tensorrt-llm", "--offline"],
    "check, newest releases": [*SPECCONF, "check", SPEC, "--offline"],
    "check --all-releases": [*SPECCONF, "check", SPEC, "--all-releases", "--offline"],
}


def seconds(command: list[str]) -> float:
    """Wall time of one cold run."""
    start = time.perf_counter()
    subprocess.run(command, cwd=ROOT, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - start


def in_process() -> None:
    """What one release's facts cost once the interpreter is up: the index, its rules in order, and every option typed."""
    from specconf.compat.database import load_database
    from specconf.compat.names import ENGINE_NAMES

    for name in ENGINE_NAMES:
        start = time.perf_counter()
        view = load_database(name).at(load_database(name).line.newest_final)
        loaded = time.perf_counter()
        ruled = (len(view.constraints), len(view.mapping), time.perf_counter())[-1]
        typed = (sum(len(rows) for rows in view.by_path.values()), time.perf_counter())[-1]
        parts = {"index": loaded - start, "rules": ruled - loaded, "all options": typed - ruled}
        print(f"{name:14} " + "   ".join(f"{part} {1000 * spent:5.1f} ms" for part, spent in parts.items()))


def main() -> None:
    """Run every command a few times, interleaved, and print medians and ratios."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    seconds(COMMANDS["check, newest releases"])  # byte code and the index of a checkout
    times: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for _ in range(runs):
        for name, command in COMMANDS.items():
            times[name].append(seconds(command))
    base = statistics.median(times["import yaml, click"])
    for name, measured in times.items():
        median = statistics.median(measured)
        print(f"{name:26} {1000 * median:7.0f} ms   {median / base:5.1f}x")
    in_process()


if __name__ == "__main__":
    main()
