"""Which files a lint looks at: those named, and of folders those of a known kind that mention an engine."""

from __future__ import annotations

import io
import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from specconf.errors import InputError
from specconf.lint.skipping import LARGEST

if TYPE_CHECKING:
    from specconf.readers.fragments import Around

# Folders that hold other people's files, or none that are deployed.
LEFT_OUT = frozenset(
    [".git", ".hg", ".svn", "node_modules", ".venv", "venv", "__pycache__", ".tox", ".nox", ".mypy_cache", ".terraform",
     "site-packages", ".pytest_cache", ".ruff_cache"]
)  # fmt: skip


class Candidate(Struct, frozen=True):
    """A file to look at. `named`: whether the command line names it, so that it has to be readable."""

    path: str
    named: bool


def candidates(paths: Sequence[str]) -> Iterator[Candidate]:
    """Every file under the paths, once, in the order of their names. InputError for a path that does not exist."""
    seen: set[str] = set()
    for path in paths:
        if path != "-" and not os.path.lexists(path):
            raise InputError(f"{path}: no such file or directory.")
        found = _under(path) if path != "-" and Path(path).is_dir() else [Candidate(path, named=True)]
        for candidate in found:
            if candidate.path not in seen:
                seen.add(candidate.path)
                yield candidate


def _under(folder: str) -> Iterator[Candidate]:
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in LEFT_OUT)
        for name in sorted(files):
            path = Path(place, name)
            if path.is_file():
                yield Candidate(str(path), named=False)


def read_bytes(candidate: Candidate) -> bytes | str:
    """The file's bytes, or why it is skipped. InputError for a file that was named and cannot be read."""
    try:
        with open(candidate.path, "rb", buffering=0) as stream:  # noqa: PTH123 - of many files the shortest way counts
            status = os.fstat(stream.fileno())
            if stat.S_ISREG(status.st_mode) and status.st_size <= LARGEST:
                return stream.readall()
            return io.BufferedReader(stream).read(LARGEST + 1)
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        if candidate.named:
            raise InputError(f"{candidate.path}: {why}.") from None
        return why


def around(path: str) -> Around:
    """The texts of files beside a file, by their path relative to it; nothing outside of the folders above it by two."""
    base = Path(path).parent

    def text_of(name: str) -> str | None:
        if name.startswith("/") or name.count("..") > 2:
            return None
        found = base / name
        try:
            if found.is_file() and found.stat().st_size <= LARGEST:
                return found.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            return None
        return None

    return text_of
