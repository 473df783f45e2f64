"""Which files a lint looks at: those named, and all in the folders named; how each is read, and which ones beside it may be."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from specconf.errors import InputError
from specconf.lint.skipping import LARGEST
from specconf.named import read_up_to

if TYPE_CHECKING:
    from specconf.readers.fragments import Around

# Folders that hold other people's files, or none that are deployed.
LEFT_OUT = frozenset(
    [".git", ".hg", ".svn", "node_modules", ".venv", "venv", "__pycache__", ".tox", ".nox", ".mypy_cache", ".terraform",
     "site-packages", ".pytest_cache", ".ruff_cache"]
)  # fmt: skip
_REPOSITORY = (".git", ".hg", ".svn")
LEADS_OUT = "a link out of the project"


class Candidate(Struct, frozen=True):
    """A file to look at. `named`: the command line names it, so that it has to be readable. `under`: the folder that was
    named; `unread`: why nothing of it is read; `data`: the bytes of what can be read only once.
    """

    path: str
    named: bool
    under: str = ""
    unread: str = ""
    data: bytes | None = None


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
    """The files of a folder and of those in it, before the folders in it; what cannot be listed is told as unread."""
    waiting = [str(Path(folder))]
    while waiting:
        place = waiting.pop()
        try:
            with os.scandir(place) as listed:
                entries = sorted(listed, key=lambda entry: entry.name)
        except OSError as error:
            yield Candidate(place, named=place == str(Path(folder)), under=folder, unread=_why(error))
            continue
        folders = []
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                folders += [] if entry.name in LEFT_OUT else [entry.path]
            elif _is_file(entry):
                out = LEADS_OUT if entry.is_symlink() and not _inside(entry.path, project_of(place, folder)) else ""
                yield Candidate(entry.path.removeprefix("./"), named=False, under=folder, unread=out)
        waiting += reversed(folders)


def _is_file(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_file()
    except OSError:  # a link that leads to itself
        return False


def _why(error: OSError) -> str:
    return (error.strerror or str(error)).lower()


def read_bytes(candidate: Candidate) -> Candidate | bytes:
    """The file's bytes, or the candidate with why it is not read."""
    if candidate.unread or candidate.data is not None:
        return candidate if candidate.data is None else candidate.data
    try:
        data, again = read_up_to(candidate.path, LARGEST)
    except OSError as error:
        return replace(candidate, unread=_why(error))
    except InputError as error:
        return replace(candidate, unread=error.message.removeprefix(f"{candidate.path}: ").removesuffix("."))
    return data if again else replace(candidate, data=data)


@lru_cache(maxsize=1024)
def project_of(folder: str, under: str) -> Path:
    """The folder that holds all that a file in `folder` may speak of: its repository, else the folder that was named, else
    the working directory where the file lies in it, else its own.
    """
    place = Path(folder).resolve()
    for above in (place, *place.parents):
        if any((above / name).exists() for name in _REPOSITORY):
            return above
    for wider in (Path(under).resolve() if under else None, Path.cwd()):
        if wider is not None and wider != wider.parent and place.is_relative_to(wider):
            return wider
    return place


def _inside(path: str, project: Path) -> bool:
    """Whether a file lies in a project, wherever links lead."""
    try:
        return Path(path).resolve(strict=True).is_relative_to(project)
    except (OSError, RuntimeError):  # a link to nothing, or to itself
        return False


def around(path: str, under: str = "") -> Around:
    """The texts of files beside a file, by their path relative to it: of the same project alone, wherever links lead."""
    base = Path(path).parent

    def text_of(name: str) -> str | None:
        place = base / name
        try:
            if name.startswith("/") or not place.is_file() or not _inside(str(place), project_of(str(base), under)):
                return None
            data, _ = read_up_to(str(place), LARGEST)
            return data.decode("utf-8") if len(data) <= LARGEST else None
        except (OSError, InputError, ValueError):  # what cannot be read is told as a file that is not known
            return None

    return text_of
