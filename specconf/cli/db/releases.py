"""`specconf db releases`: the releases of one engine that the database knows."""

from __future__ import annotations

from pathlib import Path

import click

from specconf.cli.common import db_option, form_option, with_project
from specconf.compat.database import load_database
from specconf.compat.names import engine_name
from specconf.report.json_report import render_json


@click.command("releases")
@click.argument("engine")
@form_option
@db_option
def command(engine: str, form: str, overlays: tuple[Path, ...]) -> None:
    """List the releases of ENGINE that the database knows, newest last."""
    line = load_database(engine_name(engine), with_project(overlays)).line
    if form == "json":
        rows = [{"release": name, "date": date} for name, date in zip(line.names, line.dates, strict=True)]
        click.echo(render_json({"schema": 1, "engine": line.engine, "releases": rows}), nl=False)
        return
    for name, date in zip(line.names, line.dates, strict=True):
        marks = [m for m, of in (("newest final", line.newest_final), ("newest", line.newest)) if of == name]
        click.echo(f"{name:16} {date or 'date unknown':12} {', '.join(marks)}".rstrip())
