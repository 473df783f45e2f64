"""The database of one engine as typed rows. Loading reads little; rows are parsed and typed when they are asked for.

What holds at one release is `specconf.compat.view`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import Any, overload

from specconf.compat.releases import Point, Ranges, ReleaseLine
from specconf.compat.rowlists import Rows
from specconf.compat.rows import (
    UNKNOWN,
    Action,
    Constraint,
    Evidence,
    MappingRow,
    Message,
    Method,
    Option,
    Refusal,
    Scope,
    Table,
    TableRow,
)
from specconf.compat.store import load_json, load_rows, part_name
from specconf.compat.view import View
from specconf.errors import DatabaseError, OverlayError
from specconf.findings import Effect, EvidenceKind, Severity, Stage
from specconf.kleene import Ternary

# What a database has read of itself that no condition of a constraint bears on.
_NOT_OF_CONSTRAINTS = frozenset(
    [
        "raw_options",
        "rows_by_path",
        "rows_by_scope",
        "scopes_by_path",
        "mapping",
        "methods",
        "scopes",
        "steps",
        "images",
        "tables",
        "messages",
        "_examples",
    ]
)


class Database:
    """Everything known of one engine."""

    def __init__(self, raw: Mapping[str, Any]) -> None:
        self.engine: str = raw["engine"]
        self.line = ReleaseLine(self.engine, [(name, date) for name, date in raw["releases"]])
        self._raw = raw
        self.constraint_rows = Rows.of(raw["constraints"])
        self._views: dict[Point, View] = {}
        # Constraints in order, by the steps of a release and which of them hold there.
        self.placed: dict[Any, tuple[tuple[int, Ternary], ...]] = {}
        self._orders: dict[tuple[tuple[str, ...], ...], Sequence[int]] = {}
        self._typed: dict[int, Option] = {}
        self._rules: dict[int, Constraint] = {}

    @cached_property
    def constraints(self) -> tuple[Constraint, ...]:
        """All constraints, in the order of the data."""
        return tuple(self.constraint_row(index) for index in range(len(self.constraint_rows)))

    def constraints_at(self, point: Point) -> Mapping[int, Ternary]:
        """The places of the constraints that hold or may hold at a point, and which of the two."""
        packed = self.constraint_rows.column("r")
        if len(point.positions) != 1:
            found = ((index, Ranges.unpack(ranges).holds(point)) for index, ranges in enumerate(packed))
            return {index: held for index, held in found if held is not False}
        (position,) = point.positions
        result: dict[int, Ternary] = {}
        for index, (holds_in, unknown_in) in enumerate(packed):  # a thousand times for each of hundreds of releases
            for low, high in holds_in:
                if low <= position < high:
                    result[index] = True
            for low, high in unknown_in:
                if low <= position < high:
                    result.setdefault(index, None)
        return result

    def constraint_order(self, steps: tuple[tuple[str, ...], ...]) -> Sequence[int]:
        """The places of all constraints by stage and step; `steps` lists for a stage, named first, its steps in order.

        A constraint without a step comes last in its stage. Sorted once for all releases that share an order.
        """
        found = self._orders.get(steps)
        if found is None:
            ranks = {stage: {step: rank for rank, step in enumerate(order)} for stage, *order in steps}
            stages = {name: stage.rank for name, stage in _STAGES.items()}
            keys = [
                (stages[stage], (order := ranks.get(stage, {})).get(step or "", len(order)))
                for stage, step in zip(
                    self.constraint_rows.column("stage"), self.constraint_rows.column("step"), strict=True
                )
            ]
            found = self._orders[steps] = sorted(range(len(keys)), key=keys.__getitem__)
        return found

    def constraint_row(self, index: int) -> Constraint:
        """One constraint, typed when it is first asked for."""
        found = self._rules.get(index)
        if found is None:
            row = self.constraint_rows[index]
            found = self._rules[index] = _constraint(row, Ranges.unpack(row["r"]), self._examples_of(row))
        return found

    def _examples_of(self, row: Mapping[str, Any]) -> Callable[[], Mapping[str, Any]]:
        """A constraint's examples: in the row itself (an overlay's), or in the part of the index that holds them."""
        return (lambda: row) if "probe" in row or not self._in_parts else lambda: self._examples.get(row["id"], {})

    @property
    def _in_parts(self) -> bool:
        """Whether the rows come from an index, which keeps some of them in parts of their own."""
        return bool(self._raw.get("in_parts"))

    @cached_property
    def _examples(self) -> Mapping[str, Any]:
        examples: Mapping[str, Any] = load_json(part_name(self.engine, "examples"))
        return examples

    @cached_property
    def raw_options(self) -> OptionRows:
        """Option rows with their ranges, not yet typed."""
        return OptionRows(Rows.of(self._raw["options"]))

    @cached_property
    def rows_by_path(self) -> Mapping[str, tuple[int, ...]]:
        """Destination path → indexes of its option rows, in the order of the data."""
        return _grouped(self.raw_options.rows.column("path"))

    @cached_property
    def rows_by_scope(self) -> Mapping[str, tuple[int, ...]]:
        """Scope → indexes of its option rows, in the order of the data."""
        return _grouped(self.raw_options.rows.column("scope"))

    @cached_property
    def rows_by_name(self) -> Mapping[tuple[str, str], tuple[int, ...]]:
        """Scope and spelling → indexes of the option rows that have it in some release, in the order of the data."""
        rows = self.raw_options.rows
        table: dict[tuple[str, str], list[int]] = {}
        for index, (scope, *names) in enumerate(
            zip(rows.column("scope"), rows.column("names"), rows.column("no_names"), strict=True)
        ):
            for name in dict.fromkeys(name for several in names for name in several or ()):
                table.setdefault((scope, name), []).append(index)
        return {key: tuple(indexes) for key, indexes in table.items()}

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
        scopes = self.raw_options.rows.column("scope")
        return {path: frozenset(scopes[i] for i in rows) for path, rows in self.rows_by_path.items()}

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
                bool(row.get("coerces")),
            )
            for row in self._raw["scopes"]
        )

    @cached_property
    def steps(self) -> tuple[tuple[Ranges, str, tuple[str, ...]], ...]:
        """The engine's own order of steps inside a stage, per range: (ranges, stage, steps)."""
        return tuple((Ranges.unpack(row["r"]), row["stage"], tuple(row["order"])) for row in self._raw["steps"])

    @property
    def images(self) -> tuple[Mapping[str, Any], ...]:
        """The engine's published images, as written: their repositories, what they start, and whose releases their tags are."""
        rows = load_json("images")[self.engine] if self._in_parts and "images" not in self._raw else self._raw["images"]
        return tuple(rows)

    @cached_property
    def tables(self) -> Mapping[str, Table]:
        """Named lookup tables; a harvested one is read when it is first asked for."""
        return _Tables(self.engine, self._raw["tables"])

    @cached_property
    def confirmed(self) -> Mapping[str, Sequence[str]]:
        """The releases whose own answers confirm a constraint, by its id."""
        rows = load_json(part_name(self.engine, "confirmed")) if self._in_parts else self._raw.get("confirmed", {})
        found: Mapping[str, Sequence[str]] = rows
        return found

    @cached_property
    def messages(self) -> tuple[Message, ...]:
        """Fragments of what the engine says where speculation is concerned."""
        rows = load_json(part_name(self.engine, "messages")) if self._in_parts else self._raw.get("messages", ())
        return tuple(_message(row) for row in rows)

    def places(self, table: str = "") -> list[list[str]]:
        """Where each row was read, in the order of the rows: those of the options, or of a table."""
        own: Mapping[str, list[list[str]]] = self._raw.get("places", {})
        replaced = table and table in own and "over" not in self._raw["tables"].get(table, {})
        if not self._in_parts or replaced:
            return own.get(table, [])
        base: Mapping[str, list[list[str]]] = load_json(part_name(self.engine, "places"))
        return [*own.get(table, []), *base.get(table, [])]

    def constraint(self, identifier: str) -> Constraint | None:
        """A constraint by its id."""
        return next((c for c in self.constraints if c.id == identifier), None)

    def with_constraint(self, identifier: str, change: Callable[[Mapping[str, Any]], Mapping[str, Any]]) -> Database:
        """The same database with another condition in one constraint: what the data's linters ask of it.

        What has been read of everything else is shared: it does not follow from a constraint.
        """
        index = self.constraint_rows.column("id").index(identifier)
        row = self.constraint_rows[index]
        rows = self.constraint_rows.with_row(index, {**row, "when": change(row["when"])})
        changed = Database({**self._raw, "constraints": rows})
        changed.line, changed._typed, changed._orders = self.line, self._typed, self._orders
        changed._rules = {index: rule for index, rule in self._rules.items() if rule.id != identifier}
        vars(changed).update({name: value for name, value in vars(self).items() if name in _NOT_OF_CONSTRAINTS})
        return changed

    def view(self, point: Point) -> View:
        """The database at one release; kept, since a check of one spec asks for it several times."""
        if point not in self._views:
            self._views[point] = View(self, point)
        return self._views[point]

    def at(self, release: str) -> View:
        """The view at a stated release."""
        return self.view(self.line.place(release))


