"""The files of the database (or of an overlay) read into plain rows: the only module that opens `compat/`.

Malformed files are reported with their path; what a row means is checked in `specconf.compat.index`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from specconf.errors import DatabaseError

OBSERVED, SUMMARY = "observed", "summary.json"


class SourceTree:
    """One directory laid out like `compat/`."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def _files(self) -> list[Path]:
        """What an index depends on: of what engines answered the summary alone."""
        found = (p for p in self.root.rglob("*") if p.suffix in {".yaml", ".jsonl", ".json"} and p.is_file())
        return sorted(p for p in found if p.parent.name != OBSERVED or p.name == SUMMARY)

    def is_empty(self) -> bool:
        """Whether there is no data file at all."""
        return not self._files()

    def digest(self) -> str:
        """A hash of every file's name and bytes; it names the cached index of a checkout."""
        state = hashlib.blake2b(digest_size=16)
        for path in self._files():
            state.update(path.relative_to(self.root).as_posix().encode() + b"\0")
            state.update(path.read_bytes() + b"\0")
        return state.hexdigest()

    def stamp(self) -> str:
        """A hash of every file's place, size and time of change: cheap, and the same only where nothing was touched."""
        state = hashlib.blake2b(digest_size=16)
        for path in self._files():
            found = path.stat()
            state.update(f"{path}\0{found.st_size}\0{found.st_mtime_ns}\0".encode())
        return state.hexdigest()

    def yaml(self, *parts: str) -> Any:
        """One YAML file, or None when it is absent."""
        path = self.root.joinpath(*parts)
        return _load_yaml(path) if path.is_file() else None

    def yaml_dir(self, *parts: str) -> Iterator[tuple[Path, Any]]:
        """Every YAML file of a directory, by name; nothing when it is absent."""
        folder = self.root.joinpath(*parts)
        for path in sorted(folder.glob("*.yaml")):
            yield path, _load_yaml(path)

    def rows(self, *parts: str) -> list[dict[str, Any]]:
        """The rows of a JSON-lines file; none when it is absent."""
        path = self.root.joinpath(*parts)
        return list(_load_lines(path)) if path.is_file() else []

    def observed(self, engine: str) -> dict[str, Any]:
        """The figures of what an engine's releases answered, by release; none where none was asked."""
        path = self.root / engine / OBSERVED / SUMMARY
        try:
            found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
        except json.JSONDecodeError as error:
            raise DatabaseError(f"{path}: {error}") from error
        return found

    def machine_rows(self, engine: str, name: str) -> list[dict[str, Any]]:
        """The rows of a machine-written file of one engine, harvested or imported."""
        return self.rows(engine, "harvested", f"{name}.jsonl") + self.rows(engine, "imported", f"{name}.jsonl")


def _load_yaml(path: Path) -> Any:
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        return yaml.load(path.read_text(encoding="utf-8"), Loader=loader)  # noqa: S506 - a safe loader, chosen above
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise DatabaseError(f"{path}: {error}") from error


def _load_lines(path: Path) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except json.JSONDecodeError as error:
            raise DatabaseError(f"{path}:{number}: {error}") from error
        if not isinstance(row, dict):
            raise DatabaseError(f"{path}:{number}: a row is a JSON object")
        yield row
