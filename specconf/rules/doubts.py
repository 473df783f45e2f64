"""Options of which a launch does not say what it means: a value that no release takes, or the option that a misspelt one comes
close to. Rules must not conclude anything from them: that would be the same cause once more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from specconf.compat.view import View
from specconf.engines.near import near_names
from specconf.findings import Finding
from specconf.rules.othernames import named, releases_with_choice
from specconf.settings import ProblemKind, Settings

_UNKNOWN_OPTION = ("SC101", "SC106")


def doubtful(findings: Iterable[Finding], settings: Settings, view: View) -> frozenset[str]:
    """The paths whose value is not known, by what was found in the spelling of a launch."""
    told = list(findings)
    if not told:
        return frozenset()
    paths = {path for finding in told for path in _of_finding(finding, settings, view)}
    for problem in settings.problems:
        if problem.kind is ProblemKind.UNKNOWN:
            paths |= {row["path"] for _, row in named(problem.looked_up, problem.scope, view)}
            paths |= _paths_of(problem.near, problem.scope, view)
    # What is written is known, whatever a misspelt option beside it was meant to say.
    return frozenset(path for path in paths if path not in settings or _is_no_word(path, settings, view))


def _of_finding(finding: Finding, settings: Settings, view: View) -> Iterator[str]:
    if finding.code == "SC103" and _is_no_word(finding.option, settings, view):
        yield finding.option
    if finding.code in _UNKNOWN_OPTION and "." in (path := _path_of(finding, settings)) and path not in view.by_path:
        parent, _, key = path.rpartition(".")
        for option in view.by_path.get(parent, ()):
            near = near_names(key, view.names.get(option.members, {}))
            yield from _paths_of(near, option.members, view)


def _path_of(finding: Finding, settings: Settings) -> str:
    """The path of a member that its object does not have, which is told by its key and place."""
    return next(
        (
            path
            for path, setting in settings.items_by_path.items()
            if finding.option in (setting.final.spelling, setting.final.spelling.rpartition(".")[2])
            and setting.final.where == finding.where
        ),
        "",
    )


def _is_no_word(path: str, settings: Settings, view: View) -> bool:
    """Whether a value is none of an option's choices, in any release."""
    value = settings.get(path)
    choosing = [option for option in view.by_path.get(path, ()) if option.choices]
    if not isinstance(value, str) or not choosing:
        return False
    return all(value not in (o.choices or ()) and not releases_with_choice(value, o, view) for o in choosing)


def _paths_of(names: Iterable[str], scope: str, view: View) -> set[str]:
    known = view.names.get(scope, {})
    return {known[name].path for name in names if name in known}
