"""`specconf db lint`: the database's files checked against each other."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
from msgspec.structs import asdict

from specconf.cli.common import db_option, form_option, with_project
from specconf.cli.db.common import counted
from specconf.compat.lint import Problem
from specconf.compat.names import ENGINE_NAMES, engine_name
from specconf.compat.sources import OBSERVED, SourceTree
from specconf.errors import DatabaseError
from specconf.report.json_report import render_json


@click.command("lint")
@click.argument("engines", nargs=-1, metavar="[ENGINE]...")
@click.option("--quick", is_flag=True, help="Leave out running the constraints' own examples.")
@form_option
@db_option
@click.pass_context
def command(
    context: click.Context, engines: tuple[str, ...], quick: bool, form: str, overlays: tuple[Path, ...]
) -> None:
    """Check the data of every ENGINE, overlays included: rows that cannot be read, overlap or hold nowhere, members without
    their object, replacements that do not exist, constraints whose examples do not show what they claim."""
    names = [engine_name(engine) for engine in engines] or list(ENGINE_NAMES)
    found = list(_problems(names, with_project(overlays), quick))
    if form == "json":
        click.echo(render_json({"schema": 1, "problems": [asdict(problem) for problem in found]}), nl=False)
    else:
        for problem in found:
            click.echo(f"{problem.engine} {problem.about}: {problem.message} [{problem.check}]")
        left_out = "; examples not run" if quick else ""
        click.echo(f"{counted(len(found), 'problem')} in the data of {', '.join(names)}{left_out}")
    if found:
        context.exit(1)


def _problems(names: list[str], overlays: tuple[Path, ...], quick: bool) -> Iterator[Problem]:
    from specconf.compat import filelint, lint
    from specconf.rules import datalint

    for tree in filelint.trees(overlays):
        yield from _shared_problems(tree)
    for name in names:
        database, found = filelint.read(name, overlays)
        yield from found
        if database is not None:
            yield from lint.problems(database)
            yield from datalint.problems(database, examples=not quick)
    for name in names:
        for tree in filelint.trees(overlays):
            yield from _observed_problems(tree, name)


def _observed_problems(tree: SourceTree, engine: str) -> Iterator[Problem]:
    """What is wrong with the files of what an engine's releases answered: rows that prove nothing, launches that changed,
    questions without an answer of which no class says why."""
    from specconf.engines.registry import get_oracle
    from specconf.verify.classes import classes_of
    from specconf.verify.observed import Folder

    folder = Folder(tree.root / engine / OBSERVED)
    classes = classes_of(get_oracle(engine))
    try:
        launches = folder.questions()
    except DatabaseError as error:
        yield Problem("observed", engine, OBSERVED, error.message)
        return
    for release in sorted(folder.releases()):
        try:
            rows = folder.read(release).rows
        except DatabaseError as error:
            yield Problem("observed", engine, f"{OBSERVED}/{release}", error.message)
            continue
        unknown = sorted({row.launch for row in rows} - set(launches))
        if unknown:
            yield Problem("observed", engine, f"{OBSERVED}/{release}", f"nobody knows what launch {unknown[0]} was")
        nameless = sorted({row.unanswered for row in rows if row.verdict is None} - set(classes))
        if nameless:
            said = f"no file names the class {', '.join(nameless)} of questions without an answer"
            yield Problem("observed", engine, f"{OBSERVED}/{release}", said)
        if release not in tree.observed(engine):
            yield Problem("observed", engine, f"{OBSERVED}/{release}", "its figures are not in the summary")


def _shared_problems(tree: SourceTree) -> Iterator[Problem]:
    """What is wrong with the files that are no engine's: checkpoints and families."""
    from specconf.compat.index import FAMILIES, compile_families

    for path in sorted((tree.root / "checkpoints").glob("*")):
        try:
            if path.name == FAMILIES:
                compile_families(tree)
            elif path.suffix in {".yaml", ".jsonl"}:
                _checkpoints(tree, path.name)
        except DatabaseError as error:
            yield Problem("file", "checkpoints", f"checkpoints/{path.name}", error.message)


def _checkpoints(tree: SourceTree, name: str) -> None:
    """The rows of one file. Raises DatabaseError for one that is none."""
    from specconf.models.rows import checkpoint_rows

    data = tree.rows("checkpoints", name) if name.endswith(".jsonl") else tree.yaml("checkpoints", name)
    checkpoint_rows((data.get("checkpoints") if isinstance(data, dict) else data) or (), name=name)
