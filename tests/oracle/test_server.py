"""A server and its children: found, measured and ended, whatever happens to the one who started them."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from specconf.oracle.server import PROCESSES, Server

pytestmark = pytest.mark.skipif(not PROCESSES.is_dir(), reason="children are found through /proc")

# A program with a child that will not end when it is asked to, and has a child itself.
FAMILY = """
import signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("up", flush=True)
if len(sys.argv) > 1:
    subprocess.Popen([sys.executable, __file__, *sys.argv[2:]])
time.sleep(600)
"""


def _family(folder: Path) -> Server:
    program = folder / "family.py"
    program.write_text(FAMILY)
    command = [sys.executable, str(program), "child", "grandchild"]
    return Server(command, folder=folder, env=dict(os.environ), log=folder / "log")


def _wait_for(server: Server, count: int) -> list[int]:
    deadline = time.monotonic() + 20
    # A child says that it is up once it no longer listens to SIGTERM.
    while len(server.members()) < count or server.text().count("up") < count:
        assert time.monotonic() < deadline, server.text()
        time.sleep(0.05)
    return server.members()


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return "Z" not in (PROCESSES / str(pid) / "stat").read_text().rpartition(")")[2].split()[:1]


def test_all_generations_end_even_those_that_ignore_the_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("specconf.oracle.server.GRACE", 0.2)
    with _family(tmp_path) as server:
        pids = _wait_for(server, 3)
    assert len(pids) == 3
    assert [pid for pid in pids if _alive(pid)] == []


def test_they_end_when_the_one_who_waits_is_interrupted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("specconf.oracle.server.GRACE", 0.2)
    pids: list[int] = []

    def wait_and_be_interrupted() -> None:
        with _family(tmp_path) as server:
            pids.extend(_wait_for(server, 3))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        wait_and_be_interrupted()
    assert len(pids) == 3
    assert [pid for pid in pids if _alive(pid)] == []


def test_they_end_when_the_one_who_waits_is_asked_to_end(tmp_path: Path) -> None:
    program = """
import sys, time
from pathlib import Path
from specconf.oracle import server
server.GRACE = 0.2
waits, folder = ["sleep", "600"], Path.cwd()
with server.ended_in_order(), server.Server(waits, folder=folder, env={}, log=folder / "log") as it:
    print(*it.members(), flush=True)
    time.sleep(600)
"""
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    with subprocess.Popen(
        [sys.executable, "-c", program], cwd=tmp_path, stdout=subprocess.PIPE, text=True, env=env
    ) as waiting:
        assert waiting.stdout is not None
        pid = int(waiting.stdout.readline())
        assert _alive(pid)
        waiting.terminate()
        assert waiting.wait(timeout=30) == 128 + 15
    assert not _alive(pid)


def test_children_that_outlive_the_program_end_too(tmp_path: Path) -> None:
    program = "import subprocess, sys; subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])"
    with Server([sys.executable, "-c", program], folder=tmp_path, env=dict(os.environ), log=tmp_path / "log") as server:
        deadline = time.monotonic() + 20
        while server.code is None:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        (orphan,) = server.members()
    assert not _alive(orphan)


def test_memory_is_that_of_all_of_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("specconf.oracle.server.GRACE", 0.2)
    with _family(tmp_path) as server:
        _wait_for(server, 3)
        server.watch_memory()
        assert server.peak_mb is not None
        assert 1 <= server.peak_mb < 500


def test_the_log_holds_both_outputs_and_the_status_is_kept(tmp_path: Path) -> None:
    program = "import sys; print('said'); print('wailed', file=sys.stderr); sys.exit(3)"
    with Server([sys.executable, "-c", program], folder=tmp_path, env={}, log=tmp_path / "log") as server:
        deadline = time.monotonic() + 20
        while server.code is None:
            assert time.monotonic() < deadline
            time.sleep(0.05)
    assert sorted(server.text().split()) == ["said", "wailed"]
    assert server.code == 3


def test_a_program_that_is_not_there_is_an_error_of_the_caller(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Server([str(tmp_path / "absent")], folder=tmp_path, env={}, log=tmp_path / "log")
