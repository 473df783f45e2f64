"""`specconf explain`: what a finding code or a constraint means, since when, on what evidence, with example and fix."""

from __future__ import annotations

from pathlib import Path

import click

from specconf.cli.common import db_option, form_option, with_project
from specconf.codes import CODES
from specconf.compat.database import Database, load_database
from specconf.compat.names import ENGINE_ALIASES, ENGINE_NAMES
from specconf.errors import UsageError
from specconf.report.explaining import constraint_json, constraint_lines, explained, general
from specconf.report.json_report import render_json


@click.command("explain")
@click.argument("name", metavar="CODE|CONSTRAINT")
@form_option
@db_option
def command(name: str, form: str, overlays: tuple[Path, ...]) -> None:
    """Explain a finding code such as SC302, or a constraint such as vllm/draft-model-not-on-v1."""
    databases = [load_database(engine, with_project(overlays)) for engine in ENGINE_NAMES]
    engine, slash, slug = name.partition("/")
    name = f"{ENGINE_ALIASES.get(engine, engine)}/{slug}" if slash else name
    found = explained(name, databases)
    code = CODES.get(name.upper())
    if code is None and not found:
        raise UsageError(f"{name!r} is neither a finding code nor a constraint.{_near(name, databases)}")
    if form == "json":
        about = code or CODES[found[0][1].code]
        told = {"schema": 1, "code": about.code, "name": about.name, "about": about.about}
        click.echo(render_json({**told, "constraints": [constraint_json(db, c) for db, c in found]}), nl=False)
        return
    if code is not None:
        click.echo(f"{code.code} {code.name}\n{code.about}\n")
        for db, constraint in found:
            click.echo(f"{constraint.id}  {constraint.ranges.text(db.line)}\n  {general(constraint.message)}")
            if constraint.fix:
                click.echo(f"  fix: {general(constraint.fix)}")
        click.echo(f"fix: {code.fix}" if code.fix else "`specconf explain CONSTRAINT` shows evidence and an example.")
        return
    for db, constraint in found:
        click.echo("\n".join(constraint_lines(db, constraint)))


def _near(name: str, databases: list[Database]) -> str:
    from specconf.engines.near import near_names

    near = near_names(name, [*CODES, *(c.id for db in databases for c in db.constraints)])
    return f" Did you mean {' or '.join(near)}?" if near else ""
