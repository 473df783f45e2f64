"""An edit of a deploy file: the characters it replaces, as an index range and as a place, and what stands there afterwards."""

from __future__ import annotations

from msgspec import Struct

from specconf.words import Span


class Edit(Struct, frozen=True, order=True):
    """One replacement in one file. `start` and `end` count code points of the file's text; `end` is exclusive.

    `span` is the same range as lines and columns. Nothing outside of it changes.
    """

    path: str
    start: int
    end: int
    span: Span
    text: str

    def __post_init__(self) -> None:
        if not 0 <= self.start <= self.end:
            raise ValueError("an edit replaces a range of its file")
