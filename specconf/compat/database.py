"""The database of one engine as typed rows, and the view of it at one release.

Loading is one JSON read; rows become typed objects when they are asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from specconf.compat.releases import Point, Ranges, ReleaseLine
from specconf.compat.rows import (
    UNKNOWN,
    Action,
    Constraint,
    Evidence,
    MappingRow,
    Method,
    Option,
    Refusal,
    Scope,
    Table,
    TableRow,
)
from specconf.errors import OverlayError, UsageError
from specconf.findings import Effect, EvidenceKind, Severity, Stage
from specconf.kleene import Ternary, ternary_any
from specconf.words import JsonValue


class Database:
    """Everything known of one engine."""

    def __init__(self, raw: Mapping[str, Any]) -> None:
        self.engine: str = raw["engine"]
        self.line = ReleaseLine(self.engine, [(name, date) for name, date in raw["releases"]])
        self._raw = raw
        self._views: dict[Point, View] = {}
        self._typed: dict[int, Option] = {}

    @cached_property
    def constraints(self) -> tuple[Constraint, ...]:
        """All constraints, in the order of the data."""
        return tuple(_constraint(row) for row in self._raw["constraints"])

    @cached_property
    def raw_options(self) -> tuple[tuple[Ranges, dict[str, Any]], ...]:
        """Option rows with their ranges unpacked, not yet typed."""
        return tuple((Ranges.unpack(row["r"]), row) for row in self._raw["options"])

    @cached_property
    def rows_by_path(self) -> Mapping[str, tuple[int, ...]]:
        """Destination path → indexes of its option rows, in the order of the data."""
        return _grouped(row["path"] for _, row in self.raw_options)

    @cached_property
    def rows_by_scope(self) -> Mapping[str, tuple[int, ...]]:
        """Scope → indexes of its option rows, in the order of the data."""
        return _grouped(row["scope"] for _, row in self.raw_options)

    def option_row(self, index: int) -> Option:
        """One option row, typed when it is first asked for."""
        option = self._typed.get(index)
        if option is None:
            ranges, row = self.raw_options[index]
            option = self._typed[index] = _option(row, ranges)
        return option

    @cached_property
    def scopes_by_path(self) -> Mapping[str, frozenset[str]]:
        """Destination path → the scopes that list it in any release."""
        raw = self.raw_options
        return {path: frozenset(raw[i][1]["scope"] for i in rows) for path, rows in self.rows_by_path.items()}

    @cached_property
    def mapping(self) -> tuple[MappingRow, ...]:
        """All mapping rows."""
        return tuple(_mapping(row) for row in self._raw["mapping"])

    @cached_property
    def methods(self) -> tuple[Method, ...]:
        """The engine's own method words."""
        return tuple(
            Method(row["value"], row.get("spec_method"), row.get("alias_of"), Ranges.unpack(row["r"]))
            for row in self._raw["methods"]
        )

    @cached_property
    def scopes(self) -> tuple[Scope, ...]:
        """What is known of each scope, per range."""
        return tuple(
            Scope(
                row["scope"],
                row.get("completeness", "unknown"),
                row.get("unknown_member", "unknown"),
                frozenset(row.get("forms") or ()),
                Ranges.unpack(row["r"]),
                row.get("tag") or "",
            )
            for row in self._raw["scopes"]
        )

    @cached_property
    def steps(self) -> tuple[tuple[Ranges, str, tuple[str, ...]], ...]:
        """The engine's own order of steps inside a stage, per range: (ranges, stage, steps)."""
        return tuple((Ranges.unpack(row["r"]), row["stage"], tuple(row["order"])) for row in self._raw["steps"])

    @cached_property
    def tables(self) -> Mapping[str, Table]:
        """Named lookup tables."""
        return {name: _table(name, raw) for name, raw in self._raw["tables"].items()}

    def constraint(self, identifier: str) -> Constraint | None:
        """A constraint by its id."""
        return next((c for c in self.constraints if c.id == identifier), None)

    def view(self, point: Point) -> View:
        """The database at one release; kept, since a check of one spec asks for it several times."""
        if point not in self._views:
            self._views[point] = View(self, point)
        return self._views[point]

    def at(self, release: str) -> View:
        """The view at a stated release."""
        return self.view(self.line.place(release))


