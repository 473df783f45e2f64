"""A server program with all of its children: started in a session of its own, its log kept in a file, ended for certain."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import FrameType, TracebackType

PROCESSES = Path("/proc")
# A server that is asked to end has so long before it is ended; what it shares in memory is only freed if it ends by itself.
GRACE = 30.0


class Server:
    """A running program. As a context manager it ends the program and what that started, whatever happens inside."""

    def __init__(self, command: Sequence[str], *, folder: Path, env: Mapping[str, str], log: Path) -> None:
        """Start it in a folder. Both of its outputs go to the file `log`."""
        self.log = log
        self.peak_mb: int | None = None
        with log.open("wb") as output:
            self._process = subprocess.Popen(  # noqa: S603 (an environment that specconf made)
                list(command),
                cwd=folder,
                env=dict(env),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # children stay in the session, so that all of them can be found and ended
            )

    @property
    def code(self) -> int | None:
        """The exit status of the program, None while it runs."""
        return self._process.poll()

    def text(self) -> str:
        """What was logged so far."""
        return self.log.read_text(encoding="utf-8", errors="replace")

    def watch_memory(self) -> None:
        """Take the resident memory of all processes into account, pages that they share counted once."""
        now = sum(_resident_kb(pid) for pid in self.members()) // 1024
        if now:
            self.peak_mb = max(self.peak_mb or 0, now)

    def members(self) -> list[int]:
        """The living processes of the program; where the system does not list processes, the first one alone."""
        leader = self._process.pid
        if not PROCESSES.is_dir():
            return [leader] if self.code is None else []
        found = (int(entry.name) for entry in PROCESSES.iterdir() if entry.name.isdecimal())
        return [pid for pid in found if _session(pid) == leader]

    def stop(self) -> None:
        """End the program and all of its children, and wait until they are gone."""
        self._signal(signal.SIGTERM)
        deadline = time.monotonic() + GRACE
        while self.members() and time.monotonic() < deadline:
            self._process.poll()  # a leader that has ended stays listed until it is waited for
            time.sleep(0.05)
        while self.members():
            self._signal(signal.SIGKILL)
            self._process.poll()
            time.sleep(0.05)
        self._process.wait()

    def _signal(self, number: signal.Signals) -> None:
        for pid in self.members():
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                continue

    def __enter__(self) -> Server:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


@contextlib.contextmanager
def ended_in_order() -> Iterator[None]:
    """Let a request to end this process (SIGTERM) unwind it as Ctrl-C does, so that servers inside are stopped."""
    if threading.current_thread() is not threading.main_thread():
        yield  # signals reach the main thread alone
        return

    def unwind(number: int, frame: FrameType | None) -> None:
        del frame
        raise SystemExit(128 + number)

    before = signal.signal(signal.SIGTERM, unwind)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _session(pid: int) -> int | None:
    """The session of a process; None where it has ended meanwhile or is only waited for."""
    try:
        said = (PROCESSES / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return None
    # The program's name, in brackets, may itself hold brackets and blanks.
    state, _, _, session = said.rpartition(")")[2].split()[:4]
    return None if state == "Z" else int(session)


def _resident_kb(pid: int) -> int:
    try:
        lines = (PROCESSES / str(pid) / "smaps_rollup").read_text(encoding="utf-8").splitlines()
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0)
