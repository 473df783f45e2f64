"""`specconf db`: look into the compatibility database."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from specconf.cli.common import db_option, with_project
from specconf.cli.explain import general
from specconf.compat.database import Database, engine_name, load_database
from specconf.compat.releases import Ranges
from specconf.errors import UsageError
from specconf.report.json_report import render_json

_SHOWN = ("names", "kind", "type", "default", "choices", "bounds", "deprecated", "replaced_by", "methods")
_form = click.option("--format", "-f", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)


@click.group("db")
def command() -> None:
    """Look into the compatibility database."""


@command.command("releases")
@click.argument("engine")
@_form
@db_option
def releases(engine: str, form: str, overlays: tuple[Path, ...]) -> None:
    """List the releases of ENGINE that the database knows, newest last."""
    line = load_database(engine_name(engine), with_project(overlays)).line
    if form == "json":
        rows = [{"release": name, "date": date} for name, date in zip(line.names, line.dates, strict=True)]
        click.echo(render_json({"schema": 1, "engine": line.engine, "releases": rows}), nl=False)
        return
    for name, date in zip(line.names, line.dates, strict=True):
        marks = [m for m, of in (("newest final", line.newest_final), ("newest", line.newest)) if of == name]
        click.echo(f"{name:16} {date or 'date unknown':12} {', '.join(marks)}".rstrip())


@command.command("show", context_settings={"ignore_unknown_options": True})
@click.argument("engine")
@click.argument("name", metavar="PATH|OPTION")
@_form
@db_option
def show(engine: str, name: str, form: str, overlays: tuple[Path, ...]) -> None:
    """Show every row on a destination path, flag, key or environment variable of ENGINE, with its releases.

    For example: specconf db show vllm speculative_config.num_speculative_tokens
    """
    database = load_database(engine_name(engine), with_project(overlays))
    rows = [(ranges, row) for ranges, row in database.raw_options if _is_about(row, name)]
    constraints = [c for c in database.constraints if _mentions(c.when, name) or name in c.sets]
    if not rows and not constraints:
        raise UsageError(f"the database of {database.engine} has nothing on {name!r}.{_near(database, name)}")
    if form == "json":
        found = [{**_row_json(row), "releases": ranges.text(database.line)} for ranges, row in rows]
        about = [{"id": c.id, "releases": c.ranges.text(database.line)} for c in constraints]
        click.echo(
            render_json({"schema": 1, "engine": database.engine, "options": found, "constraints": about}), nl=False
        )
        return
    for line in _lines(database, rows):
        click.echo(line)
    for constraint in constraints:
        click.echo(f"{constraint.id}  {constraint.ranges.text(database.line)}: {general(constraint.message)}")


def _is_about(row: dict[str, Any], name: str) -> bool:
    wanted, name = name.removeprefix("env."), name.lstrip("-")
    return name in {row["path"], row["path"].rpartition(".")[2]} or any(
        wanted in (n, n.lstrip("-")) for n in row.get("names") or ()
    )


def _mentions(when: Any, name: str) -> bool:
    if isinstance(when, dict):
        return any(key.partition(".")[2] == name or _mentions(value, name) for key, value in when.items())
    return isinstance(when, list) and any(_mentions(part, name) for part in when)


def _lines(database: Database, rows: list[tuple[Ranges, dict[str, Any]]]) -> Iterator[str]:
    for ranges, row in sorted(rows, key=lambda r: (r[1]["path"], r[0].holds_in)):
        yield f"{row['path']}  ({row['scope']})  {ranges.text(database.line)}"
        for key in _SHOWN:
            if row.get(key) not in (None, [], {}, ""):
                yield f"  {key}: {row[key]}"
        yield f"  evidence: {row['e']}"


def _row_json(row: dict[str, Any]) -> dict[str, Any]:
    return {**{k: v for k, v in row.items() if k not in {"r", "e"}}, "evidence": row["e"]}


def _near(database: Database, name: str) -> str:
    from specconf.engines.near import near_names

    known = {row["path"] for _, row in database.raw_options}
    near = near_names(name, known | {path.rpartition(".")[2] for path in known})
    return f" Did you mean {' or '.join(near)}?" if near else ""
