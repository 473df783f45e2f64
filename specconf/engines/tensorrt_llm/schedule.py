"""Draft length by load: the spec's schedule and disable_above as `draft_len_schedule` and `max_concurrency`, and back.

The keys of `draft_len_schedule` are upper bounds of the batch in newer releases, above the last of which nothing is drafted;
in 1.2 they are lower bounds, the first of them 1. Settings hold them as text, as JSON would.
"""

from __future__ import annotations

from specconf.engines.base import LowerContext
from specconf.engines.tensorrt_llm.eras import UNKNOWN, Era, member
from specconf.findings import Severity
from specconf.words import JsonValue, Value

SCHEDULE = "speculation.schedule"
DISABLE = "speculation.disable_above"
_K = "speculation.num_draft_tokens"
PATHS = {kind: f"speculative_config.draft_len_schedule@{kind}" for kind in ("lower", "upper")}
CONCURRENCY = "speculative_config.max_concurrency"
Rows = list[tuple[int, int]]


def lower_load(context: LowerContext, word: str, era: Era) -> None:
    """Write schedule and disable_above, in one key where both are set."""
    said = _lower_schedule(context, era) if context.get(SCHEDULE) is not None else False
    if context.get(DISABLE) is None:
        return
    if said:
        context.covered(DISABLE)
        return
    held = member(context.view, CONCURRENCY, word)
    if held:
        context.write(CONCURRENCY, context.get(DISABLE), DISABLE)
    else:
        because = "does not stop speculating above a number of requests"
        if held is None:
            because = "was not read for whether it stops speculating above a number of requests"
        context.refuse(DISABLE, "k", because)


def _lower_schedule(context: LowerContext, era: Era) -> bool:
    kind = era["schedule"]
    if kind not in PATHS:
        because = "has no draft length that depends on the batch"
        if kind == UNKNOWN:
            because = "was not read for whether the keys of draft_len_schedule are lower or upper bounds"
        context.refuse(SCHEDULE, "k", because)
        return False
    rows, open_end = _rows(context.get(SCHEDULE), context.get(DISABLE))
    k = context.get(_K) or context.restated.get(_K)
    if k is not None and rows[0][1] != k:
        context.refuse(
            SCHEDULE,
            "k",
            f"needs the full {k} draft tokens in the first row",
            fix=f"Give the first row k: {k}, or set {_K} to {rows[0][1]}.",
        )
        return False
    context.write(PATHS[kind], _KEYED[kind](rows), SCHEDULE)
    canonical = _steps(rows)
    if canonical != context.get(SCHEDULE):
        context.restated[SCHEDULE] = canonical
    if not open_end and context.get(DISABLE) is None:
        _tell_end(context, rows[-1][0])
    return True


def _tell_end(context: LowerContext, end: int) -> None:
    context.problem(
        "SC202",
        SCHEDULE,
        f"The schedule ends at {end} requests, above which {context.title} {context.view.release} drafts nothing.",
        fix="End the schedule with {k: 0} to say so, or with a row for the highest load.",
        severity=Severity.INFO,
    )


def _rows(schedule: JsonValue, disable_above: JsonValue) -> tuple[Rows, bool]:
    """The rows up to the last one that drafts, as (up to, K), and whether a last row without an end follows.

    The last row goes on up to disable_above.
    """
    rows: Rows = []
    steps = schedule if isinstance(schedule, list) else []
    for step in steps:
        assert isinstance(step, dict)
        up_to, k = step.get("up_to"), step["k"]
        if isinstance(up_to, int) and isinstance(k, int):
            rows.append((up_to, k))
    open_end = len(rows) < len(steps)
    if isinstance(disable_above, int) and not open_end and rows[-1][0] < disable_above:
        rows[-1] = (disable_above, rows[-1][1])
    return rows, open_end


def _steps(rows: Rows) -> JsonValue:
    steps: list[JsonValue] = [{"up_to": up_to, "k": k} for up_to, k in rows]
    return [*steps, {"k": 0}]


def _upper(rows: Rows) -> JsonValue:
    return {str(up_to): k for up_to, k in rows}


def _lower(rows: Rows) -> JsonValue:
    starts = [1, *(up_to + 1 for up_to, _ in rows)]
    lengths = [*(k for _, k in rows), 0]
    return {str(start): k for start, k in zip(starts, lengths, strict=True)}


_KEYED = {"upper": _upper, "lower": _lower}


def lift_schedule(value: Value, kind: str) -> JsonValue:
    """The spec's schedule of a `draft_len_schedule`; LookupError for one that no schedule of the spec lowers to."""
    if not isinstance(value, dict) or not value:
        raise LookupError(value)
    pairs = sorted((_number(key), _number(k)) for key, k in value.items())
    if kind == "upper":
        return _steps(pairs)
    starts = [start for start, _ in pairs]
    if starts[0] != 1 or pairs[-1][1] != 0 or len(pairs) < 2:
        raise LookupError(value)
    return _steps([(following - 1, k) for following, (_, k) in zip(starts[1:], pairs, strict=False)])


def _number(text: JsonValue) -> int:
    if isinstance(text, str) and text.isdecimal() and str(int(text)) == text:
        return int(text)
    if isinstance(text, int) and not isinstance(text, bool):
        return text
    raise LookupError(text)
