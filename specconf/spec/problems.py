"""Problems of a spec file: each with its place and its remedy, reported together as one `SpecError`.

Here only how problems are collected and printed; what is wrong with a file is decided by the reader and the model.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from specconf.errors import InputError
from specconf.words import Span

_SHOWN = 50


class Problem(Struct, frozen=True):
    """One thing wrong with a spec file; `hint` says what to write instead."""

    where: Span
    message: str
    hint: str = ""

    def __str__(self) -> str:
        return f"{self.where}: {self.message}" + (f"; {self.hint}" if self.hint else "")


class SpecError(InputError):
    """A spec file that cannot be used. `problems` holds every problem found, in the order of the file."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(sorted(problems, key=lambda p: (p.where.line, p.where.column, p.message)))
        first = self.problems[0]
        if len(self.problems) == 1:
            super().__init__(first.message, where=first.where, hint=first.hint or None)
            return
        lines = [str(problem) for problem in self.problems[:_SHOWN]]
        if len(self.problems) > _SHOWN:
            lines.append(f"{first.where.path}: and {len(self.problems) - _SHOWN} more")
        super().__init__("\n".join(lines))
