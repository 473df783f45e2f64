"""What differs between two releases of one engine: options, table entries and constraints, as data."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any

from msgspec import Struct

from specconf.compat.database import Database
from specconf.compat.releases import Point

# What of an option row is compared. `names` are compared on their own: they tell a rename.
ATTRIBUTES = (
    "kind", "type", "default", "default_expr", "choices", "bounds", "nullable", "required", "const", "nargs", "parser",
    "deprecated", "replaced_by", "methods", "members", "internal",
)  # fmt: skip
ABSENT = "absent"


class Change(StrEnum):
    """What happened to a thing from one release to the other."""

    ADDED = "added"
    REMOVED = "removed"
    RENAMED = "renamed"
    CHANGED = "changed"


class Difference(Struct, frozen=True):
    """One thing that differs. `what` is options, a table's name or constraints; `values` are (before, after) by attribute."""

    what: str
    scope: str
    name: str
    change: Change
    values: Mapping[str, tuple[Any, Any]]


def differences(database: Database, before: Point, after: Point) -> Iterator[Difference]:
    """All differences, options first, then tables, then constraints, each by name."""
    yield from _options(database, before, after)
    for table in sorted(database.tables):
        yield from _table(database, table, before, after)
    ids = [{c.id for c in database.constraints if c.ranges.holds(point) is not False} for point in (before, after)]
    for name in sorted(ids[0] ^ ids[1]):
        change = Change.ADDED if name in ids[1] else Change.REMOVED
        yield Difference("constraints", "", name, change, {})


def _options(database: Database, before: Point, after: Point) -> Iterator[Difference]:
    old, new = _rows_at(database, before), _rows_at(database, after)
    for key in sorted(old.keys() | new.keys()):
        scope, path = key
        if key not in old or key not in new:
            rows, change = (new[key], Change.ADDED) if key in new else (old[key], Change.REMOVED)
            spelled = _spellings(rows)
            yield Difference(
                "options", scope, path, change, {"names": (None, spelled) if key in new else (spelled, None)}
            )
            continue
        values = dict(_changed(old[key], new[key]))
        names = _spellings(old[key]), _spellings(new[key])
        if names[0] != names[1]:
            values = {"names": names, **values}
        if values:
            renamed = names[0] and names[1] and names[0][0] not in names[1]
            yield Difference("options", scope, path, Change.RENAMED if renamed else Change.CHANGED, values)


def _rows_at(database: Database, point: Point) -> dict[tuple[str, str], list[Mapping[str, Any]]]:
    """Scope and path → rows that hold or may hold at a release, those that are not on their way out first."""
    found: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for ranges, row in database.raw_options:
        if ranges.holds(point) is not False:
            found.setdefault((row["scope"], row["path"]), []).append(row)
    return {key: sorted(rows, key=lambda row: bool(row.get("deprecated"))) for key, rows in found.items()}


def _spellings(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    return [name for row in rows for name in (*(row.get("names") or ()), *(row.get("no_names") or ()))]


def _changed(
    old: Sequence[Mapping[str, Any]], new: Sequence[Mapping[str, Any]]
) -> Iterator[tuple[str, tuple[Any, Any]]]:
    """Attributes of the rows that write a path that differ: of its first row, and of further spellings by their name."""
    yield from _attributes(old[0], new[0], "")
    named_old, named_new = ({(row.get("names") or [""])[0]: row for row in rows[1:]} for rows in (old, new))
    for name in sorted(named_old.keys() & named_new.keys()):
        yield from _attributes(named_old[name], named_new[name], f"{name} ")


def _attributes(old: Mapping[str, Any], new: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, tuple[Any, Any]]]:
    for attribute in ATTRIBUTES:
        values = old.get(attribute, ABSENT), new.get(attribute, ABSENT)
        if json.dumps(values[0], sort_keys=True) != json.dumps(values[1], sort_keys=True):
            yield prefix + attribute, values


def _table(database: Database, table: str, before: Point, after: Point) -> Iterator[Difference]:
    old, new = (
        {
            (str(row.value), str(row.columns.get("where", ""))): row.columns
            for row in database.tables[table].rows
            if row.ranges.holds(point) is not False
        }
        for point in (before, after)
    )
    for key in sorted(old.keys() | new.keys()):
        value, where = key
        if key not in old or key not in new:
            columns = {
                name: (None, v) if key in new else (v, None) for name, v in (new.get(key) or old.get(key) or {}).items()
            }
            yield Difference(table, where, value, Change.ADDED if key in new else Change.REMOVED, columns)
            continue
        names = old[key].keys() | new[key].keys()
        values = {n: (old[key].get(n, ABSENT), new[key].get(n, ABSENT)) for n in sorted(names)}
        values = {n: pair for n, pair in values.items() if pair[0] != pair[1]}
        if values:
            yield Difference(table, where, value, Change.CHANGED, values)
