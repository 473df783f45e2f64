"""`specconf db lint`: the database's files checked against each other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import click

from specconf.cli.common import db_option, with_project
from specconf.cli.db.common import form_option
from specconf.compat.database import Database, engine_name, load_database
from specconf.compat.lint import Problem
from specconf.compat.sources import ENGINE_NAMES
from specconf.report.json_report import render_json


@click.command("lint")
@click.argument("engines", nargs=-1, metavar="[ENGINE]...")
@click.option("--quick", is_flag=True, help="Leave out running the constraints' own examples.")
@form_option
@db_option
@click.pass_context
def command(
    context: click.Context, engines: tuple[str, ...], quick: bool, form: str, overlays: tuple[Path, ...]
) -> None:
    """Check the data of every ENGINE, overlays included: rows that overlap or hold nowhere, members without their object,
    replacements that do not exist, constraints whose examples do not show what they claim."""
    names = [engine_name(engine) for engine in engines] or list(ENGINE_NAMES)
    found = [problem for name in names for problem in _problems(load_database(name, with_project(overlays)), quick)]
    if form == "json":
        click.echo(render_json({"schema": 1, "problems": [asdict(problem) for problem in found]}), nl=False)
    else:
        for problem in found:
            click.echo(f"{problem.engine} {problem.about}: {problem.message} [{problem.check}]")
        left_out = "; examples not run" if quick else ""
        click.echo(f"{len(found)} problem{'' if len(found) == 1 else 's'} in the data of {', '.join(names)}{left_out}")
    if found:
        context.exit(1)


def _problems(database: Database, quick: bool) -> Iterator[Problem]:
    from specconf.compat import lint
    from specconf.rules import datalint

    yield from lint.problems(database)
    yield from datalint.problems(database, examples=not quick)
