"""The rows of one engine as they stand in the files of the database or of an overlay, each with its place.

Nothing is left out silently: what cannot be read as a row is a fault of its file. What the rows say is checked in
`specconf.compat.rowlint`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml
from msgspec import Struct

from specconf.compat.columns import COLUMNS, TABLE_COLUMNS
from specconf.compat.common import FOLDER, common_constraints
from specconf.compat.sources import SourceTree
from specconf.errors import DatabaseError
from specconf.patterns import pattern

_MACHINE = {"releases": "release", "options": "option", "tables": "table", "messages": "message"}
_LISTS = {"methods": "method", "mapping": "mapping", "steps": "step", "images": "image"}
_NAMED_BY = ("id", "path", "repository", "field", "value", "fragment", "version", "stage")
_WORD = pattern(r"\w+")
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Row(Struct, frozen=True):
    """One written row. `folder`: harvested or imported, empty for people's rows.

    `columns`: those it may have beside the ones of its kind; None where they are not listed.
    """

    kind: str
    place: str
    data: Mapping[str, Any]
    folder: str = ""
    columns: frozenset[str] | None = frozenset()

    @property
    def about(self) -> str:
        """File and row, as a reader finds them."""
        named = next((str(self.data[key]) for key in _NAMED_BY if key in self.data), "")
        return f"{self.place}: {named[:60]}" if named else self.place


class Fault(Struct, frozen=True):
    """Something that is no row. `check` is the check's name, `about` the file and the place in it."""

    check: str
    about: str
    message: str


class Reader:
    """Reads every file of one engine: the rows, and the faults of what is none."""

    def __init__(self, tree: SourceTree, engine: str) -> None:
        self.rows: list[Row] = []
        self.faults: list[Fault] = []
        self._tree = tree
        self._engine = engine
        for folder in ("harvested", "imported"):
            for name, kind in _MACHINE.items():
                self._machine(folder, name, kind)
        for name, kind in _LISTS.items():
            self._list(kind, f"{name}.yaml", name)
        self._scopes()
        self._tables()
        for path in sorted((tree.root / engine / "constraints").glob("*.yaml")):
            self._list("constraint", f"constraints/{path.name}", "constraints", "groups")
        self._common()

    def _fault(self, check: str, about: str, message: str) -> None:
        self.faults.append(Fault(check, about, message))

    def _machine(self, folder: str, name: str, kind: str) -> None:
        place = f"{self._engine}/{folder}/{name}.jsonl"
        try:
            rows = self._tree.rows(self._engine, folder, f"{name}.jsonl")
        except (DatabaseError, UnicodeDecodeError) as error:
            self._fault("file", place, str(error))
            return
        for number, row in enumerate(rows, 1):
            self.rows.append(Row(kind, f"{place}:{number}", row, folder, _machine_columns(kind, row.get("table"))))

    def _mapping(self, place: str, *keys: str) -> Mapping[str, Any]:
        """The mapping in a YAML file; an empty one where there is none. `keys`: what it may hold."""
        try:
            data = self._tree.yaml(self._engine, *place.split("/"))
        except DatabaseError as error:
            self._fault("file", f"{self._engine}/{place}", error.message)
            return {}
        if data is None:
            return {}
        for key, line in _repeated(self._tree.root / self._engine / place):
            self._fault("file", f"{self._engine}/{place}:{line}", f"the key {key} is written twice")
        if isinstance(data, list):  # short for a mapping with the list alone
            return {keys[0]: data}
        if not isinstance(data, dict) or set(data) - set(keys):
            self._fault("file", f"{self._engine}/{place}", f"it holds {' and '.join(keys)} and nothing else")
            return {}
        return data

    def _add(self, kind: str, place: str, rows: Any, columns: frozenset[str] | None = frozenset()) -> None:
        """The rows of a list."""
        place = f"{self._engine}/{place}"
        if not isinstance(rows, list):
            self._fault("file", place, "a list of rows is missing")
            return
        for number, row in enumerate(rows, 1):
            if isinstance(row, dict):
                self.rows.append(Row(kind, place, row, columns=columns))
            else:
                self._fault("row", place, f"row {number} is no mapping of columns")

    def _list(self, kind: str, place: str, *keys: str) -> None:
        data = self._mapping(place, *keys)
        if data:
            self._add(kind, place, data.get(keys[0]))

    def _common(self) -> None:
        """The constraints that are written once for several engines, as they stand in this one."""
        try:
            for path, rows in common_constraints(self._tree, self._engine):
                place = f"{FOLDER}/constraints/{path.name}"
                for key, line in _repeated(path):
                    self._fault("file", f"{place}:{line}", f"the key {key} is written twice")
                self.rows += [Row("constraint", place, row) for row in rows]
        except DatabaseError as error:
            self._fault("file", f"{FOLDER}/constraints", error.message)

    def _scopes(self) -> None:
        named = self._mapping("scopes.yaml", "scopes").get("scopes") or {}
        for name, rows in named.items() if isinstance(named, dict) else [("", None)]:
            self._add("scope", f"scopes.yaml: {name}", rows)

    def _tables(self) -> None:
        named = self._mapping("tables.yaml", "tables").get("tables") or {}
        for name, table in named.items() if isinstance(named, dict) else [("", None)]:
            place = f"tables.yaml: {name}"
            if isinstance(table, dict):
                for key in sorted(set(table) - COLUMNS["named table"].known):
                    self._fault("column", f"{self._engine}/{place}", f"a table has no {key}")
                self._add("table", place, table.get("rows"), frozenset(_WORD.findall(str(table.get("about", "")))))
            else:
                self._add("table", place, table, None)


def _machine_columns(kind: str, table: Any) -> frozenset[str] | None:
    """What a machine-written row may have beside the columns of its kind."""
    if kind != "table":
        return frozenset()
    listed = TABLE_COLUMNS.get(str(table))
    return None if listed is None else listed | {"table"}


def _repeated(path: Path) -> Iterator[tuple[str, int]]:
    """Keys that a mapping of a YAML file has twice, of which a reader would see the last alone, with their lines."""
    with path.open(encoding="utf-8") as stream:
        waiting = [yaml.compose(stream, Loader=_LOADER)]
    done: set[int] = set()  # an anchor's node stands in several places
    while waiting:
        node = waiting.pop()
        if id(node) in done:
            continue
        done.add(id(node))
        if isinstance(node, yaml.MappingNode):
            seen: set[str] = set()
            for key, value in node.value:
                if key.value in seen:
                    yield str(key.value), key.start_mark.line + 1
                seen.add(key.value)
                waiting.append(value)
        elif isinstance(node, yaml.SequenceNode):
            waiting += node.value
