"""`specconf db diff`: what differs between two releases of one engine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import click

from specconf.cli.common import db_option, form_option, with_project
from specconf.cli.db.common import placed
from specconf.compat.database import load_database
from specconf.compat.diff import ABSENT, Change, Difference, differences
from specconf.compat.names import engine_name
from specconf.report.json_report import render_json

_ORDER = (Change.REMOVED, Change.RENAMED, Change.CHANGED, Change.ADDED)


@click.command("diff")
@click.argument("engine")
@click.argument("before", metavar="RELEASE")
@click.argument("after", metavar="RELEASE")
@click.option("--options", "only_options", is_flag=True, help="Only options: no tables, no constraints.")
@form_option
@db_option
def command(engine: str, before: str, after: str, only_options: bool, form: str, overlays: tuple[Path, ...]) -> None:
    """Show what differs between two releases of ENGINE: options that were added, removed, renamed or changed, entries of
    the tables, and constraints that begin or end.

    For example: specconf db diff sglang 0.5.19 0.5.20
    """
    database = load_database(engine_name(engine), with_project(overlays))
    points = placed(database, before), placed(database, after)
    found = [d for d in differences(database, *points) if d.what == "options" or not only_options]
    if form == "json":
        shown = {"schema": 1, "engine": database.engine, "from": points[0].stated, "to": points[1].stated}
        click.echo(render_json({**shown, "differences": [_json(one) for one in found]}), nl=False)
        return
    for line in _lines(database.engine, before, after, found):
        click.echo(line)


def _lines(engine: str, before: str, after: str, found: Sequence[Difference]) -> Iterator[str]:
    yield f"{engine} {before} → {after}: {_counts(found)}"
    for what, group in groupby(found, key=lambda one: one.what):
        ones = sorted(group, key=lambda one: _ORDER.index(one.change))
        yield f"\n{what}"
        for one in ones:
            yield f"  {one.change:8} {_title(one)}"
            if one.change in (Change.CHANGED, Change.RENAMED):
                yield from (f"           {name}: {_both(old, new)}" for name, (old, new) in one.values.items())


def _counts(found: Sequence[Difference]) -> str:
    kinds: dict[tuple[str, Change], int] = {}
    for one in found:
        kinds[one.what, one.change] = kinds.get((one.what, one.change), 0) + 1
    return ", ".join(f"{n} {what} {change}" for (what, change), n in kinds.items()) or "no difference"


def _title(one: Difference) -> str:
    if one.what != "options":
        columns = [f"{k}: {_text(a if a is not None else b)}" for k, (a, b) in one.values.items()]
        aside = ", ".join(columns) if one.change in (Change.ADDED, Change.REMOVED) else one.scope
        return one.name + (f"  ({aside})" if aside else "")
    names = one.values.get("names", (None, None))
    spelled = names[1] or names[0] if one.change in (Change.ADDED, Change.REMOVED) else None
    return f"{one.name}  ({one.scope})" + (f"  {' '.join(spelled)}" if spelled else "")


def _both(old: Any, new: Any) -> str:
    """Two values; of two lists what went and what came, since lists of choices are long."""
    if not isinstance(old, list) or not isinstance(new, list):
        return f"{_text(old)} → {_text(new)}"
    gone, come = [item for item in old if item not in new], [item for item in new if item not in old]
    signs = [*(f"- {_text(item)}" for item in gone), *(f"+ {_text(item)}" for item in come)]
    return ", ".join(signs) or f"{_text(old)} → {_text(new)}"


def _text(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(str(item) for item in value) or "[]"
    return "unknown" if value == ABSENT else str(value)


def _json(one: Difference) -> dict[str, Any]:
    values = {name: {"from": _plain(old), "to": _plain(new)} for name, (old, new) in one.values.items()}
    return {"what": one.what, "scope": one.scope, "name": one.name, "change": str(one.change), "values": values}


def _plain(value: Any) -> Any:
    return None if value == ABSENT else value
