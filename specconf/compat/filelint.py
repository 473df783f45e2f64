"""Reading the database's files for their linters: what cannot be read is a problem of its file, and the rest goes on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from specconf.compat import rowlint
from specconf.compat.database import Database, load_database
from specconf.compat.index import compile_engine
from specconf.compat.lint import Problem
from specconf.compat.releases import ReleaseLine
from specconf.compat.sources import SourceTree
from specconf.compat.store import CHECKOUT, PACKAGED
from specconf.errors import DatabaseError, OverlayError


def own_tree() -> SourceTree | None:
    """The files of the database itself; an installed package carries none, only the index that was made of them."""
    packaged = (PACKAGED / "checkpoints.json").is_file()
    return None if packaged or not CHECKOUT.is_dir() else SourceTree(CHECKOUT)


def trees(overlays: tuple[Path, ...]) -> list[SourceTree]:
    """The files of the database itself, where there are any, and those of its overlays."""
    own = own_tree()
    return [*([] if own is None else [own]), *(SourceTree(overlay) for overlay in overlays)]


def read(engine: str, overlays: tuple[Path, ...]) -> tuple[Database | None, list[Problem]]:
    """The database of one engine and the problems of its files. None where these keep it from being made."""
    tree = own_tree()
    found = [] if tree is None else list(rowlint.problems(tree, engine))
    if _broken(found):
        return None, found
    base, faults = _base(tree, engine)
    found += faults
    if base is None or not overlays:
        return base, found
    for overlay in overlays:
        found += _overlay_problems(overlay, engine, base.line)
    return (None if _broken(found) else _laid_over(engine, overlays, found)), found


def _broken(found: list[Problem]) -> bool:
    return any(problem.check in rowlint.BROKEN for problem in found)


def _base(tree: SourceTree | None, engine: str) -> tuple[Database | None, list[Problem]]:
    """One engine's database; made of its files alone where the index, which is of all engines, cannot be made."""
    try:
        return load_database(engine), []
    except DatabaseError:
        if tree is None:
            raise
    try:
        return Database(compile_engine(tree, engine)), []
    except DatabaseError as error:
        return None, [Problem("file", engine, engine, error.message)]


def _overlay_problems(overlay: Path, engine: str, line: ReleaseLine) -> Iterator[Problem]:
    if overlay.is_dir():  # what is none is refused when it is laid over
        yield from rowlint.problems(SourceTree(overlay), engine, line)


def _laid_over(engine: str, overlays: tuple[Path, ...], found: list[Problem]) -> Database | None:
    """The database with its overlays. Raises OverlayError for an overlay that is none."""
    try:
        return load_database(engine, overlays)
    except DatabaseError as error:
        found.append(Problem("file", engine, engine, f"the overlays are not checked with it: {error.message}"))
    except OverlayError as error:
        if not isinstance(error.__cause__, DatabaseError):
            raise
        found.append(Problem("file", engine, engine, error.message))
    return None
