"""Rows that are text until they are asked for: of the thousand that an index holds, one launch meets a few dozen.

An index keeps a list of rows as JSON lines, and beside them, as columns, the few fields by which rows are looked for.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias, overload

Row: TypeAlias = Mapping[str, Any]

# The lists of rows that an index keeps so, and the fields by which each is looked through.
COLUMNS: Mapping[str, tuple[str, ...]] = {
    "constraints": ("id", "r", "stage", "step", "after", "lead"),
    "options": ("scope", "path", "r", "names", "no_names"),
    "checkpoints": ("id", "aliases"),
}


def lead_of(row: Row) -> str | None:
    """The test that a constraint's condition asks first, as JSON, where it is one: what fails it need not be parsed."""
    when = row.get("when") or {}
    parts = when.get("all") if len(when) == 1 else None
    first = parts[0] if parts else None
    if not isinstance(first, Mapping) or len(first) != 1 or "." not in next(iter(first)):
        return None
    text = json.dumps(first, sort_keys=True)
    return None if '"group"' in text else text


# Columns that are worked out of a row.
_WORKED_OUT: Mapping[str, Callable[[Row], Any]] = {"lead": lead_of}


def _field(row: Row, name: str) -> Any:
    work = _WORKED_OUT.get(name)
    return row.get(name) if work is None else work(row)


class Rows(Sequence[Row]):
    """A list of rows, each parsed when it is first asked for, whose columns are at hand without parsing any."""

    def __init__(self, rows: Sequence[Row | bytes], columns: Mapping[str, Sequence[Any]] | None = None) -> None:
        self._rows = list(rows)
        self._columns = dict(columns or {})

    @classmethod
    def of(cls, rows: Iterable[Row]) -> Rows:
        """The same rows as such a list, if they are none yet."""
        return rows if isinstance(rows, cls) else cls(list(rows))

    def column(self, name: str) -> Sequence[Any]:
        """One field of every row, None where a row has none."""
        if name not in self._columns:
            self._columns[name] = [_field(row, name) for row in self]
        return self._columns[name]

    def with_row(self, index: int, row: Row) -> Rows:
        """The same rows with another one in one place, of the same id and range."""
        columns = {name: column for name, column in self._columns.items() if name not in _WORKED_OUT}
        changed = Rows(self._rows, columns)
        changed._rows[index] = row
        return changed

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Row]: ...
    def __getitem__(self, index: int | slice) -> Row | Sequence[Row]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        row = self._rows[index]
        if isinstance(row, bytes):
            parsed: Row = json.loads(row.decode())
            row = self._rows[index] = parsed
        return row

    def __iter__(self) -> Iterator[Row]:
        return (self[index] for index in range(len(self._rows)))

    def __len__(self) -> int:
        return len(self._rows)


def columns_of(rows: Sequence[Row], kind: str) -> dict[str, list[Any]]:
    """The columns that an index keeps of a list of this kind."""
    return {name: [_field(row, name) for row in rows] for name in COLUMNS[kind]}