class OptionRows(Sequence[tuple[Ranges, Mapping[str, Any]]]):
    """Option rows with their ranges, each unpacked when it is first asked for."""

    def __init__(self, rows: Rows) -> None:
        self.rows = rows
        self._packed = rows.column("r")
        self._ranges: dict[int, Ranges] = {}
        self._known: dict[int, tuple[Ranges, Mapping[str, Any]]] = {}

    def holds(self, index: int, point: Point) -> Ternary:
        """Whether a row holds at a point, without parsing it."""
        return Ranges.packed_holds(self._packed[index], point)

    @overload
    def __getitem__(self, index: int) -> tuple[Ranges, Mapping[str, Any]]: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[tuple[Ranges, Mapping[str, Any]]]: ...
    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        known = self._known.get(index)
        if known is None:
            row = self.rows[index]
            known = self._known[index] = (Ranges.unpack(row["r"]), row)
        return known

    def __len__(self) -> int:
        return len(self.rows)


class _Tables(Mapping[str, Table]):
    """Tables by name, each made of its rows when it is first asked for."""

    def __init__(self, engine: str, raw: Mapping[str, Any]) -> None:
        self._engine = engine
        self._raw = raw
        self._known: dict[str, Table] = {}

    def __getitem__(self, name: str) -> Table:
        if name not in self._known:
            raw = self._raw[name]
            whole = raw if "rows" in raw else load_json(part_name(self._engine, name))
            self._known[name] = _table(name, {**whole, "rows": [*raw.get("over", ()), *whole["rows"]]})
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._raw)

    def __len__(self) -> int:
        return len(self._raw)


