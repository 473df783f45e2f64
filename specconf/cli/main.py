"""Entry point: the commands, `--version`, and errors turned into one message and an exit code."""

from __future__ import annotations

import gc
import os
import sys
from typing import NoReturn

import click

from specconf import __version__
from specconf.cli.lazy import LazyGroup
from specconf.errors import SpecconfError

INTERNAL_ERROR = 4

_COMMANDS = {
    "init": ("specconf.cli.init", "Write a commented spec to begin with."),
    "lint": ("specconf.cli.lint", "Find launches in deploy files and say what is wrong with them."),
    "upgrade": ("specconf.cli.upgrade", "Say what an upgrade breaks and changes, and write what it needs."),
    "check": ("specconf.cli.check", "Say what engines and releases will do with a spec."),
    "compile": ("specconf.cli.compile", "Check a spec and write the launch of one engine."),
    "db": ("specconf.cli.db", "Look into the compatibility database."),
    "explain": ("specconf.cli.explain", "Explain a finding code or a constraint."),
    "import": ("specconf.cli.import_", "Turn an existing launch into a spec."),
    "schema": ("specconf.cli.schema", "Print the JSON Schemas."),
}


def _print_version(ctx: click.Context, _param: click.Parameter, wanted: bool) -> None:
    if not wanted or ctx.resilient_parsing:
        return
    from specconf.compat.database import load_database
    from specconf.compat.names import ENGINE_NAMES

    click.echo(f"specconf {__version__}")
    newest_date = ""
    rows = []
    for name in ENGINE_NAMES:
        line = load_database(name).line
        dates = [date for date in line.dates if date]
        newest_date = max([newest_date, *dates])
        newest = "" if line.newest == line.newest_final else f" (pre-release {line.newest})"
        rows.append(f"  {name} {line.newest_final}{newest}, {len(line.names)} releases from {line.names[0]}")
    click.echo(f"database of {newest_date}, newest releases:")
    for row in rows:
        click.echo(row)
    ctx.exit()


@click.group(cls=LazyGroup, commands_at=_COMMANDS, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_print_version,
    help="Show the version, the database's date and its newest releases.",
)
def cli() -> None:
    """One speculative-decoding spec, checked against every engine release and compiled to exact launches."""


def main() -> NoReturn:
    """Run the command line and exit with the code that the contract of the documentation gives."""
    gc.disable()  # a run is short and makes few cycles; walking the loaded database for them costs more than it frees
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # looking for plugins costs every start 10 ms
    try:
        result = cli.main(standalone_mode=False)
    except click.exceptions.Exit as ended:
        sys.exit(ended.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except click.Abort:
        click.echo("stopped", err=True)
        sys.exit(130)
    except SpecconfError as error:
        click.echo(f"specconf: {error}", err=True)
        sys.exit(error.exit_code)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
    except Exception:  # noqa: BLE001 - the last resort: an internal error has its own exit code and keeps its traceback
        import traceback

        traceback.print_exc()
        click.echo("specconf: internal error; please report it with the lines above", err=True)
        sys.exit(INTERNAL_ERROR)
    sys.exit(result if isinstance(result, int) else 0)
