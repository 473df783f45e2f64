"""A question in a child process of its own: with a time limit, and with an end to all that it started, however it ends.

Runs inside an engine's environment.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import select
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

from specconf.oracle.worker.protocol import MESSAGE_LIMIT, sayable

# What ends the worker from outside. They unwind it, so that the child of the moment ends first.
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
PR_SET_PDEATHSIG = 1
# Seconds between two looks at whether a child that says nothing is still there.
LOOK = 0.05


def unwind_when_ended() -> None:
    """Let requests to end this process unwind it, as Ctrl-C does; one that is ignored, as under nohup, stays so."""

    def unwind(number: int, frame: FrameType | None) -> NoReturn:
        del frame
        raise SystemExit(128 + number)

    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, unwind)


class Child:
    """A forked process that leads a group, and may have ended."""

    def __init__(self, process: int) -> None:
        self.process = process
        self.status: int | None = None

    def has_ended(self) -> bool:
        """Whether it ended; its group, with what it started, may live on."""
        if self.status is None:
            process, status = os.waitpid(self.process, os.WNOHANG)
            self.status = status if process else None
        return self.status is not None

    def end(self) -> int:
        """End it with all that it started; its status."""
        with contextlib.suppress(ProcessLookupError, PermissionError):  # nobody is left, or it has no group yet
            os.killpg(self.process, signal.SIGKILL)
        if self.status is None:
            os.kill(self.process, signal.SIGKILL)  # whether it had a group or not
            _, self.status = os.waitpid(self.process, 0)
        return self.status


def answer_in_child(work: Callable[[], dict[str, Any]], limit: float) -> dict[str, Any]:
    """What `work` answers in a child, whose working directory is an empty folder. Nothing that it started lives on."""
    deadline = time.monotonic() + limit
    with tempfile.TemporaryDirectory(prefix="specconf-ask-", ignore_cleanup_errors=True) as folder:
        reading, writing = os.pipe()
        worker, mask = os.getpid(), signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
        process = os.fork()
        if process == 0:
            os.close(reading)
            _answer_and_exit(work, Path(folder), writing, worker)
        child = Child(process)
        try:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)  # only now can this process be unwound: the child is known
            os.close(writing)
            data = _read_answer(reading, child, deadline)
        finally:
            status = child.end()
            os.close(reading)
    if data is None:
        return {"harness": f"no answer within {limit:g} s"}
    if not data.endswith(b"\n"):
        return {"harness": f"the process ended with {os.waitstatus_to_exitcode(status)} before it could answer"}
    answer: dict[str, Any] = json.loads(data)
    return answer


def _read_answer(reading: int, child: Child, deadline: float) -> bytes | None:
    """The line that a child writes; what there is of it where the child ended, None where the deadline came first.

    The pipe's end says nothing: a process that the engine forked may hold it, or the engine may have closed it.
    """
    data, is_open = b"", True
    while not data.endswith(b"\n"):
        left = deadline - time.monotonic()
        if left <= 0:
            return None
        ended = child.has_ended()  # asked first: what it wrote is in the pipe by then
        ready, _, _ = select.select([reading] if is_open else [], [], [], 0 if ended else min(left, LOOK))
        if ready:
            chunk = os.read(reading, 65536)
            is_open = bool(chunk)
            data += chunk
        elif ended:
            break
    return data


def _answer_and_exit(work: Callable[[], dict[str, Any]], folder: Path, writing: int, worker: int) -> NoReturn:
    own = os.getpid()
    try:
        os.setpgid(0, 0)  # what it starts ends with it
        _end_with(worker)
        for number in ENDING:
            if number != signal.SIGINT:
                signal.signal(number, signal.SIG_DFL)  # an exit inside the engine's code would look like its own
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
        try:
            _close_input()
            os.chdir(folder)
            text = json.dumps(sayable(work()))
        except Exception as error:
            text = json.dumps(sayable({"harness": f"{type(error).__name__}: {error}"[:MESSAGE_LIMIT]}))
        if os.getpid() == own:  # a process that the engine forked may come back here, too
            with os.fdopen(writing, "w", encoding="ascii") as pipe:
                pipe.write(text + "\n")
    finally:
        os._exit(0)


def _end_with(worker: int) -> None:
    """Have the system end this process when the worker dies without unwinding. Elsewhere than on Linux nothing does."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, ctypes.c_ulong(signal.SIGKILL), 0, 0, 0)
    if os.getppid() != worker:
        os._exit(0)  # it died before


def _close_input() -> None:
    """Nobody answers a question that an engine asks on standard input, and the requests that wait there are not for it."""
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115, PTH123 (closed with the child)
