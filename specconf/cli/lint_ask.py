"""`lint --ask-engine`: the launches of files put to their releases, each with the judgement it is held against."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import click
from msgspec import Struct
from msgspec.structs import replace

from specconf.cli.asking import Asker
from specconf.engines.registry import get_engine
from specconf.findings import Severity
from specconf.lint.results import FileResult, Judged
from specconf.lint.run import Linter
from specconf.oracle.sided import Limits, SideBySide
from specconf.report.asked import limit_lines, side_lines, tally_line, unasked_line
from specconf.verify.launch_case import case_of_launch


class LaunchesAsked(Struct, frozen=True):
    """What asking could not say, for the engines that were asked; the verdicts themselves stand with the launches."""

    limits: Sequence[Limits]

    def lines(self, results: Sequence[FileResult], *, verbose: bool, quiet: bool) -> Iterator[str]:
        """Both verdicts of every launch, each under its place."""
        for result in results:
            for launch in result.launches:
                if launch.side is not None and (not quiet or launch.side.agree is False):
                    yield f"{result.path}:{launch.line}"
                    yield from side_lines(launch.side, verbose=verbose)
                    yield ""
        if not quiet:
            yield from limit_lines(self.limits, verbose=verbose)
        if sides := _sides(results):
            yield tally_line(sides)

    def fails(self, results: Sequence[FileResult]) -> bool:
        """Whether a release refuses what specconf passes, or none of the launches could be asked, which is said."""
        sides = _sides(results)
        unasked = unasked_line(sides) if sides else ""
        if unasked:
            click.echo(f"specconf: {unasked}", err=True)
        return bool(unasked) or any(side.overruled for side in sides)


def ask_launches(results: Sequence[FileResult], linter: Linter, asker: Asker) -> LaunchesAsked:
    """Put every launch that has one release to it, and keep both verdicts with the launch."""
    views = [one.chosen.views[0] for result in results for one in result.launches if len(one.chosen.views) == 1]
    if views:
        asker.hold(tuple(sorted({view.engine for view in views})), [view.release for view in views])
    for result in results:
        folder = Path(result.path).parent
        result.launches = [replace(launch, side=_asked(launch, linter, asker, folder)) for launch in result.launches]
    return LaunchesAsked(asker.limits)


def _sides(results: Sequence[FileResult]) -> list[SideBySide]:
    return [launch.side for result in results for launch in result.launches if launch.side is not None]


def _asked(launch: Judged, linter: Linter, asker: Asker, folder: Path) -> SideBySide:
    name, views = launch.read.launch.engine, launch.chosen.views
    errors = tuple(finding for finding in launch.findings if finding.severity is Severity.ERROR)
    if len(views) != 1 or launch.settings is None:
        why = (
            "no one release is stated for the launch"
            if views or launch.chosen.text == ""
            else "its release is not known"
        )
        return SideBySide(name, launch.chosen.text, not_asked=f"{why}: name one with --release {name}=R")
    engine = get_engine(name)
    models = linter.models(launch.settings, engine, folder)
    case = case_of_launch(launch.read.launch, launch.settings, engine, views[0], models, errors)
    return case if isinstance(case, SideBySide) else asker.ask(case)
