"""`specconf explain`: what a finding code or a constraint means, since when, on what evidence, with example and fix."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from specconf.cli.common import db_option, form_option, with_project
from specconf.codes import CODES
from specconf.compat.database import ENGINE_ALIASES, Database, load_database
from specconf.compat.rows import Constraint
from specconf.compat.sources import ENGINE_NAMES
from specconf.errors import UsageError
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
    found = [(db, c) for db in databases for c in db.constraints if c.id == name or c.code == name.upper()]
    code = CODES.get(name.upper())
    if code is None and not found:
        raise UsageError(f"{name!r} is neither a finding code nor a constraint.{_near(name, databases)}")
    if form == "json":
        click.echo(
            render_json(
                {
                    "schema": 1,
                    "code": code.code if code else found[0][1].code,
                    "name": CODES[found[0][1].code].name if code is None else code.name,
                    "about": (code or CODES[found[0][1].code]).about,
                    "constraints": [_constraint_json(db, c) for db, c in found],
                }
            ),
            nl=False,
        )
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
        click.echo("\n".join(_constraint_lines(db, constraint)))


def _near(name: str, databases: list[Database]) -> str:
    from specconf.engines.near import near_names

    near = near_names(name, [*CODES, *(c.id for db in databases for c in db.constraints)])
    return f" Did you mean {' or '.join(near)}?" if near else ""


def _constraint_lines(db: Database, constraint: Constraint) -> Iterator[str]:
    yield f"{constraint.id}  ({constraint.code} {CODES[constraint.code].name})"
    yield general(constraint.message)
    yield f"fix: {general(constraint.fix)}" if constraint.fix else "fix: none is known"
    yield f"releases: {constraint.ranges.text(db.line)}"
    yield f"effect: {constraint.effect} at {constraint.stage}"
    for evidence in constraint.evidence:
        yield f"evidence: {evidence.kind} {evidence.text}".rstrip()
    if constraint.kind == "described":
        yield "not checked before launch: nothing in a launch decides it"
    if constraint.resolves:
        yield "not a finding: it is what the engine fills in, and shows in the effective configuration"
    for label, probe in (("meets it", constraint.probe), ("does not", constraint.twin)):
        if probe:
            yield f"{label} ({probe['release']}): {example_text(probe)}"


def general(text: str) -> str:
    """A message without a launch: the release dropped, facts by their names."""
    return re.sub(r"\{([^}]+)\}", r"<\1>", text.replace(" {release}", ""))


def example_text(probe: Any) -> str:
    """A probe's launch as one line."""
    env = [f"{name}={shlex.quote(str(value))}" for name, value in (probe.get("env") or {}).items()]
    words = [*env, *(shlex.quote(str(word)) for word in probe.get("argv", ()))]
    files = [f"\n  {name}:\n    " + text.rstrip().replace("\n", "\n    ") for name, text in _files(probe)]
    return " ".join(words) + "".join(files)


def _files(probe: Any) -> list[tuple[str, str]]:
    return list((probe.get("files") or {}).items())


def _constraint_json(db: Database, constraint: Constraint) -> dict[str, Any]:
    return {
        "id": constraint.id,
        "code": constraint.code,
        "kind": constraint.kind,
        "engine": db.engine,
        "releases": constraint.ranges.text(db.line),
        "stage": str(constraint.stage),
        "effect": str(constraint.effect),
        "message": constraint.message,
        "fix": constraint.fix or None,
        "when": constraint.when,
        "set": constraint.sets or None,
        "evidence": [{"kind": str(e.kind), "text": e.text} for e in constraint.evidence],
        "probe": constraint.probe,
        "twin": constraint.twin,
    }
