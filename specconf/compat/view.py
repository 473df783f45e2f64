"""The database of one engine at one release: what holds, what may hold, and constraints in the engine's own order."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice, takewhile
from typing import TYPE_CHECKING, Any

from specconf.compat.releases import Point, Ranges
from specconf.compat.rows import (
    UNKNOWN,
    Constraint,
    MappingRow,
    Method,
    Option,
    Scope,
    TableRow,
)
from specconf.kleene import Ternary, ternary_any
from specconf.words import JsonValue

if TYPE_CHECKING:
    from specconf.compat.database import Database
    from specconf.compat.rowlists import Rows


class View:
    """The database of one engine at one release."""

    def __init__(self, database: Database, point: Point) -> None:
        self.db = database
        self.point = point
        self._options: dict[str, tuple[tuple[Option, Ternary], ...]] = {}
        self._positionals: dict[str, Sequence[Option]] = {}
        self._ordered: dict[str, tuple[list[str], dict[str, int]]] = {}

    @property
    def engine(self) -> str:
        """The engine's name."""
        return self.db.engine

    @property
    def release(self) -> str:
        """The release as it was stated."""
        return self.point.stated

    def _held(self, indexes: Sequence[int]) -> list[tuple[Option, Ternary]]:
        """The rows among `indexes` that hold or may hold here, those known to hold first."""
        point, raw = self.point, self.db.raw_options
        found = [(i, held) for i in indexes if (held := raw.holds(i, point)) is not False]
        if any(held is None for _, held in found):
            found.sort(key=lambda row: row[1] is None)
        return [(self.db.option_row(i), held) for i, held in found]

    def options_of(self, scope: str) -> tuple[tuple[Option, Ternary], ...]:
        """The options of one scope that hold or may hold here, in the order of the data; looked up once."""
        if scope not in self._options:
            point, raw = self.point, self.db.raw_options
            rows = ((i, raw.holds(i, point)) for i in self.db.rows_by_scope.get(scope, ()))
            self._options[scope] = tuple((self.db.option_row(i), held) for i, held in rows if held is not False)
        return self._options[scope]

    @cached_property
    def by_path(self) -> Mapping[str, tuple[Option, ...]]:
        """Options by destination path; those known to hold come first. A path with none is not in it."""
        return _PathTable(self)

    def spellings(self, scope: str, start: str) -> list[str]:
        """The spellings of a scope that begin so, in the order of the data."""
        ordered = self._ordered.get(scope)
        if ordered is None:
            places = {name: place for place, name in enumerate(self.names.get(scope, ()))}
            ordered = self._ordered[scope] = (sorted(places), places)
        names, places = ordered
        found = takewhile(lambda name: name.startswith(start), islice(names, bisect_left(names, start), None))
        return sorted(found, key=places.__getitem__)

    @cached_property
    def names(self) -> Mapping[str, Mapping[str, Option]]:
        """Scope → spelling → option. A scope with none is not in it."""
        return _NameTable(self)

    def option(self, path: str) -> Option | None:
        """The option that writes a path, the one with the fullest description first."""
        rows = self.by_path.get(path)
        return rows[0] if rows else None

    def has(self, path: str) -> Ternary:
        """Whether this release has the path."""
        raw = self.db.raw_options
        return ternary_any(raw.holds(i, self.point) for i in self.db.rows_by_path.get(path, ()))

    def default(self, path: str) -> Any:
        """The recorded default of a path, or UNKNOWN; among rows that only may hold, the default on which all agree."""
        rows = [o for o in self.by_path.get(path, ()) if o.default is not UNKNOWN]
        held = next((o for o in rows if o.ranges.holds(self.point)), None)
        if held is not None:
            return held.default
        return rows[0].default if rows and all(o.default == rows[0].default for o in rows) else UNKNOWN

    @cached_property
    def _scopes(self) -> Mapping[str, Scope]:
        return {scope.name: scope for scope in self.db.scopes if scope.ranges.holds(self.point) is True}

    def scope(self, name: str) -> Scope:
        """What is known of a scope here; a scope without a row is unknown."""
        return self._scopes.get(name) or Scope(name, "unknown", "unknown", frozenset(), Ranges(()))

    def methods(self) -> Sequence[tuple[Method, Ternary]]:
        """Method words that hold or may hold."""
        return self._methods

    @cached_property
    def _methods(self) -> Sequence[tuple[Method, Ternary]]:
        found = ((method, method.ranges.holds(self.point)) for method in self.db.methods)
        return tuple((method, held) for method, held in found if held is not False)

    def positionals(self, scope: str) -> Sequence[Option]:
        """The options of a scope that are words without a name."""
        if scope not in self._positionals:
            self._positionals[scope] = tuple(o for o, _ in self.options_of(scope) if o.kind == "positional")
        return self._positionals[scope]

    def method_words(self, spec_method: str) -> list[tuple[str, Ternary]]:
        """The engine's words for a spec method, non-aliases first."""
        rows = [(m, held) for m, held in self.methods() if m.spec_method == spec_method]
        return [(m.value, held) for m, held in sorted(rows, key=lambda r: (r[0].alias_of is not None, not r[1]))]

    def same_method(self, spec_method: JsonValue, left: object, right: object) -> bool:
        """Whether two of the engine's words serve one spec method here: an alias and what it stands for."""
        rows = [method for method, held in self.methods() if held]
        words = {method.value for method in rows if method.spec_method == spec_method}
        words |= {method.value for method in rows if method.alias_of in words}
        return left in words and right in words

    def table_rows(self, name: str) -> list[tuple[TableRow, Ternary]]:
        """The rows of a table that hold or may hold here."""
        table = self.db.tables.get(name)
        rows = table.rows if table else ()
        return [(row, held) for row in rows if (held := row.ranges.holds(self.point)) is not False]

    def lookup(self, name: str, value: JsonValue) -> tuple[TableRow | None, Ternary]:
        """The first row with a value, and whether it is in the table: unknown for an open table without it."""
        table = self.db.tables.get(name)
        if table is None:
            return None, None
        for row in table.of(value):
            held = row.ranges.holds(self.point)
            if held is not False:
                return row, held
        return None, False if table.closed else None

    @cached_property
    def mapping(self) -> Mapping[str, tuple[tuple[MappingRow, Ternary], ...]]:
        """Field → mapping rows that hold or may hold here."""
        table: dict[str, list[tuple[MappingRow, Ternary]]] = {}
        for row in self.db.mapping:
            held = row.ranges.holds(self.point)
            if held is not False:
                table.setdefault(row.field, []).append((row, held))
        return {field: tuple(rows) for field, rows in table.items()}

    @cached_property
    def constraints(self) -> tuple[tuple[Constraint, Ternary], ...]:
        """Constraints that hold or may hold here, in the engine's order of stages and steps."""
        return tuple((self.db.constraint_row(index), held) for index, held in self.placed)

    @cached_property
    def placed(self) -> tuple[tuple[int, Ternary], ...]:
        """The same, each by its place in the data: most are ruled out by their first test, before they are parsed."""
        held = self.db.constraints_at(self.point)
        steps = tuple((stage, *steps) for stage, steps in self._step_order.items())
        found = self.db.placed.get(key := (steps, tuple(held.items())))  # releases side by side mostly have the same
        if found is None:
            order = self.db.constraint_order(steps)
            rows = [(index, held[index]) for index in order if index in held]
            found = self.db.placed[key] = tuple(_placed(rows, self.db.constraint_rows))
        return found

    @cached_property
    def _step_order(self) -> Mapping[str, Sequence[str]]:
        return {stage: order for ranges, stage, order in self.db.steps if ranges.holds(self.point) is True}


