"""Running the command line in this process, with its exit code and both streams."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec import Struct

from specconf.cli.main import main

ROOT = Path(__file__).resolve().parent.parent.parent
EXAMPLES = ROOT / "examples"


class Ran(Struct, frozen=True):
    """What one run gave."""

    code: int
    out: str
    err: str


Run = Callable[..., Ran]


@pytest.fixture
def specconf(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Run:
    """The command as a function of its words; offline, with an empty hub cache, so that no machine's models are seen."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "no-hub-cache"))

    def run(*argv: str | Path) -> Ran:
        monkeypatch.setattr(sys, "argv", ["specconf", *map(str, argv)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        captured = capsys.readouterr()
        code = ended.value.code
        return Ran(code if isinstance(code, int) else 0 if code is None else 1, captured.out, captured.err)

    return run
