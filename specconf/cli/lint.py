"""`specconf lint`: the launches in deploy files, and what their engine's release will do with them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec import Struct
from msgspec.structs import replace

from specconf.cli.common import (
    Session,
    ask_options,
    db_option,
    fail_on_option,
    failed,
    network_options,
    print_report,
    report_form_option,
    wants_asking,
    wants_online,
    write_atomically,
)
from specconf.cli.lint_jobs import Setup, judge_files
from specconf.cli.project import Project
from specconf.cli.selecting import known_codes, releases_by_engine, selection_options, statistics_text
from specconf.errors import InputError, SpecconfError, UsageError
from specconf.findings import Finding, Severity
from specconf.lint.globs import matches
from specconf.lint.results import FileResult, launches_of, told_once
from specconf.report.formats import lint_text
from specconf.report.lint_text import render_lint, summary_line
from specconf.report.model import selected

if TYPE_CHECKING:
    from specconf.cli.lint_ask import LaunchesAsked
    from specconf.cli.lint_fix import Fixing
    from specconf.lint.baseline import Baseline
    from specconf.lint.run import Linter

_MOST_GONE = 5
_WITH_FIXES = frozenset({"json", "sarif"})


class NothingToLookAtError(SpecconfError):
    """The paths hold nothing that could be judged."""

    exit_code = 3


@click.command("lint")
@click.argument("paths", metavar="PATH...", nargs=-1, required=True)
@click.option(
    "--release", "-r", "releases", multiple=True, metavar="E=R",
    help="Judge an engine's launches at this release, whatever the files state. Repeatable.",
)  # fmt: skip
@report_form_option
@selection_options
@fail_on_option
@ask_options
@db_option
@network_options(default_online=False)
@click.option(
    "--baseline",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Do not tell the findings that this file holds (default: the project's setting).",
)
@click.option(
    "--write-baseline",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write what is found now to a file for --baseline.",
)
@click.option(
    "--jobs",
    "-j",
    type=click.IntRange(min=0),
    default=0,
    metavar="N",
    help="Processes for many files (default: as many as pay; json and sarif, with fixes: one).",
)
@click.option("--allow-empty", is_flag=True, help="Exit with 0 where there is nothing to look at: for hooks.")
@click.option("--require-launch", is_flag=True, help="Exit with 3 where no launch is found.")
@click.option("--statistics", is_flag=True, help="Count the findings of each code.")
@click.option("--quiet", "-q", is_flag=True, help="Print what reaches --fail-on only.")
@click.option(
    "--verbose", "-v", is_flag=True, help="Print the launches, evidence, and every rule that was not checked."
)
@click.option("--fix", "fix", is_flag=True, help="Write what can be fixed safely back into the files.")
@click.option("--unsafe-fixes", "unsafe", is_flag=True, help="With --fix or --diff: also what changes a launch.")
@click.option("--diff", "diff", is_flag=True, help="Print what --fix would change, and write nothing.")
@click.option("--color", type=click.Choice(["auto", "always", "never"]), default="auto", show_default=True)
def command(
    paths: tuple[str, ...],
    releases: tuple[str, ...],
    form: str,
    output: Path | None,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    fail_on: str | None,
    overlays: tuple[Path, ...],
    online: bool,
    offline: bool,
    baseline: Path | None,
    write_baseline: Path | None,
    jobs: int,
    allow_empty: bool,
    require_launch: bool,
    statistics: bool,
    quiet: bool,
    verbose: bool,
    fix: bool,
    unsafe: bool,
    diff: bool,
    ask_engine: bool,
    engine_python: Path | None,
    color: str,
) -> int:
    """Find engine launches in deploy files and say what their engine's release will do with them.

    PATH is a file, a folder, or - for a shell script on standard input. The release of a launch is read from its image, pins,
    variables or a comment beside it, else from the project's settings; --release beats them all.
    """
    asking = wants_asking(ask_engine, engine_python)
    if unsafe and not (fix or diff):
        raise UsageError("--unsafe-fixes says which fixes, and none are asked for.", hint="Add --fix or --diff.")
    session = Session.start(overlays, wants_online(online, offline, default=False), "-")
    shown = _Shown(session.project, select or session.project.select, ignore or session.project.ignore)
    threshold = Severity(fail_on or session.project.fail_on)
    known = baseline or (None if write_baseline else session.project.baseline)
    held = _held(known) if known is not None else None
    setup = Setup(overlays, session.online, releases_by_engine(releases, "--release"))
    # A fix is tried on what was judged, which another process does not hand over.
    fixes = fix or diff or form in _WITH_FIXES
    results = judge_files(paths, setup, session, jobs=1 if fixes or asking else jobs)
    fixing = _fixing(setup, session, shown, unsafe=unsafe) if fixes else None
    if diff and fixing is not None:
        changes = fixing.show(results)
        _all_were_read(results)
        return changes
    if fix and fixing is not None:
        results = fixing.write(results)
    if form in _WITH_FIXES and fixing is not None:
        fixing.propose(results)
    asked = _ask(results, setup.linter(session), engine_python, verbose=verbose) if asking else None
    told_once(results)
    for result in results:
        shown.filter(result)
    notices = _with_baseline(results, held, known, write_baseline)
    if form == "text":
        text = render_lint(results, verbose=verbose, quiet=quiet, fail_on=threshold)
        text += statistics_text(finding for result in results for finding in result.all_findings) if statistics else ""
        if asked is not None:
            text = "".join(f"{line}\n" for line in asked.lines(results, verbose=verbose, quiet=quiet)) + text
    else:
        text = lint_text(form, results, notices, threshold)
    print_report(text, output, color, err=fix and "-" in paths)
    for notice in notices:
        click.echo(f"specconf: {notice}", err=True)
    if form != "text" and (form != "github" or output is not None) and not quiet:
        click.echo(f"specconf: {summary_line(results)}", err=True)
    if fixing is not None:
        fixing.fail()
    _all_were_read(results)
    _something_was_there(results, require_launch=require_launch, allow_empty=allow_empty)
    refused = asked is not None and asked.fails(results)
    return int(refused or any(failed(result.all_findings, str(threshold)) for result in results))


def _ask(results: list[FileResult], linter: Linter, python: Path | None, *, verbose: bool) -> LaunchesAsked:
    from specconf.cli.asking import Asker
    from specconf.cli.lint_ask import ask_launches

    with Asker(python=python, verbose=verbose) as asker:
        return ask_launches(results, linter, asker)


def _fixing(setup: Setup, session: Session, shown: _Shown, *, unsafe: bool) -> Fixing:
    from specconf.cli.lint_fix import Fixing

    return Fixing(setup.linter(session), unsafe, shown.wants)


def _all_were_read(results: list[FileResult]) -> None:
    """Raise where a file that the command line names could not be read, and that is not accepted; all else is told before."""
    failures = [InputError(result.unread) for result in results if result.named and result.unread and _told(result)]
    for failure in failures[1:]:
        click.echo(f"specconf: {failure}", err=True)
    if failures:
        raise failures[0]


def _told(result: FileResult) -> bool:
    return bool(result.skipped) or any(finding.code == "SC707" for finding in result.findings)


def _something_was_there(results: list[FileResult], *, require_launch: bool, allow_empty: bool) -> None:
    if not allow_empty and all(result.skipped for result in results):
        raise NothingToLookAtError("the paths hold no file of a known kind that mentions an engine.")
    if require_launch and not launches_of(results):
        raise NothingToLookAtError("no launch was found.")


def _held(path: Path) -> Baseline:
    from specconf.lint.baseline import read_baseline

    return read_baseline(path)


def _with_baseline(
    results: list[FileResult], held: Baseline | None, known: Path | None, written: Path | None
) -> list[str]:
    """Leave what no baseline holds, and write one where that was asked for; what is to be said of both."""
    notices = []
    if written is not None:
        from specconf.lint.baseline import baseline_text

        text, number = baseline_text(results, written.absolute().parent)
        write_atomically(written, text)
        notices.append(f"{written}: holds {number} finding{'' if number == 1 else 's'} as they are now")
        _held(written).apply(results)
    elif held is not None:
        gone = held.apply(results)
        if gone:
            one = len(gone) == 1
            notices.append(
                f"{known}: {len(gone)} {'entry' if one else 'entries'} no longer occur{'s' if one else ''}; "
                "--write-baseline writes it anew: "
                + "; ".join(map(str, gone[:_MOST_GONE]))
                + (" …" if len(gone) > _MOST_GONE else "")
            )
    return notices


class _Shown(Struct, frozen=True):
    """What this run tells."""

    project: Project
    select: tuple[str, ...]
    ignore: tuple[str, ...]

    def __post_init__(self) -> None:
        per_file = (code for _, codes in self.project.per_file_ignores for code in codes)
        known_codes((*self.select, *self.ignore, *per_file))

    def wants(self, path: str, finding: Finding) -> bool:
        """Whether a finding of a file is told."""
        return bool(selected(selected([finding], self.select, self.ignore), (), self._of_file(path)))

    def filter(self, result: FileResult) -> None:
        """Leave what was asked for, and let the settings suppress what they do for this file."""
        if result.skipped:
            return
        from specconf.lint.keys import launch_keys

        result.findings = self._told(result, "", result.findings)
        keys = launch_keys(judged.read for judged in result.launches)
        result.launches = [
            replace(judged, findings=tuple(self._told(result, key, judged.findings)))
            for judged, key in zip(result.launches, keys, strict=True)
        ]
        asked = set(selected((one.finding for one in result.suppressed), self.select, self.ignore))
        result.suppressed = [one for one in result.suppressed if one.finding in asked]

    def _told(self, result: FileResult, launch: str, findings: Iterable[Finding]) -> list[Finding]:
        from specconf.lint.suppress import Suppressed, SuppressedBy

        asked = selected(findings, self.select, self.ignore)
        kept = selected(asked, (), self._of_file(result.path))
        told = set(kept)
        hidden = (finding for finding in asked if finding not in told)
        result.suppressed += [Suppressed(one, launch, SuppressedBy.SETTINGS, "per-file-ignores") for one in hidden]
        return kept

    def _of_file(self, path: str) -> tuple[str, ...]:
        """What the settings suppress in a file."""
        table, folder = self.project.per_file_ignores, self.project.folder
        return tuple(code for glob, codes in table if path != "-" and matches(path, (glob,), folder) for code in codes)
