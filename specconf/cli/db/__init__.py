"""`specconf db`: look into the compatibility database, compare releases, and derive it anew from the engines."""

from __future__ import annotations

import click

from specconf.cli.lazy import LazyGroup

_COMMANDS = {
    "releases": ("specconf.cli.db.releases", "List the releases of an engine that the database knows."),
    "show": ("specconf.cli.db.show", "Show everything on an option, key, variable or table entry."),
    "diff": ("specconf.cli.db.diff", "Show what differs between two releases of an engine."),
    "coverage": ("specconf.cli.db.coverage", "Show how much the database knows, release by release."),
    "lint": ("specconf.cli.db.lint", "Check the database's files against each other."),
    "harvest": ("specconf.cli.db.harvest", "Read releases of an engine into the database's files."),
    "verify": ("specconf.cli.db.verify", "Ask releases themselves and compare what they say."),
}


@click.group("db", cls=LazyGroup, commands_at=_COMMANDS)
def command() -> None:
    """Look into the compatibility database, compare releases, and derive it anew from the engines."""
