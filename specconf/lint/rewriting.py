"""Fixed texts on their way out: as a difference to look at, or back into their file, whole or not at all."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator
from pathlib import Path

from specconf.errors import InputError
from specconf.patterns import pattern
from specconf.whole import written_whole

_LINE = pattern(r"[^\n]*\n|[^\n]+")
_NO_NEWLINE = "\\ No newline at end of file\n"


def difference(path: str, before: str, after: str) -> str:
    """What changes in a file, as `git diff` shows it; empty where nothing does."""
    name = os.path.normpath(path).lstrip("/") if path != "-" else "stdin"
    lines = difflib.unified_diff(_LINE.findall(before), _LINE.findall(after), f"a/{name}", f"b/{name}")
    return "".join(_ended(lines))


def _ended(lines: Iterator[str]) -> Iterator[str]:
    for line in lines:
        yield line if line.endswith("\n") else f"{line}\n{_NO_NEWLINE}"


def rewrite(path: str, before: str, after: str) -> None:
    """Put a text in the place of a file's, whose mode it keeps; a link stays one, and its file is written.

    InputError where the file does not hold any more what was judged, or cannot be written.
    """
    real = Path(path).resolve()
    try:
        mode = real.stat().st_mode & 0o7777
        with written_whole(real, mode) as stream:
            stream.write(after)
            if real.read_bytes() != before.encode("utf-8"):  # as late as can be
                raise InputError(f"{path}: changed while it was looked at: not fixed.", hint="Run it again.")
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {(error.strerror or str(error)).lower()}.") from None
