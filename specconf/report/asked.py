"""What an engine said itself, beside what specconf says, as lines of text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from specconf.engines.options import as_text

if TYPE_CHECKING:
    from specconf.oracle.sided import Differing, Limits, SideBySide

_RULES_SHOWN = 4


def side_lines(side: SideBySide, *, verbose: bool) -> Iterator[str]:
    """One launch at one release: both verdicts, whether they agree, and what is in force otherwise than we say."""
    yield f"{click.style('asked', bold=True)} {side.engine} {side.release} itself{', ' + side.shown if side.shown else ''}"
    yield f"  specconf  {_ours(side)}"
    yield f"  engine    {_theirs(side)}"
    if side.agree is not None:
        yield f"  agree     {_agreement(side)}"
    for row in side.differing:
        yield f"  differs   {row.option}: the engine has {as_text(row.engine)}, specconf says {_value(row)}"
    if side.filled:
        yield f"  fills in  {', '.join(f'{option}={as_text(value)}' for option, value in side.filled)}"
    yield from (f"  note      {note}" for note in side.notes)
    if verbose and side.answer is not None:
        yield from (f"  warned    {warning}" for warning in side.answer.warnings)


def one_line(side: SideBySide) -> str:
    """The same in one line, for a matrix of many releases."""
    agreement = "" if side.agree is None else "; they agree" if side.agree else f"; {_agreement(side)}"
    return f"asked {side.engine} {side.release}: specconf {_ours(side)}; engine {_theirs(side)}{agreement}"


def _ours(side: SideBySide) -> str:
    rules = list(dict.fromkeys(finding.constraint or finding.code for finding in side.refusals))
    if rules:
        stage = next(str(finding.stage) for finding in side.refusals)
        return f"refuses at {stage}: {', '.join(rules[:_RULES_SHOWN])}{' …' if len(rules) > _RULES_SHOWN else ''}"
    if not side.undecided:
        return "passes"
    number = len(side.undecided)
    return f"passes; {number} rule{'' if number == 1 else 's'} that might refuse could not be decided"


def _theirs(side: SideBySide) -> str:
    answer = side.answer
    if answer is None:
        return f"not asked: {side.not_asked}{f' ({side.excluded})' if side.excluded else ''}"
    if answer.accepts:
        return f"accepts, up to {answer.stage}"
    said = ": ".join(part for part in (answer.exception, answer.message) if part)
    return f"{answer.verdict} at {answer.stage}: {said}{f' ({answer.where})' if answer.where else ''}"


def _agreement(side: SideBySide) -> str:
    if side.agree:
        return "yes"
    if side.overruled:
        return click.style("NO: the engine refuses what specconf passes; the engine wins", fg="red", bold=True)
    return click.style("NO: the engine takes what specconf refuses", fg="yellow", bold=True)


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
    overruled = sum(1 for side in answered if side.overruled)
    wins = f", {overruled} refused by the engine though specconf passes" if overruled else ""
    return f"engines asked: {len(answered)} of {len(sides)} answered, {agreed} agree with specconf{wins}"


def side_json(side: SideBySide) -> dict[str, Any]:
    """Both verdicts as plain data."""
    answer = side.answer
    return {
        "shown": side.shown,
        "until": "config",
        "specconf": {
            "verdict": "refuses" if side.refusals else "passes",
            "rules": [
                {"code": f.code, "constraint": f.constraint or None, "stage": str(f.stage), "message": f.message}
                for f in side.refusals
            ],
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
        "differing": [
            {"option": row.option, "engine": row.engine, "specconf": dict(row.ours)} for row in side.differing
        ],
        "filled": dict(side.filled),
        "notes": list(side.notes),
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
