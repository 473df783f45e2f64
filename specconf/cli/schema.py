"""`specconf schema`: print the JSON Schemas of what specconf reads and writes."""

from __future__ import annotations

import click

from specconf.report.json_report import render_json
from specconf.schemas import NAMES, schema


@click.command("schema")
@click.argument("name", type=click.Choice(NAMES), default="spec")
def command(name: str) -> None:
    """Print the JSON Schema of a spec file, of the argv document of compile, or of a JSON report."""
    click.echo(render_json(schema(name)), nl=False)