class View:
    """The database of one engine at one release."""

    def __init__(self, database: Database, point: Point) -> None:
        self.db = database
        self.point = point

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
        found = [(i, held) for i in indexes if (held := raw[i][0].holds(point)) is not False]
        if any(held is None for _, held in found):
            found.sort(key=lambda row: row[1] is None)
        return [(self.db.option_row(i), held) for i, held in found]

    def options_of(self, scope: str) -> list[tuple[Option, Ternary]]:
        """The options of one scope that hold or may hold here, in the order of the data."""
        point, raw = self.point, self.db.raw_options
        rows = ((i, raw[i][0].holds(point)) for i in self.db.rows_by_scope.get(scope, ()))
        return [(self.db.option_row(i), held) for i, held in rows if held is not False]

    @cached_property
    def by_path(self) -> Mapping[str, tuple[Option, ...]]:
        """Options by destination path; those known to hold come first. A path with none is not in it."""
        return _PathTable(self)

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
        return ternary_any(raw[i][0].holds(self.point) for i in self.db.rows_by_path.get(path, ()))

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

    def methods(self) -> Iterator[tuple[Method, Ternary]]:
        """Method words that hold or may hold."""
        for method in self.db.methods:
            held = method.ranges.holds(self.point)
            if held is not False:
                yield method, held

    def method_words(self, spec_method: str) -> list[tuple[str, Ternary]]:
        """The engine's words for a spec method, non-aliases first."""
        rows = [(m, held) for m, held in self.methods() if m.spec_method == spec_method]
        return [(m.value, held) for m, held in sorted(rows, key=lambda r: (r[0].alias_of is not None, not r[1]))]

    def table_rows(self, name: str) -> list[tuple[TableRow, Ternary]]:
        """The rows of a table that hold or may hold here."""
        table = self.db.tables.get(name)
        rows = table.rows if table else ()
        return [(row, held) for row in rows if (held := row.ranges.holds(self.point)) is not False]

    def lookup(self, name: str, value: JsonValue) -> tuple[TableRow | None, Ternary]:
        """The first row with a value, and whether it is in the table: unknown for an open table without it."""
        for row, held in self.table_rows(name):
            if row.value == value:
                return row, held
        table = self.db.tables.get(name)
        return None, (False if table is not None and table.closed else None)

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
        rows = [(c, held) for c in self.db.constraints if (held := c.ranges.holds(self.point)) is not False]
        return tuple(_ordered(rows, self._step_order))

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
        self._known: dict[str, dict[str, Option]] = {}

    def _names(self, scope: str) -> dict[str, Option]:
        if scope not in self._known:
            table: dict[str, Option] = {}
            for option, _ in self._view.options_of(scope):
                for name in (*option.names, *option.no_names):
                    table.setdefault(name, option)
            self._known[scope] = table
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


def _grouped(keys: Iterable[str]) -> dict[str, tuple[int, ...]]:
    table: dict[str, list[int]] = {}
    for index, key in enumerate(keys):
        table.setdefault(key, []).append(index)
    return {key: tuple(indexes) for key, indexes in table.items()}


def _ordered(
    rows: Sequence[tuple[Constraint, Ternary]], steps: Mapping[str, Sequence[str]]
) -> list[tuple[Constraint, Ternary]]:
    """By stage, then the engine's own steps (a constraint without a step comes last in its stage), then `after`."""

    def key(row: tuple[Constraint, Ternary]) -> tuple[int, int]:
        constraint = row[0]
        order = steps.get(constraint.stage, ())
        step = order.index(constraint.step) if constraint.step in order else len(order)
        return constraint.stage.rank, step

    ordered = sorted(rows, key=key)
    placed: list[tuple[Constraint, Ternary]] = []
    waiting = ordered
    names = {c.id for c, _ in ordered}
    while waiting:
        done = {c.id for c, _ in placed}
        ready = [r for r in waiting if all(a in done or a not in names for a in r[0].after)]
        following = ready[0] if ready else waiting[0]
        placed.append(following)
        waiting = [r for r in waiting if r is not following]
    return placed


