"""What lowering has to know of a release beside its options: the row of the table `eras`, whose `about` tells the columns."""

from __future__ import annotations

from typing import Any

from specconf.compat.view import View
from specconf.kleene import Ternary, ternary_any

UNKNOWN = "unknown"


class Era:
    """The columns in force at one release; a column on which two possible eras disagree is `unknown`."""

    def __init__(self, view: View) -> None:
        self._rows = [row.columns for row, _ in view.table_rows("eras")]

    def __getitem__(self, column: str) -> Any:
        values = [row[column] for row in self._rows]
        return values[0] if values and all(value == values[0] for value in values) else UNKNOWN


def member(view: View, path: str, word: str) -> Ternary:
    """Whether a key of speculative_config exists at this release for a decoding_type."""
    rows = ((option, option.ranges.holds(view.point)) for option in view.by_path.get(path, ()))
    return ternary_any(held for option, held in rows if not option.methods or word in option.methods)
