"""The report as text for a terminal or a log."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import click

from specconf.codes import CODES
from specconf.findings import Finding, NotChecked, Severity
from specconf.report.model import Cell, Report, counts, missing_groups

_COLORS = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.INFO: "blue"}
_VERDICT_COLORS = {"refused": "red", "warnings": "yellow", "ok": "green"}


def finding_lines(finding: Finding, *, verbose: bool = False) -> Iterator[str]:
    """One finding: what, where, what to do, and how sure."""
    head = click.style(f"{finding.severity} {finding.code}", fg=_COLORS[finding.severity], bold=True)
    yield f"{head} {finding.message}"
    if finding.where is not None:
        yield f"  at   {finding.where}"
    if finding.fix:
        yield f"  fix  {finding.fix}"
    if finding.effect is not None or verbose:
        yield f"  why  {_why(finding)}"


def _why(finding: Finding) -> str:
    parts = [str(finding.effect)] if finding.effect else [CODES[finding.code].name]
    if finding.stage and finding.stage != "never":
        parts[0] += f" at {finding.stage}"
    if finding.releases:
        parts.append(f"in {finding.releases}")
    if finding.evidence:
        parts.append(f"evidence: {finding.evidence}")
    if finding.constraint:
        parts.append(finding.constraint)
    return "; ".join(parts)


def not_checked_lines(items: Sequence[NotChecked], *, verbose: bool) -> Iterator[str]:
    """What could not be checked, grouped by what is missing."""
    apart = (REGISTRY, KNOWN_IN_PART)
    for missing, ids in missing_groups(i for i in items if not i.constraint.endswith(apart)):
        rules = "1 rule needs" if len(ids) == 1 else f"{len(ids)} rules need"
        yield f"not checked: {rules} {missing}{_how_to_get(missing)}"
        if verbose:
            yield from (f"  {name}" for name in ids)
    yield from _option_lines([item for item in items if item.constraint.endswith(KNOWN_IN_PART)])


def _option_lines(items: Sequence[NotChecked]) -> Iterator[str]:
    """Once for each release whose options are known in part: those of which nothing is known."""
    for engine, release in dict.fromkeys((item.engine, item.release) for item in items):
        mine = [item for item in items if (item.engine, item.release) == (engine, release)]
        names = sorted({name for item in mine for name in item.missing})
        launches = f" ({len(mine)} launches)" if len(mine) > 1 else ""
        yield (
            f"not checked: whether {engine} {release} has {', '.join(names)}: its options are known only in part{launches}"
        )


def _how_to_get(missing: str) -> str:
    """How a model's config is got: a whole one, or the rest of one of which a part is known."""
    if missing.endswith("config.json"):
        return ": --online"
    parts = re.split(" and |, ", missing)
    of_models = all(re.match(r"target |draft |\d+ more$", part) and not part.endswith(")") for part in parts)
    return " of a config.json known in part: --online reads all of it" if of_models else ""


REGISTRY = "/architecture"
KNOWN_IN_PART = "/options-known-in-part"


def registry_lines(items: Sequence[NotChecked]) -> Iterator[str]:
    """Once for a whole report: the engines whose model registry the database does not hold."""
    engines = dict.fromkeys(item.engine for item in items if item.constraint.endswith(REGISTRY))
    if engines:
        yield f"not checked: support of the target's architecture by {', '.join(engines)} (no model registry known)"


def matrix_lines(cells: Sequence[Cell], *, joined: bool) -> Iterator[str]:
    """Engine by release: the verdict of each. `joined`: every release was judged, so equal neighbours are one line."""
    from specconf.compat.releases import parse_version

    for engine in dict.fromkeys(cell.engine for cell in cells):
        mine = sorted((c for c in cells if c.engine == engine), key=lambda c: parse_version(c.release))
        yield click.style(engine, bold=True)
        for first, last, cell in _runs(mine) if joined else ((c, c, c) for c in mine):
            span = first.release if first is last else f"{first.release} .. {last.release}"
            verdict = click.style(f"{cell.verdict:9}", fg=_VERDICT_COLORS[cell.verdict])
            yield f"  {span:28} {verdict} {_codes(cell)}".rstrip()


def _runs(cells: Sequence[Cell]) -> Iterator[tuple[Cell, Cell, Cell]]:
    start = 0
    for i in range(1, len(cells) + 1):
        if i == len(cells) or _signature(cells[i]) != _signature(cells[start]):
            yield cells[start], cells[i - 1], cells[start]
            start = i


def _signature(cell: Cell) -> tuple[str, str]:
    return cell.verdict, _codes(cell)


def _codes(cell: Cell) -> str:
    shown = dict.fromkeys(f.code for f in cell.findings if f.severity is not Severity.INFO)
    return " ".join(shown)


def summary_line(report: Report) -> str:
    """How much was looked at and what came of it."""
    total = counts(report.findings)
    found = ", ".join(f"{total[s]} {s}{'' if total[s] == 1 or s is Severity.INFO else 's'}" for s in Severity)
    files = f"{len(report.files)} file{'' if len(report.files) == 1 else 's'}"
    launches = f"{len(report.launches)} launch{'' if len(report.launches) == 1 else 'es'}"
    skipped = f", {len(report.skipped)} skipped" if report.skipped else ""
    return f"{files}, {launches} checked{skipped}: {found}"


def render_check(report: Report, *, verbose: bool, quiet: bool, fail_on: Severity = Severity.ERROR) -> str:
    """The text of `check`: the matrix, then per engine and release what is wrong and what would pass."""
    from specconf.report.asked import limit_lines, one_line, tally_line

    lines: list[str] = []
    if len(report.cells) > 1:
        lines += [*matrix_lines(report.cells, joined=report.every_release), ""]
    if len(report.cells) <= 12:
        for cell in report.cells:
            shown = [f for f in cell.findings if not quiet or f.severity.rank <= fail_on.rank]
            lines += _cell_lines(cell, shown, verbose=verbose, quiet=quiet, titled=len(report.cells) > 1)
    else:
        lines += [one_line(side) for side in report.sides if side.answer is not None]
        if not quiet:
            lines.append("Findings of single releases: name them with --release, or use --format json.")
    if not quiet:
        lines += registry_lines(report.not_checked)
        lines += limit_lines(report.limits, verbose=verbose)
    if report.sides:
        lines.append(tally_line(report.sides))
    lines.append(summary_line(report))
    return "\n".join(lines) + "\n"


def _cell_lines(cell: Cell, shown: Sequence[Finding], *, verbose: bool, quiet: bool, titled: bool) -> list[str]:
    lines: list[str] = []
    for finding in shown:
        lines += finding_lines(finding, verbose=verbose)
    lines += [f"would pass: {alternative.text}" for alternative in cell.alternatives]
    if not quiet:
        lines += not_checked_lines(cell.not_checked, verbose=verbose)
    if cell.side is not None and (not quiet or cell.side.agree is False):
        from specconf.report.asked import side_lines

        lines += side_lines(cell.side, verbose=verbose)
    if not lines:
        return []
    head = [click.style(f"== {cell.engine} {cell.release}", bold=True)] if titled else []
    return [*head, *lines, ""]
