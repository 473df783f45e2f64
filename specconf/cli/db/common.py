"""What the `db` commands share."""

from __future__ import annotations

import click

form_option = click.option(
    "--format", "-f", "form", type=click.Choice(["text", "json"]), default="text", show_default=True
)
