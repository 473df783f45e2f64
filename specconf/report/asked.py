"""What an engine said itself, beside what specconf says, as lines of text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from specconf.engines.options import as_text

if TYPE_CHECKING:
    from specconf.findings import Finding
    from specconf.oracle.sided import Differing, Limits, SideBySide

_RULES_SHOWN = 4
_WARNING_SHOWN = 160


def side_lines(side: SideBySide, *, verbose: bool) -> Iterator[str]:
    """One launch at one release: both verdicts, whether they agree, and what is in force otherwise than we say."""
    head, shown = ("asked", f" itself, {side.shown}") if side.shown else ("not asked", "")
    yield f"{click.style(head, bold=True)} {side.engine} {side.release}{shown}"
    yield f"  specconf  {_ours(side)}"
    yield f"  engine    {_theirs(side)}"
    if side.answer is not None:
        yield f"  agree     {_agreement(side)}"
    if side.compared is not None:
        number = len(side.differing)
        yield f"  values    {side.compared} compared, {number} differ{'s' if number == 1 else ''}"
    for row in side.differing:
        yield f"  differs   {row.option}: the engine has {as_text(row.engine)}, specconf says {_value(row)}"
    if side.filled:
        yield f"  fills in  {', '.join(f'{option}={as_text(value)}' for option, value in side.filled)}"
    yield from (f"  note      {note}" for note in side.notes)
    if side.answer is not None:
        yield from _warnings(side.answer.warnings, verbose=verbose)


def _warnings(warnings: Sequence[str], *, verbose: bool) -> Iterator[str]:
    """What the engine warned of: the first one, and how many more there are."""
    for warning in warnings if verbose else warnings[:1]:
        more = len(warnings) - 1
        rest = f" (and {more} more: --verbose)" if more and not verbose else ""
        yield f"  warned    {_shortened(warning) if not verbose else warning}{rest}"


def _shortened(text: str) -> str:
    return text if len(text) <= _WARNING_SHOWN else f"{text[:_WARNING_SHOWN].rstrip()} …"


def one_line(side: SideBySide) -> str:
    """The same in one line, for a matrix of many releases."""
    agreement = "" if side.answer is None else "; they agree" if side.agree else f"; {_agreement(side)}"
    return f"asked {side.engine} {side.release}: specconf {_ours(side)}; engine {_theirs(side)}{agreement}"


def _ours(side: SideBySide) -> str:
    refusals = (*side.refusals, *side.unwritten)
    said = [_refusing(refusals)] if refusals else [*_passing(side)]
    number = len(side.undecided)
    if number and not refusals:
        said.append(f"{number} rule{'' if number == 1 else 's'} that might refuse could not be decided")
    return "; ".join(said)


def _refusing(refusals: Sequence[Finding]) -> str:
    stage = next((f" at {finding.stage}" for finding in refusals if finding.stage is not None), "")
    return f"refuses{stage}: {_names(refusals)}"


def _passing(side: SideBySide) -> Iterator[str]:
    """That specconf passes the launch up to its config, and what is wrong with it all the same."""
    yield "passes up to config" if side.later or side.elsewhere or side.starting else "passes"
    for stage in dict.fromkeys(finding.stage for finding in side.later):
        yield f"refuses later: {_names([f for f in side.later if f.stage is stage])} at {stage}"
    if side.elsewhere:
        yield f"refuses on the hardware of the spec: {_names(side.elsewhere)}"
    for effect in dict.fromkeys(finding.effect for finding in side.starting):
        yield f"{effect} once it runs: {_names([f for f in side.starting if f.effect is effect])}"


def _names(findings: Sequence[Finding]) -> str:
    names = list(dict.fromkeys(finding.constraint or finding.code for finding in findings))
    return f"{', '.join(names[:_RULES_SHOWN])}{' …' if len(names) > _RULES_SHOWN else ''}"


def _theirs(side: SideBySide) -> str:
    answer = side.answer
    if answer is None:
        said = "no verdict" if side.shown else "not asked"
        return f"{said}: {side.not_asked}{f' ({side.excluded})' if side.excluded else ''}"
    if answer.accepts:
        return f"accepts, up to {answer.stage}"
    said = ": ".join(part for part in (answer.exception, answer.message) if part)
    return f"{answer.verdict} at {answer.stage}: {said}{f' ({answer.where})' if answer.where else ''}"


def _agreement(side: SideBySide) -> str:
    if side.agree:
        return "yes"
    if side.agree is None:
        return f"open: {_open(side)}"
    if side.overruled:
        return click.style("NO: the engine refuses what specconf passes; the engine wins", fg="red", bold=True)
    return click.style("NO: the engine takes what specconf refuses", fg="yellow", bold=True)


def _open(side: SideBySide) -> str:
    """Why an answer settles nothing."""
    if side.unwritten:
        return f"the engine never saw what specconf refuses ({_names(side.unwritten)})"
    return f"{_names(side.refusals)} may come up later than the config, up to which the engine was asked"


def _value(row: Differing) -> str:
    ours = row.ours
    value = as_text(ours["value"]) if "value" in ours else " or ".join(as_text(each) for each in ours["candidates"])
    return f"{value} ({ours['origin']})"


def limit_lines(limits: Sequence[Limits], *, verbose: bool) -> Iterator[str]:
    """What asking could not say, once for each engine."""
    for each in limits:
        yield f"not known from asking: {each.text}"
        names = ", ".join(name for name, _ in each.excluded)
        yield f"  questions it cannot put: {names}{'' if verbose else ' (--verbose says why)'}"
        if verbose:
            yield from (f"    {name}: {why}" for name, why in each.excluded)


def tally_line(sides: Sequence[SideBySide]) -> str:
    """How many releases were asked, and how far they agree."""
    answered = [side for side in sides if side.answer is not None]
    agreed = sum(1 for side in answered if side.agree)
    overruled = sum(1 for side in answered if side.overruled and side.agree is False)
    unsettled = sum(1 for side in answered if side.agree is None)
    wins = f", {overruled} refused by the engine though specconf passes" if overruled else ""
    rest = f", {unsettled} left open" if unsettled else ""
    return f"engines asked: {len(answered)} of {len(sides)} answered, {agreed} agree with specconf{wins}{rest}"


def unasked_line(sides: Sequence[SideBySide]) -> str:
    """Why no engine answered, where all were to be asked and none did, told of the last; empty where one did."""
    if any(side.answer is not None for side in sides):
        return ""
    last = sides[-1]
    which = f" of {len(sides)} launches, {last.engine} {last.release} because" if len(sides) > 1 else ""
    return f"nothing could be asked{which}: {last.not_asked}"


def side_json(side: SideBySide) -> dict[str, Any]:
    """Both verdicts as plain data."""
    answer = side.answer
    return {
        "shown": side.shown,
        "until": "config",
        "specconf": {
            "verdict": "refuses" if side.refusals or side.unwritten else "passes",
            "rules": [_rule_json(finding) for finding in side.refusals],
            "left_out": [_rule_json(finding) for finding in side.unwritten],
            "later": [_rule_json(finding) for finding in side.later],
            "elsewhere": [_rule_json(finding) for finding in side.elsewhere],
            "starting": [_rule_json(finding) for finding in side.starting],
            "undecided": list(side.undecided),
        },
        "engine": None
        if answer is None
        else {
            "verdict": str(answer.verdict),
            "stage": answer.stage,
            "exception": answer.exception,
            "message": answer.message,
            "where": answer.where or None,
            "warnings": list(answer.warnings),
            "seconds": answer.seconds,
        },
        "not_asked": side.not_asked or None,
        "excluded": side.excluded or None,
        "agree": side.agree,
        "compared": side.compared,
        "differing": [
            {"option": row.option, "engine": row.engine, "specconf": dict(row.ours)} for row in side.differing
        ],
        "filled": dict(side.filled),
        "notes": list(side.notes),
    }


def _rule_json(finding: Finding) -> dict[str, Any]:
    return {
        "code": finding.code,
        "constraint": finding.constraint or None,
        "stage": None if finding.stage is None else str(finding.stage),
        "message": finding.message,
    }


def limits_json(limits: Sequence[Limits]) -> list[dict[str, Any]]:
    """What asking could not say, as plain data."""
    return [
        {
            "engine": each.engine,
            "text": each.text,
            "excluded": [{"name": name, "why": why} for name, why in each.excluded],
        }
        for each in limits
    ]
