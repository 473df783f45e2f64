"""What the `db` commands share."""

from __future__ import annotations

import click

from specconf.compat.database import Database
from specconf.compat.releases import Point


def placed(database: Database, release: str) -> Point:
    """Where a release stands in the engine's line, with a note when it is judged by its neighbours."""
    point = database.line.place(release)
    if point.notice:
        click.echo(f"note: {point.notice}", err=True)
    return point


def counted(number: int, noun: str) -> str:
    """A number with its noun, which takes an s for any number but one."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