def _option(row: Mapping[str, Any], ranges: Ranges) -> Option:
    choices = row.get("choices")
    deprecated = row.get("deprecated") or ""
    return Option(
        scope=row["scope"],
        path=row["path"],
        names=tuple(row.get("names") or ()),
        no_names=tuple(row.get("no_names") or ()),
        kind=row.get("kind", "value"),
        type=row.get("type"),
        own_parser=bool(row.get("parser")),
        nullable=bool(row.get("nullable")),
        const=row.get("const", True),
        default=row.get("default", UNKNOWN),
        required=bool(row.get("required")),
        choices=tuple(choices) if choices is not None else None,
        bounds=row.get("bounds") or {},
        deprecated="deprecated" if deprecated is True else str(deprecated),
        replaced_by=row.get("replaced_by") or "",
        internal=bool(row.get("internal")),
        methods=tuple(row.get("methods") or ()),
        members=row.get("members") or "",
        ranges=ranges,
        evidence=EvidenceKind(row["e"]),
        parser=row.get("parser") or "",
    )


def _table(name: str, raw: Mapping[str, Any]) -> Table:
    rows = tuple(
        TableRow(row["value"], {k: v for k, v in row.items() if k not in {"value", "r", "e"}}, Ranges.unpack(row["r"]))
        for row in raw["rows"]
    )
    return Table(name, bool(raw["closed"]), rows)


def _mapping(row: Mapping[str, Any]) -> MappingRow:
    refused = row if row["action"] == Action.REFUSE else row.get("otherwise")
    return MappingRow(
        field=row["field"],
        action=Action(row["action"]),
        path=row.get("path", ""),
        transform=row.get("transform", "identity"),
        value=row.get("value"),
        refusal=Refusal(refused["changes"], refused["because"]) if refused else None,
        note=row.get("note", ""),
        evidence=EvidenceKind(row["e"]),
        ranges=Ranges.unpack(row["r"]),
    )


def _constraint(row: Mapping[str, Any]) -> Constraint:
    return Constraint(
        id=row["id"],
        code=row["code"],
        kind=row.get("kind", "executable"),
        stage=Stage(row["stage"]),
        step=row.get("step", ""),
        effect=Effect(row["effect"]),
        severity=Severity(row["severity"]) if row.get("severity") else None,
        when=row.get("when") or {},
        sets=row.get("set") or {},
        after=tuple(row.get("after") or ()),
        message=row["message"],
        fix=row.get("fix", ""),
        evidence=tuple(Evidence(EvidenceKind(kind), text) for kind, text in row["evidence"]),
        probe=row.get("probe"),
        twin=row.get("twin"),
        ranges=Ranges.unpack(row["r"]),
        groups=row.get("groups") or {},
        tries=row.get("try") or {},
    )


ENGINE_ALIASES = {"trtllm": "tensorrt-llm", "trt-llm": "tensorrt-llm", "tensorrt_llm": "tensorrt-llm"}


def engine_name(text: str) -> str:
    """The engine's name from a name or alias."""
    from specconf.compat.sources import ENGINE_NAMES

    name = ENGINE_ALIASES.get(text.lower(), text.lower())
    if name not in ENGINE_NAMES:
        raise UsageError(f"{text!r} is no engine that specconf knows.", hint=f"Engines: {', '.join(ENGINE_NAMES)}.")
    return name


@cache
def load_database(engine: str, overlays: tuple[Path, ...] = ()) -> Database:
    """The database of one engine, with overlays laid over it in order."""
    from specconf.compat.store import load_json

    raw = load_json(engine)
    for overlay in overlays:
        raw = _laid_over(raw, overlay)
    return Database(raw)


def _laid_over(raw: Mapping[str, Any], overlay: Path) -> dict[str, Any]:
    """Rows of an overlay added in front of the base's; a constraint with the same id replaces the base's."""
    from specconf.compat.index import compile_engine
    from specconf.compat.sources import SourceTree

    if not overlay.is_dir():
        raise OverlayError(f"the database overlay {overlay} is not a directory")
    base = Database(raw)
    extra = compile_engine(SourceTree(overlay), base.engine, line=base.line)
    replaced = {row["id"] for row in extra["constraints"]}
    merged = dict(raw)
    for key in ("options", "scopes", "methods", "mapping", "steps"):
        merged[key] = [*extra[key], *raw[key]]
    merged["constraints"] = [*extra["constraints"], *(r for r in raw["constraints"] if r["id"] not in replaced)]
    merged["tables"] = {**raw["tables"], **extra["tables"]}
    return merged
