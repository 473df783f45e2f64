"""`specconf schema`: print the JSON Schemas of what specconf reads and writes."""

from __future__ import annotations

import click

from specconf.report.json_report import render_json

NAMES = ("spec", "argv", "report", "lint", "index")


@click.command("schema")
@click.argument("name", type=click.Choice(NAMES), default="spec")
def command(name: str) -> None:
    """Print the JSON Schema of a spec file, of compile's argv document or index, or of a JSON report of check or lint."""
    from specconf.schemas import schema

    click.echo(render_json(schema(name)), nl=False)