def _grouped(keys: Iterable[str]) -> dict[str, tuple[int, ...]]:
    table: dict[str, list[int]] = {}
    for index, key in enumerate(keys):
        table.setdefault(key, []).append(index)
    return {key: tuple(indexes) for key, indexes in table.items()}


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
        const=row.get("const", None if row.get("kind", "value") == "value" else True),
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
        evidence=EvidenceKind(row.get("e", "source")),
        parser=row.get("parser") or "",
    )


def _table(name: str, raw: Mapping[str, Any]) -> Table:
    rows = tuple(
        TableRow(row["value"], {k: v for k, v in row.items() if k not in {"value", "r", "e"}}, Ranges.unpack(row["r"]))
        for row in raw["rows"]
    )
    return Table(name, bool(raw["closed"]), rows)


def _message(row: Mapping[str, Any]) -> Message:
    return Message(row["kind"], row.get("exception", ""), row["fragment"], row["where"], Ranges.unpack(row["r"]))


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


# Looked up by value, since calling an enumeration costs ten times as much, a thousand times in each run.
_STAGES = {one.value: one for one in Stage}
_EFFECTS = {one.value: one for one in Effect}
_KINDS = {one.value: one for one in EvidenceKind}


def _constraint(row: Mapping[str, Any], ranges: Ranges, examples: Callable[[], Mapping[str, Any]]) -> Constraint:
    return Constraint(
        id=row["id"],
        code=row["code"],
        kind=row.get("kind", "executable"),
        stage=_STAGES[row["stage"]],
        step=row.get("step", ""),
        effect=_EFFECTS[row["effect"]],
        severity=Severity(row["severity"]) if row.get("severity") else None,
        when=row.get("when") or {},
        sets=row.get("set") or {},
        after=tuple(row.get("after") or ()),
        unless=frozenset(row.get("unless") or ()),
        message=row["message"],
        fix=row.get("fix", ""),
        evidence=tuple(Evidence(_KINDS[kind], text) for kind, text in row["evidence"]),
        examples=examples,
        ranges=ranges,
        groups=row.get("groups") or {},
        tries=row.get("try") or {},
        common=bool(row.get("common")),
    )


