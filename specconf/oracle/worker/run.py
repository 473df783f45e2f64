"""Starts the worker inside an engine's environment, where specconf is not installed and must not be.

specconf's own packages are entered by their folders alone: neither what their `__init__` imports nor anything that is
installed beside specconf reaches the engine's process.
"""

import importlib
import sys
import types
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2]


def enter(name: str) -> None:
    """Let the modules of one of specconf's packages be imported without running the package itself."""
    module = types.ModuleType(name)
    module.__path__ = [str(PACKAGE.joinpath(*name.split(".")[1:]))]
    sys.modules[name] = module


if __name__ == "__main__":
    sys.path.pop(0)  # the folder of this script
    adapter = sys.argv.pop(1)
    for package in ("specconf.oracle.worker.serve", adapter):
        parts = package.split(".")
        for depth in range(1, len(parts)):
            if ".".join(parts[:depth]) not in sys.modules:
                enter(".".join(parts[:depth]))
    raise SystemExit(importlib.import_module("specconf.oracle.worker.serve").main(adapter))
