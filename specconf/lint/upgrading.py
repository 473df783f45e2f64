"""Upgrading the launches of a deploy file: each judged at the release that runs and at the one to come, and the text with both
the statement of the release and the words brought up to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

from specconf.compat.view import View
from specconf.engines.registry import get_engine
from specconf.findings import Finding, Severity
from specconf.lint.bumping import bumps
from specconf.lint.fixing import applied, fix_text, nothing_new
from specconf.lint.releases import Chosen
from specconf.lint.results import FileResult, Judged
from specconf.lint.run import Linter
from specconf.lint.suppress import Comments, read_comments
from specconf.readers.fragments import Around, nothing_around
from specconf.rules.upgrade import Upgrade, compare

NOT_STATED = "its release is not stated; --from states one"
NOT_ASKED = "no release to upgrade {engine} to was given"
_MOST_STEPS = 200


class Compared(Struct, frozen=True):
    """One launch and what the upgrade does to it; `why_not` where it could not be compared."""

    judged: Judged
    upgrade: Upgrade | None = None
    why_not: str = ""


class Upgraded(Struct):
    """A file: its launches compared, and its text for the new releases. `shown`: the file with what is told of it."""

    shown: FileResult
    launches: list[Compared] = field(default_factory=list)
    text: str = ""
    left: tuple[Finding, ...] = ()

    @property
    def changed(self) -> bool:
        """Whether there is anything to write."""
        return bool(self.text) and self.text != self.shown.text


class Upgrader(Struct, frozen=True):
    """What files are upgraded with. `starts`: releases that run, by engine, where not those that the files state; `goals`:
    the release of each engine to upgrade to, `newest` those engines of which only that is asked; `linter` makes a linter with
    explicit releases.
    """

    linter: Callable[[Mapping[str, str]], Linter]
    goals: Mapping[str, View]
    starts: Mapping[str, str] = field(default_factory=dict)
    newest: frozenset[str] = frozenset()

    def compare(self, result: FileResult) -> Upgraded:
        """What the upgrade does to each launch of a file that was judged at the releases that run."""
        if result.skipped:
            return Upgraded(result)
        linter = self.linter(self.starts)
        comments = read_comments(result.path, result.text)
        compared = [self._launch(linter, judged, Path(result.path).parent) for judged in result.launches]
        shown = [_without_suppressed(one, comments) for one in compared]
        launches = [_as_shown(one) for one in shown]
        return Upgraded(replace(result, launches=launches, findings=[], suppressed=[]), shown)

    def _launch(self, linter: Linter, judged: Judged, folder: Path) -> Compared:
        name = judged.read.launch.engine
        goal, chosen = self.goals.get(name), judged.chosen
        if goal is None:
            return Compared(judged, why_not=NOT_ASKED.format(engine=name))
        if not chosen.views:
            return Compared(judged, why_not=f"{chosen.text} is not a release that can be judged")
        if chosen.any_release:
            return Compared(judged, why_not=NOT_STATED)
        if name in self.newest and chosen.views[0].point.positions[0] > goal.point.positions[0]:
            return Compared(judged, why_not=f"{chosen.text} is newer than {goal.release}, the newest final release")
        if chosen.views[0].point.positions == goal.point.positions:
            return Compared(judged, why_not=f"it is at {goal.release} already")
        engine, views = get_engine(name), (chosen.views[0], goal)
        launch = judged.read.launch
        both = [linter.judgement(launch, engine, view, folder) for view in views]
        found = compare(both[0], both[1], engine, views, where=launch.span)
        return Compared(judged, _placed(found, judged))

    def written(self, upgraded: Upgraded, around: Around = nothing_around, *, unsafe: bool = False) -> Upgraded:
        """The text for the new releases: what states a release states the new one, and the words are what it reads."""
        path, text = upgraded.shown.path, upgraded.shown.text
        moving = [one for one in upgraded.launches if one.upgrade is not None]
        if not moving:
            return upgraded
        goals = {name: view.release for name, view in self.goals.items()}
        edits = bumps([one.judged for one in moving], goals, path, text)
        bumped = applied(text, edits) if edits else text
        at_goal = self.linter(goals)
        best = fix_text(at_goal, at_goal.text(path, bumped, around), around, unsafe=unsafe)
        if (
            _errors(best.result)
            and (stepped := self._by_steps(bumped, path, moving, around, unsafe=unsafe)) is not None
        ):
            again = fix_text(at_goal, at_goal.text(path, stepped, around), around, unsafe=unsafe)
            if _errors(again.result) < _errors(best.result):
                best = again
        if len(best.result.launches) != len(upgraded.launches):
            return upgraded
        return replace(
            upgraded,
            text=best.text,
            left=tuple(f for f in best.result.all_findings if f.severity is Severity.ERROR),
        )

    def _by_steps(
        self, text: str, path: str, moving: Sequence[Compared], around: Around, *, unsafe: bool
    ) -> str | None:
        """The text brought through the releases between, one after the other: a name that was renamed twice is known so."""
        before = text
        for releases in self._steps(moving):
            linter = self.linter(releases)
            result = linter.text(path, text, around)
            if any(finding.code in ("SC101", "SC105") for finding in result.all_findings):
                fixed = fix_text(linter, result, around, unsafe=unsafe)
                if nothing_new(result, fixed.result):
                    text = fixed.text
        return text if text != before else None

    def _steps(self, moving: Sequence[Compared]) -> Iterator[dict[str, str]]:
        """The releases between the old and the new one of each engine, one engine after the other."""
        for name, goal in self.goals.items():
            starts = [
                one.judged.chosen.views[0].point.positions[0]
                for one in moving
                if one.judged.read.launch.engine == name and one.judged.chosen.views
            ]
            if not starts:
                continue
            line = goal.db.line
            between = line.names[min(starts) + 1 : goal.point.positions[0]]
            for release in between[-_MOST_STEPS:]:
                yield {name: release}


def _without_suppressed(one: Compared, comments: Comments) -> Compared:
    if one.upgrade is None:
        return one
    span = one.judged.read.launch.span
    told = tuple(each for each in one.upgrade.told if comments.suppresses(each.finding, span) is None)
    return replace(one, upgrade=replace(one.upgrade, told=told))


def _as_shown(one: Compared) -> Judged:
    """A launch with what is told of the upgrade, at the new release."""
    if one.upgrade is None:
        return replace(one.judged, findings=(), not_checked=())
    chosen = Chosen((), f"{one.upgrade.before} to {one.upgrade.after}", one.judged.chosen.how, one.judged.chosen.where)
    return replace(one.judged, chosen=chosen, findings=tuple(each.finding for each in one.upgrade.told), not_checked=())


def _placed(found: Upgrade, judged: Judged) -> Upgrade:
    """Everything at a place of the file: what has none stands at its launch."""
    span = judged.read.launch.span
    told = [
        replace(one, finding=replace(one.finding, where=span))
        if one.finding.where is None or not one.finding.where.line
        else one
        for one in found.told
    ]
    return replace(found, told=tuple(told))


def _errors(result: FileResult) -> int:
    return sum(finding.severity is Severity.ERROR for finding in result.all_findings)
