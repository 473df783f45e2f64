"""Every disagreement between a release and specconf as a line that says who said what."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from specconf.verify.compare import Agreement, Compared, Outcome
from specconf.verify.judging import UNKNOWN


def disagreement_lines(found: Agreement) -> Iterator[str]:
    """Verdicts first, then values in force."""
    for one in found.compared:
        if one.outcome is not Outcome.AGREES:
            yield f"  {one.outcome}: {one.row.origins[0]} [{one.row.launch}]"
            yield f"    engine: {said(one)}"
            yield f"    specconf: {ours(one)}"
            yield f"    {launch_text(one)}"
    for one in found.compared:
        for difference in one.differences:
            value = "not known" if difference.ours is UNKNOWN else repr(difference.ours)
            told = f"engine {difference.theirs!r}, specconf {value}"
            yield f"  {difference.path}: {told}: {one.row.origins[0]} [{one.row.launch}]"


def said(one: Compared) -> str:
    """The engine's words."""
    row = one.row
    detail = f" ({row.exception}: {row.says}; {row.where})" if row.exception else ""
    return f"{row.verdict} at {row.stage}{detail}"


def ours(one: Compared) -> str:
    """Our words: what refuses, else what was not checked."""
    if one.ours.refusals:
        return "refuses: " + ", ".join(f.constraint or f"{f.code} {f.option}" for f in one.ours.refusals)
    doubts = ", ".join(sorted(n.constraint for n in one.ours.doubts))
    return f"passes, not checked: {doubts}" if doubts else "passes"


def launch_text(one: Compared) -> str:
    """The launch as one line, with the architectures of its models."""
    question = one.question
    env = [f"{name}={shlex.quote(value)}" for name, value in question.env.items()]
    models = ", ".join(f"{name}: {(config.get('architectures') or ['?'])}" for name, config in question.models.items())
    files = "".join(f" <<{name}: {text!r}>>" for name, text in question.files.items())
    gpu = f" on {question.gpu}" if question.gpu else ""
    return " ".join([*env, *map(shlex.quote, question.argv)]) + files + f"  {{{models}}}{gpu}"
