"""What an upgrade does, as text: each launch with what breaks, what changes and what becomes possible, worst first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import click

from specconf.findings import Severity
from specconf.lint.upgrading import Compared, Upgraded
from specconf.report.text import finding_lines
from specconf.rules.upgrade import Outcome, Upgrade

CLEAN = "clean"
NOT_COMPARED = "not compared"
_COLORS = {Outcome.BREAKS: "red", Outcome.REFUSED: "red", Outcome.LOSSY: "red", Outcome.CHANGES: "yellow"}
_QUIET = (Outcome.TOLD, Outcome.EXACT, Outcome.POSSIBLE)


def verdict(upgrade: Upgrade) -> Outcome | None:
    """The worst that comes of an upgrade; None where a reader need do nothing."""
    worst = next((one.outcome for one in upgrade.told if one.finding.severity is not Severity.INFO), None)
    return worst if worst not in _QUIET else None


def title(one: Compared, path: str) -> str:
    """A launch's name in a report."""
    name = f" ({one.judged.read.name})" if one.judged.read.name else ""
    return f"{path}:{one.judged.line}{name}"


def render_upgrade(results: Sequence[Upgraded], *, verbose: bool, quiet: bool) -> str:
    """All launches by file, and how much was compared."""
    lines: list[str] = []
    for result in results:
        for one in result.launches:
            lines += _launch_lines(one, result.shown.path, verbose=verbose, quiet=quiet)
        if result.changed and result.left:
            lines += [f"{result.shown.path}: --fix leaves {len(result.left)} of what breaks to be mended by hand", ""]
    lines.append(summary_line(results))
    return "\n".join(lines) + "\n"


def _launch_lines(one: Compared, path: str, *, verbose: bool, quiet: bool) -> Iterator[str]:
    engine = one.judged.read.launch.engine
    if one.upgrade is None:
        if not quiet:
            yield from (f"{title(one, path)} {engine}: {NOT_COMPARED}, {one.why_not}", "")
        return
    found = verdict(one.upgrade)
    if quiet and found is not Outcome.BREAKS:
        return
    word = click.style(found or CLEAN, fg=_COLORS.get(found, "green") if found else "green", bold=True)
    yield f"{title(one, path)} {engine} {one.upgrade.before} to {one.upgrade.after}: {word}"
    minor = 0
    for told in one.upgrade.told:
        remark = told.finding.severity is Severity.INFO and told.outcome is Outcome.CHANGES
        if (remark and not verbose) or (quiet and told.outcome is not Outcome.BREAKS):
            minor += remark
            continue
        yield from (f"  {line}" for line in finding_lines(told.finding, verbose=verbose))
    if minor and not quiet:
        yield f"  and {minor} smaller change{'' if minor == 1 else 's'} of defaults: --verbose lists them"
    if verbose:
        yield from (f"  not compared: {path}, which needs {needs}" for path, needs in one.upgrade.uncertain.items())
    elif one.upgrade.uncertain and not quiet:
        number = len(one.upgrade.uncertain)
        yield f"  {number} setting{'' if number == 1 else 's'} could not be compared: --verbose lists them"
    yield ""


def outcomes(results: Sequence[Upgraded]) -> Counter[str]:
    """How many launches came to what."""
    return Counter(
        NOT_COMPARED if one.upgrade is None else str(verdict(one.upgrade) or CLEAN)
        for result in results
        for one in result.launches
    )


def summary_line(results: Sequence[Upgraded]) -> str:
    """How much was looked at, what came of it, and what was skipped and why."""
    found = outcomes(results)
    order = [*map(str, Outcome), CLEAN, NOT_COMPARED]
    files = sum(not result.shown.skipped for result in results)
    launches = sum(found.values())
    counted = ", ".join(f"{found[word]} {word}" for word in order if found[word]) or "nothing to upgrade"
    skipped = Counter(result.shown.skipped for result in results if result.shown.skipped)
    why = ", ".join(f"{number} {reason}" for reason, number in skipped.most_common())
    looked = f"{files} file{'' if files == 1 else 's'}, {launches} launch{'' if launches == 1 else 'es'}"
    return f"{looked}{f', skipped: {why}' if why else ''}: {counted}"
