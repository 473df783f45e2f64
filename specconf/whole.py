"""Writes a file whole or not at all: what is interrupted, or finds no space, leaves nothing behind."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO


@contextmanager
def written_whole(path: Path, mode: int = 0o644) -> Iterator[TextIO]:
    """A text stream whose content takes the place of a file, with a mode, once the block is done."""
    import tempfile

    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    partial = Path(name)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as stream:
            yield stream
        partial.chmod(mode)
        partial.replace(path)
    except BaseException:
        with suppress(OSError):  # what went wrong before is what is told
            partial.unlink()
        raise
