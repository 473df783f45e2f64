"""The numbers that SGLang chooses itself when none is given, by algorithm and target architecture (table `auto_numbers`)."""

from __future__ import annotations

from specconf.compat.view import View
from specconf.words import JsonValue

OTHERS = "*"


def auto_topk(view: View, algorithm: str, architecture: JsonValue) -> int | None:
    """The topk that this release takes by itself, or None where it depends on an architecture that is not known."""
    row = _row(view, algorithm)
    if row is None and architecture is not None:
        row = _row(view, str(architecture)) or _row(view, OTHERS)
    if row is not None:
        return row
    known = {_row(view, str(r.value)) for r, _ in view.table_rows("auto_numbers")}
    return known.pop() if len(known) == 1 else None


def _row(view: View, value: str) -> int | None:
    row, held = view.lookup("auto_numbers", value)
    return int(row.columns["topk"]) if row is not None and held else None
