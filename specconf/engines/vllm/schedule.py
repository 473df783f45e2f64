"""Draft lengths by batch size: the spec's schedule and disable_above as vLLM's inclusive [from, to, K] rows, and back."""

from __future__ import annotations

from specconf.words import JsonValue

Steps = list[JsonValue]


def rows_of(schedule: JsonValue, disable_above: JsonValue, k: JsonValue) -> Steps | None:
    """vLLM's rows, or None where no K is known for the rows of `disable_above` alone.

    vLLM goes on with the last row's K beyond its end, so a last row without K needs to name its first batch size only.
    """
    rows: list[list[int]] = []
    start = 1
    for step in schedule if isinstance(schedule, list) else []:
        assert isinstance(step, dict)
        up_to, length = step.get("up_to"), step["k"]
        assert isinstance(length, int)
        end = up_to if isinstance(up_to, int) else start
        rows.append([start, end, length])
        start = end + 1
    if isinstance(disable_above, int) and not (rows and rows[-1][2] == 0):
        if not rows:
            if not isinstance(k, int):
                return None
            rows.append([1, disable_above, k])
        rows[-1][1] = max(rows[-1][1], disable_above)  # vLLM would go on with the last row's K anyway
        end = rows[-1][1] + 1
        rows.append([end, end, 0])
    return [list(row) for row in rows]


def schedule_of(rows: JsonValue) -> JsonValue:
    """The spec's schedule that says the same as vLLM's rows.

    Raises LookupError for rows that no schedule of the spec lowers to.
    """
    if not isinstance(rows, list) or not rows:
        raise LookupError(rows)
    steps: list[JsonValue] = []
    start = 1
    for index, row in enumerate(rows):
        first, end, length = _three(row)
        open_end = index == len(rows) - 1 and length == 0 and first == end
        if first != start or end < first:
            raise LookupError(rows)
        steps.append({"k": 0} if open_end else {"up_to": end, "k": length})
        start = end + 1
    return steps


def _three(row: JsonValue) -> tuple[int, int, int]:
    if not isinstance(row, list) or len(row) != 3:
        raise LookupError(row)
    first, end, length = row
    numbers = [n for n in (first, end, length) if isinstance(n, int) and not isinstance(n, bool)]
    if len(numbers) != 3:
        raise LookupError(row)
    return numbers[0], numbers[1], numbers[2]
