"""`specconf db verify`: ask engine releases themselves, keep what they answer, and hold it against what specconf says."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from specconf.cli.common import form_option
from specconf.compat.database import Database, engine_name, load_database
from specconf.compat.store import CHECKOUT
from specconf.engines.registry import get_engine, get_oracle
from specconf.errors import UsageError
from specconf.report.json_report import render_json

if TYPE_CHECKING:
    from specconf.oracle.engine import EngineOracle
    from specconf.oracle.serving import Serving
    from specconf.verify.asked import Asked
    from specconf.verify.compare import Agreement
    from specconf.verify.observed import Folder

_LEAST_AGREEMENT = 0.98
_SEED = 6
_LEAST = 320


@click.command("verify")
@click.argument("engine")
@click.argument("releases", nargs=-1, metavar="[RELEASE]...")
@click.option("--recorded", is_flag=True, help="Ask nothing: compare with what was recorded (default: all releases).")
@click.option("--seed", type=int, default=_SEED, show_default=True, help="Of the launches that nobody wrote.")
@click.option(
    "--least", type=click.IntRange(min=1), default=_LEAST, show_default=True,
    help="How many launches that nobody wrote a verdict for, where the database's own are fewer.",
)  # fmt: skip
@click.option(
    "--corpus", type=click.Path(path_type=Path), metavar="DIR",
    help="Launches of people's documents, laid out like tests/corpus (default: the checkout's).",
)  # fmt: skip
@click.option(
    "--output", "-o", type=click.Path(path_type=Path), metavar="DIR",
    help="The database to write into, laid out like compat/ (default: that of the checkout).",
)  # fmt: skip
@click.option(
    "--load", "loads", is_flag=True, help="Also start tiny models for real, where the engine serves on a CPU (vLLM)."
)
@click.option("--again", is_flag=True, help="Ask again what is recorded already.")
@click.option("--list", "listed", is_flag=True, help="List every disagreement.")
@form_option
@click.pass_context
def command(
    context: click.Context,
    engine: str,
    releases: tuple[str, ...],
    recorded: bool,
    seed: int,
    least: int,
    corpus: Path | None,
    output: Path | None,
    loads: bool,
    again: bool,
    listed: bool,
    form: str,
) -> None:
    """Ask releases of ENGINE what they do with every example of the database and with launches nobody wrote a verdict for.

    The answers are written to compat/ENGINE/observed/RELEASE.jsonl. Exit 1 when a release is broken, or agrees on less
    than 98 % of the verdicts.
    """
    from specconf.verify.compare import compare
    from specconf.verify.observed import Folder
    from specconf.verify.summary import figures, read_summary, write_summary

    name = engine_name(engine)
    oracle, database = get_oracle(name), load_database(name)
    folder = Folder(_target(output) / name / "observed")
    if not recorded:
        if not releases:
            raise UsageError("Name the releases to ask, or --recorded.")
        plan = _Plan(database, oracle, seed, least, corpus or CHECKOUT.parent / "tests" / "corpus", again, loads)
        for release in releases:
            _ask(release, folder, plan)
    wanted = list(releases) or sorted(folder.releases(), key=database.line.names.index)
    if not wanted:
        raise UsageError(f"nothing was recorded of {name}.")
    questions = folder.questions()
    failed = False
    summary = read_summary(folder.path)
    for release in wanted:
        observed = folder.read(release)
        for canary in observed.header.broken:
            click.echo(f"{name} {release}: broken: {canary}")
        found = compare(get_engine(name), oracle, database.at(release), observed, questions)
        summary[release] = figures(found, observed.header)
        if form == "text":
            click.echo("\n".join(_lines(name, found, listed=listed)))
        total = found.tally()
        failed |= bool(observed.header.broken) or total.agreed < _LEAST_AGREEMENT * total.verdicts
    if form == "json":
        told = {release: summary[release] for release in wanted}
        click.echo(render_json({"schema": 1, "engine": name, "releases": told}), nl=False)
    write_summary(folder.path, summary, database.line.names)
    context.exit(int(failed))


def _target(output: Path | None) -> Path:
    if output is None and not CHECKOUT.is_dir():
        raise UsageError(
            "this installation has no database files to write into.", hint="Name a directory with --output."
        )
    return output or CHECKOUT


@dataclass(frozen=True)
class _Plan:
    """What is put to each release."""

    database: Database
    oracle: EngineOracle
    seed: int
    least: int
    corpus: Path
    again: bool
    loads: bool

    def launches(self, release: str) -> list[Asked]:
        from specconf.verify.covering import covering
        from specconf.verify.launches import own_launches
        from specconf.verify.lifted import lifted
        from specconf.verify.run import chosen

        view = self.database.at(release)
        engine = get_engine(self.oracle.engine)
        own = list(own_launches(engine, self.oracle, view))
        wanted = max(len({one.question.key for one in own}), self.least)
        texts = lifted(engine.name, view, self._rows(), seed=self.seed, size=wanted // 2)
        array = covering(engine.name, view, seed=self.seed, size=wanted)
        return chosen(own, texts, array, self.least)

    def _rows(self) -> Sequence[Any]:
        path = self.corpus / f"{self.oracle.engine}_launches.jsonl"
        if not path.is_file():
            click.echo(f"no launches of documents at {path}: none are asked", err=True)
            return []
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _ask(release: str, folder: Folder, plan: _Plan) -> None:
    from specconf.oracle import building, environment
    from specconf.oracle.sizes import size_of
    from specconf.verify.load_run import load_release, with_loads
    from specconf.verify.loads import examples, methods
    from specconf.verify.run import Ran, ask_release

    def note(text: str) -> None:
        click.echo(text, err=True)

    before = folder.read(release) if release in folder.releases() and not plan.again else None
    taken: dict[str, float] = {}
    if environment.find(plan.oracle.engine, release) is None:
        began = time.monotonic()
        building.build(plan.oracle.engine, release, progress=note)
        taken["build_seconds"] = round(time.monotonic() - began, 1)
    found = building.build(plan.oracle.engine, release, progress=note)
    found.kept.mkdir(parents=True, exist_ok=True)
    size = size_of(found)
    cost = {"own_mb": round(size.own), "shared_mb": round(size.shared), **taken}
    ran = Ran(found.python, found.archive, found.sha256, found.kept, cost)
    asked = plan.launches(release)
    observed, questions = ask_release(plan.oracle, release, ran, asked, seed=plan.seed, progress=note, before=before)
    if before is not None:
        kept = [row for row in before.rows if row.loaded]
        observed = with_loads(observed, kept, before.header.loaded)
    if plan.loads:
        serving = _serving(plan.oracle.engine, release, note)
        rows, started = load_release(serving, [*methods(), *examples(plan.database.at(release))], note)
        loaded = {"archive": serving.wheel, "sha256": serving.sha256, "versions": dict(serving.versions)}
        observed, questions = with_loads(observed, rows, loaded), questions | started
    folder.write(observed, questions)


def _serving(engine: str, release: str, note: Callable[[str], None]) -> Serving:
    from specconf.engines.vllm.oracle import serving

    if engine != "vllm":
        raise UsageError(f"{engine} does not serve on a CPU, so nothing of it is loaded.")
    return serving.build(release, progress=note)


def _lines(engine: str, found: Agreement, *, listed: bool) -> Iterator[str]:
    from specconf.findings import Stage
    from specconf.verify.compare import Outcome
    from specconf.verify.listing import disagreement_lines
    from specconf.verify.observed import Whose

    yield f"{engine} {found.release}"
    for whose in Whose:
        tally = found.tally(whose)
        if not tally.verdicts:
            continue
        parts = {stage: found.tally(whose, stage) for stage in Stage}
        by_stage = ", ".join(f"{stage} {part.agreed}/{part.verdicts}" for stage, part in parts.items() if part.verdicts)
        yield (
            f"  {whose}: verdicts {tally.agreed}/{tally.verdicts} ({by_stage}); "
            f"values {tally.equal}/{tally.values}, {tally.unknown} not known"
        )
    counts = {outcome: sum(1 for _ in found.of(outcome)) for outcome in Outcome if outcome is not Outcome.AGREES}
    yield "  " + ", ".join(f"{outcome} {number}" for outcome, number in counts.items())
    yield f"  not answered: {sum(found.unanswered.values())} {dict(sorted(found.unanswered.items()))}"
    if listed:
        yield from disagreement_lines(found)
