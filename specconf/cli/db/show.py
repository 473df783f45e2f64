"""`specconf db show`: everything on one option, key, variable, table or table entry."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click
from msgspec import Struct

from specconf.cli.common import db_option, form_option, with_project
from specconf.cli.db.common import placed
from specconf.compat.database import Database, load_database
from specconf.compat.names import engine_name
from specconf.compat.releases import Point, Ranges
from specconf.compat.rows import Constraint, Message
from specconf.errors import UsageError
from specconf.report.explaining import general
from specconf.report.json_report import render_json

_SHOWN = ("names", "no_names", "kind", "type", "default", "default_expr", "choices", "bounds", "nullable", "required")
_ALSO_SHOWN = ("deprecated", "replaced_by", "methods", "members", "internal", "parser")


@click.command("show", context_settings={"ignore_unknown_options": True})
@click.argument("engine")
@click.argument("name", metavar="PATH|OPTION|TABLE|VALUE|WORDS")
@click.option("--release", "-r", metavar="R", help="Only what holds at this release.")
@form_option
@db_option
def command(engine: str, name: str, release: str | None, form: str, overlays: tuple[Path, ...]) -> None:
    """Show every row on a destination path, flag, key, environment variable, table or table entry of ENGINE, and the places
    of a message by some words of it.

    For example: specconf db show vllm speculative_config.num_speculative_tokens
    """
    database = load_database(engine_name(engine), with_project(overlays))
    if not name.strip("- "):
        raise UsageError("name what to show.", hint="For example: tensor_parallel_size, --tp-size or model_registry.")
    point = placed(database, release) if release else None
    found = _Found.of(database, name, point)
    if found.empty:
        when = f" at {release}" if release else ""
        raise UsageError(f"the database of {database.engine} has nothing on {name!r}{when}.{_near(database, name)}")
    if form == "json":
        click.echo(render_json(_json(database, found)), nl=False)
        return
    for line in _lines(database, found):
        click.echo(line)


class _Row(Struct, frozen=True):
    """One row with its ranges and the places that it was read from."""

    row: Mapping[str, Any]
    ranges: Ranges
    places: list[str]


class _Found(Struct, frozen=True):
    """What the database has on a name: option rows, entries of tables (with the table's name), constraints."""

    options: list[_Row]
    entries: list[tuple[str, _Row]]
    constraints: list[Constraint]
    messages: list[Message]

    @property
    def empty(self) -> bool:
        return not (self.options or self.entries or self.constraints or self.messages)

    @classmethod
    def of(cls, database: Database, name: str, point: Point | None) -> _Found:
        """Everything on a name, at one release or at any."""
        places = database.places()
        options = [
            _Row(row, ranges, places[index] if index < len(places) else [])
            for index, (ranges, row) in enumerate(database.raw_options)
            if _is_about(row, name) and _held(ranges, point)
        ]
        entries = [
            (table, row)
            for table in database.tables
            for row in _entries(database, table, name)
            if _held(row.ranges, point)
        ]
        constraints = [
            c for c in database.constraints if (_mentions(c.when, name) or name in c.sets) and _held(c.ranges, point)
        ]
        messages = [m for m in database.messages if _says(m, name) and _held(m.ranges, point)]
        return cls(options, entries, constraints, messages)


def _says(message: Message, words: str) -> bool:
    """Whether a message holds these words; one word alone is a name rather than a message."""
    return " " in words.strip() and words.strip().lower() in message.fragment.lower()


def _held(ranges: Ranges, point: Point | None) -> bool:
    return point is None or ranges.holds(point) is not False


def _entries(database: Database, table: str, name: str) -> Iterator[_Row]:
    """The rows of a table that the name is about: all of them where it names the table."""
    places = database.places(table)
    for index, row in enumerate(database.tables[table].rows):
        if name in (table, row.value):
            yield _Row({"value": row.value, **row.columns}, row.ranges, places[index] if index < len(places) else [])


def _is_about(row: Mapping[str, Any], name: str) -> bool:
    wanted, name = name.removeprefix("env."), name.lstrip("-")
    return name in {row["path"], row["path"].rpartition(".")[2]} or any(
        wanted in (n, n.lstrip("-")) for n in (*(row.get("names") or ()), *(row.get("no_names") or ()))
    )


def _mentions(when: Any, name: str) -> bool:
    if isinstance(when, dict):
        return any(key.partition(".")[2] == name or _mentions(value, name) for key, value in when.items())
    return isinstance(when, list) and any(_mentions(part, name) for part in when)


def _lines(database: Database, found: _Found) -> Iterator[str]:
    for one in sorted(found.options, key=lambda r: (r.row["scope"], r.row["path"], r.ranges.holds_in)):
        yield f"{one.row['path']}  ({one.row['scope']})  {one.ranges.text(database.line)}"
        for key in (*_SHOWN, *_ALSO_SHOWN):
            value = one.row.get(key)
            if value not in (None, [], {}, "") or (key == "default" and key in one.row):
                yield f"  {key}: {value}"
        yield f"  evidence: {'; '.join(one.places) or one.row.get('e', 'source')}"
    for table, one in found.entries:
        columns = ", ".join(f"{key}: {value}" for key, value in one.row.items() if key != "value")
        yield f"{table}: {one.row['value']}  {one.ranges.text(database.line)}" + (f"  ({columns})" if columns else "")
        yield f"  evidence: {'; '.join(one.places)}"
    for message in found.messages:
        said = message.exception or message.kind
        yield f"{message.where}  {message.ranges.text(database.line)}  {said}: {message.fragment}"
    for constraint in found.constraints:
        yield f"{constraint.id}  {constraint.ranges.text(database.line)}: {general(constraint.message)}"


def _json(database: Database, found: _Found) -> dict[str, Any]:
    line = database.line
    return {
        "schema": 1,
        "engine": database.engine,
        "options": [_row_json(database, one) for one in found.options],
        "tables": [{"table": table, **_row_json(database, one)} for table, one in found.entries],
        "messages": [
            {"where": m.where, "kind": m.kind, "exception": m.exception or None, "fragment": m.fragment}
            | {"releases": m.ranges.text(line)}
            for m in found.messages
        ],
        "constraints": [{"id": c.id, "releases": c.ranges.text(line)} for c in found.constraints],
    }


def _row_json(database: Database, one: _Row) -> dict[str, Any]:
    kept = {key: value for key, value in one.row.items() if key not in {"r", "e"}}
    return {**kept, "evidence": one.places, "releases": one.ranges.text(database.line)}


def _near(database: Database, name: str) -> str:
    from specconf.engines.near import near_names

    known = {row["path"] for _, row in database.raw_options}
    flags = {name for _, row in database.raw_options for name in row.get("names") or ()}
    begun = sorted(flag for flag in flags if name.startswith("--") and flag.startswith(name))[:3]
    if begun:
        return f" It begins {', '.join(begun)}."
    near = near_names(name, known | {path.rpartition(".")[2] for path in known} | set(database.tables))
    return f" Did you mean {' or '.join(near)}?" if near else ""
