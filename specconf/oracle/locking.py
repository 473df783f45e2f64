"""One process at a time: a lock on what several may want to make, gone with the process that holds it.

The programs that it runs hold the lock, too (`specconf.oracle.steps`): where a build is killed, what it started may go on
writing for a while, and the next build waits for that.
"""

from __future__ import annotations

import fcntl
import os
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
        os.set_inheritable(handle.fileno(), True)
        yield