class _PathTable(Mapping[str, tuple[Option, ...]]):
    """Path → options at one release, each looked up when it is first asked for."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._known: dict[str, tuple[Option, ...]] = {}

    def _rows(self, path: str) -> tuple[Option, ...]:
        rows = self._known.get(path)
        if rows is None:
            indexes = self._view.db.rows_by_path.get(path, ())
            rows = self._known[path] = tuple(o for o, _ in self._view._held(indexes))
        return rows

    def __getitem__(self, path: str) -> tuple[Option, ...]:
        rows = self._rows(path)
        if not rows:
            raise KeyError(path)
        return rows

    def __iter__(self) -> Iterator[str]:
        return (path for path in self._view.db.rows_by_path if self._rows(path))

    def __len__(self) -> int:
        return sum(1 for _ in self)


class _NameTable(Mapping[str, Mapping[str, Option]]):
    """Scope → spelling → option at one release, each scope read when it is first asked for."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._known: dict[str, Mapping[str, Option]] = {}

    def _names(self, scope: str) -> Mapping[str, Option]:
        if scope not in self._known:
            self._known[scope] = _Names(self._view, scope)
        return self._known[scope]

    def __getitem__(self, scope: str) -> Mapping[str, Option]:
        names = self._names(scope)
        if not names:
            raise KeyError(scope)
        return names

    def __iter__(self) -> Iterator[str]:
        return (scope for scope in self._view.db.rows_by_scope if self._names(scope))

    def __len__(self) -> int:
        return sum(1 for _ in self)


class _Names(Mapping[str, Option]):
    """Spelling → option of one scope at one release: an option is typed when its name is asked for."""

    def __init__(self, view: View, scope: str) -> None:
        self._db = view.db
        self._rows: dict[str, int] = {}
        point, raw = view.point, view.db.raw_options
        names, no_names = raw.rows.column("names"), raw.rows.column("no_names")
        for index in view.db.rows_by_scope.get(scope, ()):
            if raw.holds(index, point) is not False:
                for name in (*(names[index] or ()), *(no_names[index] or ())):
                    self._rows.setdefault(name, index)

    def __getitem__(self, name: str) -> Option:
        return self._db.option_row(self._rows[name])

    def __contains__(self, name: object) -> bool:
        return name in self._rows

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)


def _placed(ordered: Sequence[tuple[int, Ternary]], rows: Rows) -> Sequence[tuple[int, Ternary]]:
    """Constraints in the order of stages and steps, each behind those that it comes `after`."""
    names, after = rows.column("id"), rows.column("after")
    if not any(after[index] for index, _ in ordered):
        return ordered
    placed: list[tuple[int, Ternary]] = []
    waiting = {names[index]: (index, held) for index, held in ordered}
    while waiting:
        ready = (row for row in waiting.values() if not any(name in waiting for name in after[row[0]] or ()))
        following = next(ready, None) or next(iter(waiting.values()))
        placed.append(following)
        del waiting[names[following[0]]]
    return placed
