"""Where the compiled index lies: inside the installed package, or in the user cache for a checkout."""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from specconf.errors import DatabaseError

if TYPE_CHECKING:
    from specconf.compat.rowlists import Rows

PACKAGED = Path(__file__).resolve().parent.parent / "_index"
CHECKOUT = Path(__file__).resolve().parent.parent.parent / "compat"


@cache
def index_folder() -> Path:
    """The folder of the compiled index; a checkout builds it on first use.

    Raises DatabaseError when the package carries no index and is no checkout.
    """
    if (PACKAGED / "checkpoints.json").is_file():
        return PACKAGED
    if not CHECKOUT.is_dir():
        raise DatabaseError("this installation carries no compatibility database; reinstall specconf")
    return _built_once(CHECKOUT)


_KEPT = 3
# An index that was taken into use in the last hour is kept, too: the process that did may not have read all of its parts.
_IN_USE_S = 3600
# The form of the index; an index of another form in the user cache is not read.
SCHEMA = 9


def _built_once(source: Path) -> Path:
    """The index of a checkout in the user cache, keyed by a hash of its files; a stamp saves reading them every time."""
    import platformdirs

    from specconf.compat.sources import SourceTree

    cache, tree = Path(platformdirs.user_cache_dir("specconf")), SourceTree(source)
    stamp = cache / f"stamp-{tree.stamp()}"
    try:
        digest = stamp.read_text(encoding="utf-8")
    except FileNotFoundError:
        digest = tree.digest()
    folder = cache / f"index-{SCHEMA}-{digest}"
    if not (folder / "checkpoints.json").is_file():
        from specconf.compat.index import build_index

        build_index(source, folder)
        _forget_old(cache)
    os.utime(folder)
    if not stamp.is_file():
        stamp.write_text(digest, encoding="utf-8")
    return folder


def _forget_old(cache: Path) -> None:
    """Keep the newest indexes and those in use; the others belong to states of a checkout that are gone."""
    import shutil

    used = {folder: found for folder in cache.glob("index-*") if (found := _used(folder)) is not None}
    for folder in sorted(used, key=lambda path: used[path], reverse=True)[_KEPT:]:
        if used[folder] < time.time() - _IN_USE_S:
            shutil.rmtree(folder, ignore_errors=True)
    for stamp in cache.glob("stamp-*"):
        with suppress(FileNotFoundError):
            if not any(cache.glob(f"index-*{stamp.read_text(encoding='utf-8')}")):
                stamp.unlink()


def _used(path: Path) -> float | None:
    """When something was last taken into use; None where another process, which forgets too, has just removed it."""
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return None


def load_json(name: str) -> Any:
    """One file of the compiled index."""
    return json.loads((index_folder() / f"{name}.json").read_text(encoding="utf-8"))


def load_rows(name: str) -> Rows:
    """A list of rows of the compiled index, none of them parsed yet."""
    from specconf.compat.rowlists import Rows

    lines = (index_folder() / f"{name}.jsonl").read_bytes().splitlines()
    return Rows(lines, load_json(name))


def part_name(engine: str, part: str) -> str:
    """The name of the file that holds a part of an engine's index."""
    return f"{engine}.{part}"
