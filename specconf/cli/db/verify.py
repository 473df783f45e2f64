"""`specconf db verify`: ask engine releases themselves, keep what they answer, and hold it against what specconf says."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct

from specconf.cli.common import form_option
from specconf.compat.database import Database, load_database
from specconf.compat.names import engine_name
from specconf.compat.store import CHECKOUT
from specconf.engines.registry import get_engine, get_oracle, get_serving
from specconf.errors import UsageError
from specconf.report.json_report import render_json

if TYPE_CHECKING:
    from specconf.oracle.asking import Question
    from specconf.oracle.engine import EngineOracle
    from specconf.oracle.environment import Environment
    from specconf.verify.asked import Asked
    from specconf.verify.compare import Agreement
    from specconf.verify.observed import Folder

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

    The answers are written to compat/ENGINE/observed/RELEASE.jsonl. Exit 1 when a release is broken (then what was recorded
    of it stays as it is), or where at any stage launches of one origin agree on less than 98 % of the verdicts (of fewer than
    50: all but one; known exceptions are in the engine's agreement.yaml).
    """
    from specconf.verify.observed import Folder

    name = engine_name(engine)
    oracle, database = get_oracle(name), load_database(name)
    folder = Folder(_target(output) / name / "observed")
    plan = None
    if not recorded:
        if not releases:
            raise UsageError("Name the releases to ask, or --recorded.")
        if oracle.own_python_only:
            raise UsageError(
                f"{get_engine(name).title} cannot be verified: no environment of its releases can be built.",
                hint="`specconf check SPEC --ask-engine --engine-python PATH` puts one launch to an installation of your own.",
            )
        if loads:
            get_serving(name)  # before minutes are spent on asking
        plan = _Plan(database, oracle, seed, least, corpus or CHECKOUT.parent / "tests" / "corpus", again, loads)
    wanted = list(releases) or sorted(folder.releases(), key=database.line.names.index)
    if not wanted:
        raise UsageError(f"nothing was recorded of {name}.")
    failed, told = False, dict[str, Any]()
    questions = folder.questions() if plan is None else {}
    for release in wanted:
        broken = _ask(release, folder, plan) if plan is not None else ()
        for canary in broken:
            kept = "what was recorded stays" if release in folder.releases() else "nothing is written"
            click.echo(f"{name} {release}: broken: {canary} ({kept})", err=form == "json")
        failed |= bool(broken)
        if broken and release not in folder.releases():
            continue
        held = _Held(folder, database, oracle, release, questions if plan is None else folder.questions())
        told[release] = held.told()
        failed |= bool(held.missed())
        if form == "text":
            click.echo("\n".join(held.lines(listed=listed)))
    if form == "json":
        click.echo(render_json({"schema": 1, "engine": name, "releases": told}), nl=False)
    context.exit(int(failed))


def _target(output: Path | None) -> Path:
    if output is None and not CHECKOUT.is_dir():
        raise UsageError(
            "this installation has no database files to write into.", hint="Name a directory with --output."
        )
    return output or CHECKOUT


class _Plan(Struct, frozen=True):
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


def _ask(release: str, folder: Folder, plan: _Plan) -> tuple[str, ...]:
    """Ask a release and write what it answers; where it is broken its canaries are returned, and what lies there stays."""
    from specconf.oracle import building
    from specconf.verify.load_run import load_release, with_loads
    from specconf.verify.loads import examples, methods
    from specconf.verify.run import Ran, ask_release

    def note(text: str) -> None:
        click.echo(text, err=True)

    before = folder.read(release) if release in folder.releases() else None
    found = building.build(plan.oracle.engine, release, progress=note)
    found.kept.mkdir(parents=True, exist_ok=True)
    ran = Ran(found.python, found.archive, found.sha256, found.kept, _cost(found))
    asked = plan.launches(release)
    known = None if plan.again else before
    observed, questions = ask_release(plan.oracle, release, ran, asked, seed=plan.seed, progress=note, before=known)
    if observed.header.broken:
        return observed.header.broken
    if before is not None:
        observed = with_loads(observed, [row for row in before.rows if row.loaded], before.header.loaded)
    if plan.loads:
        serving = get_serving(plan.oracle.engine)(release, progress=note)
        rows, started = load_release(serving, [*methods(), *examples(plan.database.at(release))], note)
        loaded = {"archive": serving.wheel, "sha256": serving.sha256, "versions": dict(serving.versions)}
        observed, questions = with_loads(observed, rows, loaded), questions | started
    folder.write(observed, questions)
    return ()


def _cost(environment: Environment) -> dict[str, Any]:
    """What an environment takes on disk, and the seconds of building it where the builder noted them."""
    from specconf.oracle.environment import marker_of
    from specconf.oracle.sizes import size_of

    size, noted = size_of(environment), marker_of(environment.folder) or {}
    built = {name: noted[name] for name in ("build_seconds",) if name in noted}
    return {"own_mb": round(size.own), "shared_mb": round(size.shared), **built}


class _Held:
    """A release's recorded answers held against what specconf says; the figures are written at once."""

    def __init__(
        self, folder: Folder, database: Database, oracle: EngineOracle, release: str, questions: Mapping[str, Question]
    ) -> None:
        from specconf.verify.compare import compare
        from specconf.verify.owed import owed
        from specconf.verify.summary import figures, write_figures

        engine, view = get_engine(oracle.engine), database.at(release)
        observed = folder.read(release)
        self._oracle = oracle
        self._found = compare(engine, oracle, view, observed, questions)
        self._owed = owed(engine, oracle, view, observed)
        self._broken = observed.header.broken
        self._figures = figures(self._found, observed)
        write_figures(folder, release, self._figures, database.line.names)

    def told(self) -> dict[str, Any]:
        """The figures, and how far the launches are today's."""
        return {
            **self._figures,
            "not_asked": len(self._owed.not_asked),
            "no_longer_asked": len(self._owed.no_longer),
        }

    def missed(self) -> list[str]:
        """What is not as it must be."""
        from specconf.verify.bars import bars_missed, exceptions_of

        broken = [f"broken: {canary}" for canary in self._broken]
        return [*broken, *bars_missed(self._found, exceptions_of(self._oracle))]

    def lines(self, *, listed: bool) -> Iterator[str]:
        """All of it as text."""
        yield from _lines(self._oracle.engine, self._found, listed=listed)
        yield f"  {self._owed}"
        yield from (f"  {line}" for line in self.missed())


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
