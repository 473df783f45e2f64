"""`specconf check`: the engine by release matrix of a spec, and what would pass where it is refused."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec import Struct

from specconf.cli.common import (
    NEWEST,
    Asked,
    Session,
    ask_options,
    db_option,
    engine_option,
    fail_on_option,
    failed,
    network_options,
    print_report,
    read_spec,
    release_option,
    report_form_option,
    wants_asking,
    wants_online,
)
from specconf.cli.selecting import known_codes, selection_options, statistics_text
from specconf.engines.registry import get_engine
from specconf.errors import UsageError
from specconf.findings import Severity
from specconf.report.asked import unasked_line
from specconf.report.formats import check_text
from specconf.report.model import Cell, LaunchRow, Report, selected
from specconf.report.text import render_check
from specconf.rules.judge import judge_spec

if TYPE_CHECKING:
    from specconf.cli.asking import Asker
    from specconf.compat.view import View
    from specconf.spec import LoadedSpec

_MOST_SEARCHED = 6


@click.command("check")
@click.argument("spec_path", metavar="SPEC")
@engine_option
@release_option
@click.option("--all-releases", is_flag=True, help="Every release the database knows.")
@report_form_option
@selection_options
@fail_on_option
@ask_options
@db_option
@network_options(default_online=True)
@click.option("--statistics", is_flag=True, help="Count the findings of each code.")
@click.option("--explain-unchecked", is_flag=True, help="List every rule that could not be checked.")
@click.option("--quiet", "-q", is_flag=True, help="Print errors only.")
@click.option("--verbose", "-v", is_flag=True, help="Print the evidence of every finding.")
@click.option("--color", type=click.Choice(["auto", "always", "never"]), default="auto", show_default=True)
def command(
    spec_path: str,
    engines: tuple[str, ...],
    releases: tuple[str, ...],
    all_releases: bool,
    form: str,
    output: Path | None,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    fail_on: str | None,
    ask_engine: bool,
    engine_python: Path | None,
    overlays: tuple[Path, ...],
    online: bool,
    offline: bool,
    statistics: bool,
    explain_unchecked: bool,
    quiet: bool,
    verbose: bool,
    color: str,
) -> int:
    """Say what engines and releases will do with SPEC: start, refuse, change silently, lose exactness.

    Without --release: the release the spec names for an engine, else the newest final release known. The exit code is 1 when
    a finding reaches --fail-on, or an engine that is asked itself refuses what specconf passes, or nothing could be asked;
    with --all-releases, when no release of an engine that was asked for can run the spec.
    """
    if all_releases and releases:
        raise UsageError("--all-releases and --release exclude each other.")
    asking = wants_asking(ask_engine, engine_python)
    loaded = read_spec(spec_path)
    asked = Asked.parse(engines, releases, loaded.spec)
    session = Session.start(overlays, wants_online(online, offline, default=True), spec_path)
    filters = (select or session.project.select, ignore or session.project.ignore)
    known_codes((*filters[0], *filters[1]))
    fail_on = fail_on or session.project.fail_on
    plan = _Plan(loaded, spec_path, session, filters, Severity(fail_on), every=all_releases)
    if asking:
        from specconf.cli.asking import Asker

        with Asker(builds=not all_releases, python=engine_python, verbose=verbose) as asker:
            report = _run(plan, asked, asker)
    else:
        report = _run(plan, asked, None)
    text = (
        check_text(form, report, Severity(fail_on))
        if form != "text"
        else render_check(report, verbose=verbose or explain_unchecked, quiet=quiet, fail_on=Severity(fail_on))
        + (statistics_text(report.findings) if statistics else "")
    )
    print_report(text, output, color)
    for notice in report.notices:
        click.echo(f"specconf: {notice}", err=True)
    unasked = unasked_line(report.sides) if asking else ""
    if unasked:
        click.echo(f"specconf: {unasked}", err=True)
        return 1
    if all_releases:
        runs = {cell.engine for cell in report.cells if not failed(cell.findings, fail_on) and not cell.overruled}
        return int(any(engine not in runs for engine in asked.engines))
    return int(failed(report.findings, fail_on) or any(cell.overruled for cell in report.cells))


class _Plan(Struct, frozen=True):
    """What is judged, and how."""

    loaded: LoadedSpec
    path: str
    session: Session
    filters: tuple[tuple[str, ...], tuple[str, ...]]
    fail_on: Severity
    every: bool


def _run(plan: _Plan, asked: Asked, asker: Asker | None) -> Report:
    report = Report(files=[plan.path], every_release=plan.every)
    planned: list[tuple[View, str]] = []
    for name in asked.engines:
        planned += plan.session.views(name, asked, plan.loaded.spec, every=plan.every)
    if asker is not None:
        asker.hold(asked.engines, [view.release for view, _ in planned])
    search = len(planned) <= _MOST_SEARCHED
    for view, found in planned:
        report.launches.append(LaunchRow(plan.path, view.engine, view.release, found))
        report.cells.append(_cell(plan, view, asker, search=search))
        if view.point.notice:
            report.notices.append(view.point.notice)
        if found == NEWEST:
            report.notices.append(f"{view.engine}: no release given, {view.release} is the newest final release known")
    if asker is not None:
        report.limits = asker.limits
        if plan.every:
            report.notices.append("of all releases, only those were asked whose environment is built already")
    return report


def _cell(plan: _Plan, view: View, asker: Asker | None, *, search: bool) -> Cell:
    """One release's verdict; `search`: look for what would pass when a finding reaches the threshold."""
    spec, session, engine = plan.loaded.spec, plan.session, get_engine(view.engine)
    models = session.models(spec)
    judgement = judge_spec(spec, engine, view, models, span=plan.loaded.span)
    findings = selected(judgement.findings, *plan.filters)
    alternatives = []
    if search and failed(findings, plan.fail_on):
        from specconf.rules.alternatives import smallest_change

        database = session.database(view.engine)
        alternatives = smallest_change(spec, engine, database, view, session.models, fail_on=plan.fail_on)
    return Cell(
        view.engine,
        view.release,
        tuple(findings),
        tuple(judgement.result.not_checked),
        tuple(alternatives),
        view.point.notice,
        None if asker is None else asker.ask_spec(spec, engine, view, models, judgement),
    )
