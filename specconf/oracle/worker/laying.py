"""Lays out the files that a question names, below one folder: inside an engine's environment, and where launches are loaded."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from specconf.oracle.worker.protocol import HarnessError


def write_below(folder: Path, files: Mapping[str, str]) -> None:
    """Write texts by their names below a folder. HarnessError where a name or a text cannot be a file's."""
    for name, text in files.items():
        path = inside(folder, name)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="")
        except (UnicodeEncodeError, FileExistsError, IsADirectoryError, NotADirectoryError) as error:
            raise HarnessError(f"the file {name!r} cannot be laid out: {error}") from None


def inside(folder: Path, name: str) -> Path:
    """The place of a name below a folder; a question is put to nothing else of the machine."""
    try:
        path = (folder / name).resolve()
    except (ValueError, RuntimeError) as error:  # a zero byte, a text that is no file name, links in a ring
        raise HarnessError(f"the name {name!r} is no file's: {error}") from None
    if path == folder.resolve() or not path.is_relative_to(folder.resolve()):
        raise HarnessError(f"the name {name!r} leads out of the request's folder")
    return path
