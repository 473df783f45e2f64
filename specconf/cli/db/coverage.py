"""`specconf db coverage`: how much the database knows, release by release."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import click
from msgspec.structs import asdict

from specconf.cli.common import db_option, form_option, with_project
from specconf.cli.db.common import counted, placed
from specconf.compat.coverage import Coverage, coverage
from specconf.compat.database import Database, load_database
from specconf.compat.names import ENGINE_NAMES, engine_name
from specconf.report.json_report import render_json


@click.command("coverage")
@click.argument("engines", nargs=-1, metavar="[ENGINE]...")
@click.option("--release", "-r", metavar="R", help="Only this release, with every scope and table.")
@form_option
@db_option
def command(engines: tuple[str, ...], release: str | None, form: str, overlays: tuple[Path, ...]) -> None:
    """Show how many options, defaults, table entries and constraints the database has for each release of ENGINE."""
    names = [engine_name(engine) for engine in engines] or list(ENGINE_NAMES)
    found = {name: _of(load_database(name, with_project(overlays)), release) for name in names}
    if form == "json":
        shown = {name: [asdict(row) for row in rows] for name, rows in found.items()}
        click.echo(render_json({"schema": 1, "engines": shown}), nl=False)
        return
    for name, rows in found.items():
        for line in _lines(name, rows, whole=release is not None):
            click.echo(line)


def _of(database: Database, release: str | None) -> list[Coverage]:
    point = placed(database, release) if release else None
    wanted = point.checked_as.split("..") if point is not None else None
    return [row for row in coverage(database) if wanted is None or row.release in wanted]


def _lines(engine: str, rows: Sequence[Coverage], *, whole: bool) -> Iterator[str]:
    yield f"{engine}: {counted(len(rows), 'release')}"
    heads = f"{'options':>7} {'default':>7} {'typed':>6} {'unsure':>6} {'entries':>7} {'rules':>5} {'described':>9}"
    yield f"  {'release':14} {heads}"
    for row in rows:
        entries = sum(row.tables.values())
        yield (
            f"  {row.release:14} {row.total_options:7} {row.defaults:7} {row.typed:6} {row.unsure:6} {entries:7} "
            f"{row.executable:5} {row.described:9}"
        )
        if whole:
            yield from (
                f"    {scope}: {n} options, {row.completeness.get(scope, 'unknown')}"
                for scope, n in row.options.items()
            )
            yield from (f"    table {table}: {n} entries" for table, n in row.tables.items())
