"""What environments take on disk, each file counted once however many names it has."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from specconf.oracle.environment import MARKER, Environment, marker_of

MB = 10**6


class Size(Struct, frozen=True):
    """Megabytes: `own` are for this environment alone, `shared` are files that other environments use, too."""

    own: float
    shared: float


def size_of(environment: Environment) -> Size:
    """What an environment with its base takes. A file that only uv's cache has, too, is its own.

    A file is told by its links, so what a file system shares by clones, or pip by copies, counts as own.
    """
    own = {inode: size for inode, size, _ in _files(environment.folder)}
    in_cache = 1 if (environment.folder.parent / "uv-cache").is_dir() else 0
    whole_base_shared = any(_uses(other, environment.base) for other in _others(environment))
    shared = {}
    for inode, size, links in _files(environment.base):
        if whole_base_shared or links > 1 + in_cache:
            shared[inode] = size
        else:
            own[inode] = size
    return Size(sum(own.values()) / MB, sum(shared.values()) / MB)


def _others(environment: Environment) -> Iterator[Path]:
    for marker in environment.folder.parent.glob(f"*/{MARKER}"):
        if marker.parent != environment.folder:
            yield marker.parent


def _uses(folder: Path, base: Path) -> bool:
    noted = marker_of(folder)
    return noted is not None and noted.get("base") == base.name


def _files(folder: Path) -> Iterator[tuple[tuple[int, int], int, int]]:
    """The files and folders below a folder: device and inode, bytes on disk, links (1 for a folder)."""
    for entry in os.scandir(folder):
        status = entry.stat(follow_symlinks=False)
        below = entry.is_dir(follow_symlinks=False)
        yield (status.st_dev, status.st_ino), status.st_blocks * 512, 1 if below else status.st_nlink
        if below:
            yield from _files(Path(entry.path))