@cache
def load_database(engine: str, overlays: tuple[Path, ...] = ()) -> Database:
    """The database of one engine, with overlays laid over it in order."""
    raw = {
        **load_json(engine),
        **{kind: load_rows(part_name(engine, kind)) for kind in ("constraints", "options")},
    }
    for overlay in overlays:
        raw = _laid_over(raw, overlay)
    return Database(raw)


def _laid_over(raw: Mapping[str, Any], overlay: Path) -> dict[str, Any]:
    """Rows of an overlay added in front of the base's; a constraint with the same id replaces the base's."""
    from specconf.compat.index import compile_engine
    from specconf.compat.sources import SourceTree

    if not overlay.is_dir():
        raise OverlayError(f"the database overlay {overlay} is not a directory")
    tree = SourceTree(overlay)
    if tree.is_empty():
        raise OverlayError(
            f"the database overlay {overlay} holds no data",
            hint="It is laid out like compat/: ENGINE/constraints/*.yaml, …",
        )
    base = Database(raw)
    try:
        extra = compile_engine(tree, base.engine, line=base.line)
    except DatabaseError as error:
        raise OverlayError(f"the database overlay {overlay} cannot be read: {error.message}") from error
    if strangers := [name for name, _ in extra["releases"] if name not in base.line.names]:
        raise OverlayError(f"the database overlay {overlay} was read from {strangers[0]}, which is not a known release")
    replaced = {row["id"] for row in extra["constraints"]}
    merged = dict(raw)
    for key in ("options", "scopes", "methods", "mapping", "steps", "images"):
        below = base.images if key == "images" else raw[key]
        merged[key] = [*({**row, "layer": overlay.name} for row in extra[key]), *below]
    merged["constraints"] = [*extra["constraints"], *(r for r in raw["constraints"] if r["id"] not in replaced)]
    merged["tables"] = {**raw["tables"], **_tables_over(raw["tables"], extra["tables"], overlay.name)}
    before = raw.get("places", {})
    merged["places"] = {**before, **{name: [*rows, *before.get(name, [])] for name, rows in extra["places"].items()}}
    return merged


def _tables_over(base: Mapping[str, Any], extra: Mapping[str, Any], layer: str) -> dict[str, Any]:
    """An overlay's tables: a harvested one stands before the base's of that name, one that people wrote in its place."""
    found = {}
    for name, table in extra.items():
        if table.get("part") and name in base:
            over = [*({**row, "layer": layer} for row in table["rows"]), *base[name].get("over", ())]
            found[name] = {**base[name], "over": over}
        else:
            found[name] = {**table, "part": False}
    return found
