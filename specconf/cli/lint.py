"""`specconf lint`: the launches in deploy files, and what their engine's release will do with them."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import click

from specconf.cli.common import (
    Session,
    db_option,
    fail_on_option,
    failed,
    network_options,
    read_input,
    wants_online,
    write_atomically,
)
from specconf.codes import CODES
from specconf.compat.database import Database, engine_name
from specconf.errors import SpecconfError, UsageError
from specconf.findings import Severity
from specconf.lint.files import around, candidates, read_bytes
from specconf.lint.run import FileResult, Linter, launches_of
from specconf.report.lint_text import render_lint
from specconf.report.model import selected

if TYPE_CHECKING:
    from specconf.engines.base import Engine, Models
    from specconf.settings import Settings

_FORMATS = ("text",)


class NothingToLookAtError(SpecconfError):
    """The paths hold nothing that could be judged."""

    exit_code = 3


@click.command("lint")
@click.argument("paths", metavar="PATH...", nargs=-1, required=True)
@click.option(
    "--release", "-r", "releases", multiple=True, metavar="E=R",
    help="Judge an engine's launches at this release, whatever the files state. Repeatable.",
)  # fmt: skip
@click.option("--format", "-f", "form", type=click.Choice(_FORMATS), default="text", show_default=True)
@click.option("--output", "-o", "output", type=click.Path(path_type=Path), help="Write the report to a file.")
@click.option("--select", "select", multiple=True, metavar="CODE", help="Only these codes, prefixes or constraints.")
@click.option("--ignore", "ignore", multiple=True, metavar="CODE", help="Not these codes, prefixes or constraints.")
@fail_on_option
@db_option
@network_options(default_online=False)
@click.option("--require-launch", is_flag=True, help="Exit with 3 where no launch is found.")
@click.option("--statistics", is_flag=True, help="Count the findings of each code.")
@click.option("--quiet", "-q", is_flag=True, help="Print what reaches --fail-on only.")
@click.option(
    "--verbose", "-v", is_flag=True, help="Print the launches, evidence, and every rule that was not checked."
)
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
    require_launch: bool,
    statistics: bool,
    quiet: bool,
    verbose: bool,
    color: str,
) -> int:
    """Find engine launches in deploy files and say what their engine's release will do with them.

    PATH is a file, a folder, or - for a shell script on standard input. The release of a launch is read from its image, pins,
    variables or a comment beside it, else from the project's settings; --release beats them all.
    """
    session = Session.start(overlays, wants_online(online, offline, default=False), "-")
    shown = _Shown(session, select or session.project.select, ignore or session.project.ignore)
    threshold = Severity(fail_on or session.project.fail_on)
    results = _results(paths, Linter(shown.database, shown.models, _explicit(releases), session.project.releases))
    for result in results:
        shown.filter(result)
    text = render_lint(results, verbose=verbose, quiet=quiet, fail_on=threshold) + _statistics(results, statistics)
    _print(text, output, color)
    looked_at = [result for result in results if not result.skipped]
    if not looked_at:
        raise NothingToLookAtError("the paths hold no file of a known kind that mentions an engine.")
    if require_launch and not launches_of(results):
        raise NothingToLookAtError("no launch was found.")
    del form
    return int(any(failed(result.all_findings, str(threshold)) for result in results))


def _explicit(releases: tuple[str, ...]) -> dict[str, str]:
    found = {}
    for text in releases:
        engine, equals, release = text.partition("=")
        if not equals or not release.strip("= "):
            raise UsageError(f"--release {text!r} names no engine and release.", hint="Write one such as vllm=0.33.0.")
        found[engine_name(engine)] = release.strip("= ")
    return found


@dataclass
class _Shown:
    """What this run judges with and shows."""

    session: Session
    select: tuple[str, ...]
    ignore: tuple[str, ...]
    _databases: dict[str, Database] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for pattern in (*self.select, *self.ignore):
            if "/" not in pattern and not any(code.startswith(pattern) for code in CODES):
                raise UsageError(f"{pattern!r} is no finding code, prefix of one, or constraint id.")

    def database(self, engine: str) -> Database:
        """An engine's database, loaded when the first launch of it is met."""
        if engine not in self._databases:
            self._databases[engine] = self.session.database(engine)
        return self._databases[engine]

    def models(self, settings: Settings, engine: Engine, folder: Path) -> Models:
        """The models that a launch names, looked for beside its file."""
        self.session.base_dir = folder
        return self.session.models_written(settings, engine)

    def filter(self, result: FileResult) -> None:
        """Leave what was asked for."""
        from dataclasses import replace

        result.findings = selected(result.findings, self.select, self.ignore)
        result.launches = [
            replace(launch, findings=tuple(selected(launch.findings, self.select, self.ignore)))
            for launch in result.launches
        ]


def _results(paths: tuple[str, ...], linter: Linter) -> list[FileResult]:
    results = []
    for candidate in candidates(paths):
        if candidate.path == "-":
            results.append(linter.file("-", read_input("-")))
            continue
        data = read_bytes(candidate)
        if isinstance(data, str):
            results.append(FileResult(candidate.path, skipped=data))
        else:
            results.append(linter.file(candidate.path, data, around(candidate.path)))
    return results


def _statistics(results: list[FileResult], wanted: bool) -> str:
    if not wanted:
        return ""
    counted: dict[str, int] = {}
    for result in results:
        for finding in result.all_findings:
            counted[finding.code] = counted.get(finding.code, 0) + 1
    rows = sorted(counted.items(), key=lambda row: (-row[1], row[0]))
    return "".join(f"{number:6} {code} {CODES[code].name}\n" for code, number in rows)


def _print(text: str, output: Path | None, color: str) -> None:
    if output is not None:
        write_atomically(output, click.unstyle(text))
        return
    click.echo(text, nl=False, color={"always": True, "never": False}.get(color), file=sys.stdout)
