"""A command group whose commands are listed without being imported: one command never pays for the others."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click


class LazyGroup(click.Group):
    """`commands_at` says for every command which module holds it (as `command`) and what it does."""

    def __init__(self, *args: Any, commands_at: Mapping[str, tuple[str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._at = commands_at

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, in the order of the table."""
        del ctx
        return list(self._at)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """One command, imported now."""
        del ctx
        if cmd_name not in self._at:
            return None
        command: click.Command = import_module(self._at[cmd_name][0]).command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list in `--help`, from the table alone."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl([(name, about) for name, (_, about) in self._at.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """A command by its name; an unknown one is answered with the nearest."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError:
            from specconf.engines.near import near_names

            near = near_names(args[0], self._at) if args else ()
            hint = f" Did you mean {' or '.join(near)}?" if near else ""
            raise click.UsageError(f"{ctx.command_path} has no command {args[0]!r}.{hint}", ctx) from None
