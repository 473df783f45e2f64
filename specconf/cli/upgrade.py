"""`specconf upgrade`: what a release to come does to the launches of deploy files, or to a spec, and what to write for it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from specconf.cli.common import (
    Session,
    db_option,
    fail_on_option,
    failed,
    network_options,
    print_report,
    read_input,
    wants_online,
)
from specconf.cli.lint_jobs import Setup, judge_files
from specconf.cli.selecting import known_codes, releases_by_engine, selection_options
from specconf.compat.names import engine_name
from specconf.errors import SpecconfError, UsageError
from specconf.findings import Severity
from specconf.report.model import selected

if TYPE_CHECKING:
    from specconf.compat.view import View
    from specconf.lint.run import Linter
    from specconf.lint.upgrading import Upgraded, Upgrader
    from specconf.rules.upgrade import Upgrade
    from specconf.spec.model import Spec

NEWEST = "newest"
FORMATS = ("text", "markdown", "json", "sarif", "github", "junit")
_SPEC = re.compile(rb"^specconf\s*:", re.MULTILINE)


class NothingToUpgradeError(SpecconfError):
    """The paths hold no launch of an engine that is to be upgraded."""

    exit_code = 3


@click.command("upgrade")
@click.argument("paths", metavar="PATH...", nargs=-1, required=True)
@click.option(
    "--to", "goals", multiple=True, required=True, metavar="E=R",
    help="The release to upgrade an engine to; `newest` for the newest final release of every engine. Repeatable.",
)  # fmt: skip
@click.option(
    "--from", "starts", multiple=True, metavar="E=R",
    help="The release that runs now (default: what the file states, else the project's setting). Repeatable.",
)  # fmt: skip
@click.option("--format", "-f", "form", type=click.Choice(FORMATS), default="text", show_default=True)
@selection_options
@fail_on_option
@db_option
@network_options(default_online=False)
@click.option("--fix", is_flag=True, help="Write the new release and what it needs into the files.")
@click.option("--unsafe-fixes", "unsafe", is_flag=True, help="With --fix or --diff: also what changes a launch.")
@click.option("--diff", is_flag=True, help="Print what --fix would change, and write nothing.")
@click.option("--quiet", "-q", is_flag=True, help="Print what breaks only.")
@click.option("--verbose", "-v", is_flag=True, help="Print every change, its evidence, and what could not be compared.")
@click.option("--color", type=click.Choice(["auto", "always", "never"]), default="auto", show_default=True)
def command(
    paths: tuple[str, ...],
    goals: tuple[str, ...],
    starts: tuple[str, ...],
    form: str,
    output: Path | None,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    fail_on: str | None,
    overlays: tuple[Path, ...],
    online: bool,
    offline: bool,
    fix: bool,
    unsafe: bool,
    diff: bool,
    quiet: bool,
    verbose: bool,
    color: str,
) -> int:
    """Say what an upgrade does: what stops starting, what changes silently, what becomes lossy, exact or possible.

    PATH is a deploy file, a folder, a spec, or - for a shell script on standard input. Each launch is judged at the release
    that its file states, or that --from gives, and at the one of --to; the settings in force at both are compared, defaults
    included. The exit code is 1 when something breaks.
    """
    if unsafe and not (fix or diff):
        raise UsageError("--unsafe-fixes says which fixes, and none are asked for.", hint="Add --fix or --diff.")
    session = Session.start(overlays, wants_online(online, offline, default=False), "-")
    filters = (select or session.project.select, ignore or session.project.ignore)
    known_codes((*filters[0], *filters[1]))
    threshold = str(Severity(fail_on or session.project.fail_on))
    wanted = _goals(goals, session)
    newest = frozenset(wanted) if NEWEST in goals else frozenset()
    before = releases_by_engine(starts, "--from")
    specs = [path for path in paths if _is_spec(path)]
    others = [path for path in paths if path not in specs]
    results = [*_specs(specs, wanted, before, session), *_files(others, wanted, before, session, overlays, newest)]
    for result in results:
        _select(result, filters)
    if diff or fix:
        results = _with_texts(results, wanted, before, session, overlays, unsafe=unsafe)
    if diff:
        return _show_differences(results)
    if fix:
        _write(results)
    print_report(_report(form, results, threshold, verbose=verbose, quiet=quiet), output, color)
    if not any(result.launches for result in results):
        raise NothingToUpgradeError("the paths hold no launch of an engine that is known.")
    told = (one.finding for result in results for each in result.launches if each.upgrade for one in each.upgrade.told)
    breaks = any(each.upgrade.breaks for result in results for each in result.launches if each.upgrade)
    return int(breaks or failed(list(told), threshold))


def _goals(texts: Iterable[str], session: Session) -> dict[str, View]:
    """The release of each engine to upgrade to."""
    from specconf.compat.names import ENGINE_NAMES

    found: dict[str, View] = {}
    for text in texts:
        engine, equals, release = (part.strip() for part in text.partition("="))
        if not equals and engine == NEWEST:
            named = [(name, NEWEST) for name in ENGINE_NAMES]
        elif equals and release:
            named = [(engine_name(engine), release)]
        else:
            raise UsageError(f"--to {text!r} names no engine and release.", hint="Write vllm=0.33.0, or newest.")
        for name, wanted in named:
            database = session.database(name)
            found[name] = database.at(database.line.newest_final if wanted == NEWEST else wanted)
            if found[name].point.notice:
                click.echo(f"specconf: {found[name].point.notice}", err=True)
    return found


def _is_spec(path: str) -> bool:
    if path == "-" or not Path(path).is_file():
        return False
    return bool(_SPEC.search(read_input(path)))


def _specs(
    paths: Sequence[str], goals: Mapping[str, View], starts: Mapping[str, str], session: Session
) -> list[Upgraded]:
    """Specs, compared."""
    if not paths:
        return []
    from specconf.lint.upgrading_spec import upgraded_spec
    from specconf.spec import load_spec

    results = []
    for path in paths:
        data = read_input(path)
        loaded = load_spec(data, path)
        session.base_dir = Path(path).parent
        pairs = _pairs(loaded.spec, goals, starts, session)
        if not pairs:
            raise UsageError(
                f"{path} states no release of an engine of --to.", hint="Add --from E=R, or write engines.E.release."
            )
        models = session.models(loaded.spec)
        results.append(upgraded_spec(loaded, path, data.decode("utf-8"), pairs, models))
    return results


def _pairs(
    spec: Spec, goals: Mapping[str, View], starts: Mapping[str, str], session: Session
) -> dict[str, tuple[View, View]]:
    """The old and the new release of each engine of a spec for which both are known."""
    sections = dict(spec.engines.items())
    pairs = {}
    for name, goal in goals.items():
        section = sections.get(name)
        if sections and section is None:
            continue
        stated = section.release if section is not None else None
        release = starts.get(name) or stated or session.project.releases.get(name)
        if release:
            pairs[name] = (session.database(name).at(release), goal)
    return pairs


def _files(
    paths: Sequence[str],
    goals: Mapping[str, View],
    starts: Mapping[str, str],
    session: Session,
    overlays: tuple[Path, ...],
    newest: frozenset[str],
) -> list[Upgraded]:
    """Deploy files and folders of them, compared."""
    if not paths:
        return []
    setup = Setup(overlays, session.online, dict(starts))
    results = judge_files(paths, setup, session, jobs=1)
    upgrader = _upgrader(goals, starts, session, overlays, newest)
    return [upgrader.compare(result) for result in results]


def _upgrader(
    goals: Mapping[str, View],
    starts: Mapping[str, str],
    session: Session,
    overlays: tuple[Path, ...],
    newest: frozenset[str] = frozenset(),
) -> Upgrader:
    from specconf.lint.upgrading import Upgrader

    def linter(explicit: Mapping[str, str]) -> Linter:
        return Setup(overlays, session.online, dict(explicit)).linter(session)

    return Upgrader(linter, goals, starts, newest)


def _select(result: Upgraded, filters: tuple[tuple[str, ...], tuple[str, ...]]) -> None:
    """Leave of what is told what was asked for."""
    from msgspec.structs import replace

    def chosen(upgrade: Upgrade) -> Upgrade:
        wanted = set(selected([told.finding for told in upgrade.told], *filters))
        return replace(upgrade, told=tuple(each for each in upgrade.told if each.finding in wanted))

    kept = [replace(one, upgrade=chosen(one.upgrade)) if one.upgrade else one for one in result.launches]
    result.launches = kept
    result.shown.launches = [
        replace(judged, findings=tuple(each.finding for each in one.upgrade.told))
        if one.upgrade is not None
        else judged
        for judged, one in zip(result.shown.launches, kept, strict=True)
    ]


def _with_texts(
    results: Iterable[Upgraded],
    goals: Mapping[str, View],
    starts: Mapping[str, str],
    session: Session,
    overlays: tuple[Path, ...],
    *,
    unsafe: bool,
) -> list[Upgraded]:
    """Each file with its text for the new releases."""
    from specconf.lint.files import around
    from specconf.lint.upgrading_spec import FORMAT, with_release
    from specconf.spec import load_spec

    upgrader = _upgrader(goals, starts, session, overlays)
    written = []
    for result in results:
        if result.shown.format == FORMAT:
            loaded = load_spec(result.shown.text.encode("utf-8"), result.shown.path)
            written.append(with_release(result, loaded, _pairs(loaded.spec, goals, starts, session)))
        else:
            written.append(upgrader.written(result, around(result.shown.path), unsafe=unsafe))
    return written


def _show_differences(results: Iterable[Upgraded]) -> int:
    from specconf.lint.rewriting import difference

    changes = [difference(r.shown.path, r.shown.text, r.text) for r in results if r.changed]
    click.echo("".join(changes), nl=False)
    return int(bool(changes))


def _write(results: Iterable[Upgraded]) -> None:
    import sys

    from specconf.lint.rewriting import rewrite

    files = 0
    for result in results:
        if result.shown.path == "-":
            sys.stdout.buffer.write((result.text or result.shown.text).encode("utf-8", "surrogateescape"))
        elif result.changed:
            rewrite(result.shown.path, result.shown.text, result.text)
            files += 1
    click.echo(f"specconf: upgraded {files} file{'' if files == 1 else 's'}", err=True)


def _report(form: str, results: list[Upgraded], fail_on: str, *, verbose: bool, quiet: bool) -> str:
    if form == "text":
        from specconf.report.upgrade_text import render_upgrade

        return render_upgrade(results, verbose=verbose, quiet=quiet)
    if form == "markdown":
        from specconf.report.upgrade_markdown import upgrade_markdown

        return upgrade_markdown(results)
    if form == "json":
        from specconf.report.json_report import render_json
        from specconf.report.upgrade_json import upgrade_json

        return render_json(upgrade_json(results))
    from specconf.report.formats import lint_text

    return lint_text(form, [result.shown for result in results], (), Severity(fail_on))
