"""One process at a time: a lock on what several may want to make, gone with the process that holds it."""

from __future__ import annotations

import fcntl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def locked(root: Path, name: str, progress: Callable[[str], None]) -> Iterator[None]:
    """Hold the lock of a name under a folder. Its file stays: removing it would let two processes hold two locks."""
    with (root / f".lock-{name}").open("w") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            progress(f"waiting for another process that makes {name}")
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
