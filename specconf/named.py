"""Reads a file that somebody names: never more than is wanted, and never waiting for a pipe that nobody writes to."""

from __future__ import annotations

import os
import stat
import time
from io import FileIO

from specconf.errors import InputError

_PATIENCE = 1.0  # seconds in which a pipe has to have a writer
_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
}


def read_up_to(path: str, limit: int) -> tuple[bytes, bool]:
    """A file's bytes, one more than `limit` at most, and whether they can be read a second time, as those of a pipe cannot.

    OSError where it cannot be opened, InputError where it is none to read: a device, a socket, a pipe without a writer.
    """
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    with FileIO(descriptor) as stream:
        status = os.fstat(descriptor)
        if stat.S_ISREG(status.st_mode):
            return _read(stream, min(limit, status.st_size) + 1), True
        if stat.S_ISFIFO(status.st_mode):
            first = _first_of_pipe(path, descriptor)
            os.set_blocking(descriptor, True)
            return first + _read(stream, limit + 1 - len(first)), False
        what = _KINDS.get(stat.S_IFMT(status.st_mode), "something else")
        raise InputError(f"{path}: {what}, and no file that can be read.", hint="Standard input is named -.")


def _first_of_pipe(path: str, descriptor: int) -> bytes:
    """What a pipe holds already; InputError where nobody has it open for writing."""
    until = time.monotonic() + _PATIENCE
    while True:
        try:
            first = os.read(descriptor, 65536)
        except BlockingIOError:  # there is a writer that has not written yet
            return b""
        if first or time.monotonic() > until:
            break
        time.sleep(0.02)
    if not first:
        raise InputError(f"{path}: a pipe that nobody writes to.", hint="Start what writes to it first.")
    return first


def _read(stream: FileIO, most: int) -> bytes:
    parts: list[bytes] = []
    while most > 0 and (part := stream.read(most)):
        parts.append(part)
        most -= len(part)
    return b"".join(parts)
