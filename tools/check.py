"""Everything that must be green, as one command for people and CI: lint, format, types, import contracts, tests, engines."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent


def run(title: str, *command: str) -> bool:
    """Run one step and say how it went."""
    print(f"== {title}", flush=True)
    return subprocess.run(command, cwd=ROOT, check=False).returncode == 0


def main() -> int:
    """Run all steps, the engines themselves last, and fail if any of them did."""
    workers = str(max(2, os.cpu_count() or 2))
    steps = [
        run("lint", str(BIN / "ruff"), "check", "."),
        run("format", str(BIN / "ruff"), "format", "--check", "."),
        run("types", str(BIN / "mypy")),
        run("import contracts", str(BIN / "lint-imports")),
        run("tests", sys.executable, "-m", "pytest", "-q", "-n", workers, *sys.argv[1:]),
        run("live engines, where they can be had", sys.executable, str(ROOT / "tools" / "live.py")),
    ]
    return 0 if all(steps) else 1


if __name__ == "__main__":
    sys.exit(main())
