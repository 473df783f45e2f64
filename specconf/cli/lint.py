"""`specconf lint`: the launches in deploy files, and what their engine's release will do with them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
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
from specconf.errors import InputError, SpecconfError, UsageError
from specconf.findings import Severity
from specconf.lint.files import around, candidates, read_bytes
from specconf.lint.run import FileResult, Linter, launches_of
from specconf.report.lint_text import render_lint
from specconf.report.model import selected

if TYPE_CHECKING:
    from specconf.engines.base import Engine, Models
    from specconf.findings import Finding
    from specconf.lint.fixing import Fixed
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
    require_launch: bool,
    statistics: bool,
    quiet: bool,
    verbose: bool,
    fix: bool,
    unsafe: bool,
    diff: bool,
    color: str,
) -> int:
    """Find engine launches in deploy files and say what their engine's release will do with them.

    PATH is a file, a folder, or - for a shell script on standard input. The release of a launch is read from its image, pins,
    variables or a comment beside it, else from the project's settings; --release beats them all.
    """
    if unsafe and not (fix or diff):
        raise UsageError("--unsafe-fixes says which fixes, and none are asked for.", hint="Add --fix or --diff.")
    session = Session.start(overlays, wants_online(online, offline, default=False), "-")
    shown = _Shown(session, select or session.project.select, ignore or session.project.ignore)
    threshold = Severity(fail_on or session.project.fail_on)
    linter = Linter(shown.database, shown.models, _explicit(releases), session.project.releases)
    results = _results(paths, linter)
    if diff:
        return _print_difference(linter, results, shown, unsafe=unsafe)
    failures: list[InputError] = []
    if fix:
        results = _fixed(linter, results, shown, failures, unsafe=unsafe)
    for result in results:
        shown.filter(result)
    text = render_lint(results, verbose=verbose, quiet=quiet, fail_on=threshold) + _statistics(results, statistics)
    _print(text, output, color, to_stderr=fix and "-" in paths)
    for failure in failures[1:]:
        click.echo(f"specconf: {failure.message}", err=True)
    if failures:
        raise failures[0]
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

    def wants(self, finding: Finding) -> bool:
        """Whether a finding is one that was asked for."""
        return bool(selected([finding], self.select, self.ignore))

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
            results.append(_standard_input(linter))
            continue
        data = read_bytes(candidate)
        if isinstance(data, str):
            results.append(FileResult(candidate.path, skipped=data))
        else:
            results.append(linter.file(candidate.path, data, around(candidate.path)))
    return results


def _standard_input(linter: Linter) -> FileResult:
    data = read_input("-")
    result = linter.file("-", data)
    if result.skipped:  # it is printed as it came where it is to be fixed
        result.text = data.decode("utf-8", "surrogateescape")
    return result


def _fixing(linter: Linter, results: list[FileResult], shown: _Shown, *, unsafe: bool) -> Iterator[Fixed]:
    """Each file with what can be fixed in it."""
    from specconf.lint.fixing import fix_text

    for result in results:
        yield fix_text(linter, result, around(result.path), unsafe=unsafe, wanted=shown.wants)


def _print_difference(linter: Linter, results: list[FileResult], shown: _Shown, *, unsafe: bool) -> int:
    from specconf.lint.rewriting import difference

    changes = [
        difference(fixed.result.path, fixed.before, fixed.text)
        for fixed in _fixing(linter, results, shown, unsafe=unsafe)
    ]
    click.echo("".join(changes), nl=False)
    return int(any(changes))


def _fixed(
    linter: Linter, results: list[FileResult], shown: _Shown, failures: list[InputError], *, unsafe: bool
) -> list[FileResult]:
    """The files as they are after fixing, with those that could not be written. Of standard input, its text is printed."""
    from specconf.lint.rewriting import rewrite

    findings, files = 0, 0
    left: list[FileResult] = []
    for before, fixed in zip(results, _fixing(linter, results, shown, unsafe=unsafe), strict=True):
        if fixed.result.path == "-":
            sys.stdout.buffer.write(fixed.text.encode("utf-8", "surrogateescape"))
        elif fixed.changed:
            try:
                rewrite(fixed.result.path, fixed.before, fixed.text)
            except InputError as error:
                failures.append(error)
                left.append(before)
                continue
        findings, files = findings + len(fixed.fixed), files + fixed.changed
        left.append(fixed.result)
    if files:
        click.echo(f"Fixed {_counted(findings, 'finding')} in {_counted(files, 'file')}.", err=True)
    return left


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _statistics(results: list[FileResult], wanted: bool) -> str:
    if not wanted:
        return ""
    counted: dict[str, int] = {}
    for result in results:
        for finding in result.all_findings:
            counted[finding.code] = counted.get(finding.code, 0) + 1
    rows = sorted(counted.items(), key=lambda row: (-row[1], row[0]))
    return "".join(f"{number:6} {code} {CODES[code].name}\n" for code, number in rows)


def _print(text: str, output: Path | None, color: str, *, to_stderr: bool = False) -> None:
    if output is not None:
        write_atomically(output, click.unstyle(text))
        return
    click.echo(text, nl=False, color={"always": True, "never": False}.get(color), err=to_stderr)
