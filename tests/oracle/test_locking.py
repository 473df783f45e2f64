"""Locks between processes."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from pathlib import Path

from specconf.oracle.locking import locked

HOLD = (
    "import sys, time, pathlib\nfrom specconf.oracle.locking import locked\n"
    "with locked(pathlib.Path(sys.argv[1]), 'x', print):\n    print('held', flush=True)\n    time.sleep(60)\n"
)


def test_another_process_is_waited_for_and_told_of_even_if_it_is_killed(tmp_path: Path) -> None:
    other = subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert other.stdout is not None
    assert other.stdout.readline() == "held\n"
    told: list[str] = []
    waiting, entered = threading.Event(), threading.Event()

    def progress(line: str) -> None:
        told.append(line)
        waiting.set()

    def enter() -> None:
        with locked(tmp_path, "x", progress):
            entered.set()

    thread = threading.Thread(target=enter)
    thread.start()
    assert waiting.wait(10)
    assert not entered.is_set()
    other.kill()
    other.wait()
    other.stdout.close()
    thread.join(10)
    assert entered.is_set()
    assert told == ["waiting for another process that makes x"]


RUN = (
    "import os, sys, pathlib\nfrom specconf.oracle.locking import locked\nfrom specconf.oracle.steps import run_program\n"
    "with locked(pathlib.Path(sys.argv[1]), 'x', print):\n    print('held', flush=True)\n"
    "    run_program(['sh', '-c', f'touch {sys.argv[1]}/begun; sleep 1; touch {sys.argv[1]}/ended'], os.environ)\n"
)


def test_what_a_killed_process_started_is_waited_for(tmp_path: Path) -> None:
    other = subprocess.Popen([sys.executable, "-c", RUN, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert other.stdout is not None
    assert other.stdout.readline() == "held\n"
    while not (tmp_path / "begun").exists():
        time.sleep(0.01)
    other.kill()
    other.wait()
    other.stdout.close()
    with locked(tmp_path, "x", lambda _: None):
        assert (tmp_path / "ended").exists()


def test_locks_of_other_names_do_not_wait(tmp_path: Path) -> None:
    told: list[str] = []
    with locked(tmp_path, "x", told.append), locked(tmp_path, "y", told.append):
        assert not told
