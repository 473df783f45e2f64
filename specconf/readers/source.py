"""A text beside its bytes and its places: from the syntax tree's byte offsets to indices, from those to lines and columns.

A text may be a part of a file (a script in a YAML block, a command in a JSON string): it then knows for each of its
characters where that stands in the file, so that whatever is found in it is told at the outer line.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from specconf.words import Places, Span

if TYPE_CHECKING:
    from tree_sitter import Node


def lines_of(text: str) -> list[str]:
    """The lines of a text. A byte order mark is a blank: what stands behind it keeps its column."""
    return ((" " + text[1:]) if text.startswith("\ufeff") else text).split("\n")


class SourceText:
    """One text. Places are indices into it, in code points; columns count from 1.

    A text that is a part of its file begins at `origin` there, or stands there character by character as `inside` says.
    """

    def __init__(self, text: str, path: str, origin: Span | None = None, inside: Places | None = None) -> None:
        self.origin = origin or Span(path, 1, 1)
        self.path = path
        self.text = text
        self.inside = inside
        self.data = text.encode("utf-8", "surrogatepass")
        self._starts = [0]
        self._byte_starts = [0]
        for line in text.split("\n"):
            self._starts.append(self._starts[-1] + len(line) + 1)
            self._byte_starts.append(self._byte_starts[-1] + len(line.encode("utf-8", "surrogatepass")) + 1)

    def index(self, offset: int) -> int:
        """The index of a byte offset."""
        line = bisect_right(self._byte_starts, offset) - 1
        before = self.data[self._byte_starts[line] : offset]
        return self._starts[line] + len(before.decode("utf-8", "surrogatepass"))

    def range_of(self, node: Node) -> tuple[int, int]:
        """The indices where a syntax node begins and ends."""
        return self.index(node.start_byte), self.index(node.end_byte)

    def text_of(self, node: Node) -> str:
        """The text of a syntax node."""
        return self.data[node.start_byte : node.end_byte].decode("utf-8", "surrogatepass")

    def span(self, node: Node) -> Span:
        """The place of a syntax node."""
        return self.span_of(*self.range_of(node))

    def span_of(self, start: int, end: int) -> Span:
        """The place between two indices, in the file."""
        if self.inside is not None:
            return self.inside.span_of(start, end)
        line, column = self._place(start)
        end_line, end_column = self._place(end)
        return Span(self.path, line, column, end_line, end_column)

    def part(self, start: int, end: int) -> Placed:
        """The text between two indices, which knows where it stands."""
        return Placed(self.text[start:end], self, range(start, end))

    def at(self, line: int, column: int = 1) -> int:
        """The index of a place, both counted from 1; a place beyond the text is its end."""
        return min(self._starts[min(line, len(self._starts)) - 1] + column - 1, len(self.text))

    def _place(self, index: int) -> tuple[int, int]:
        line = bisect_right(self._starts, index)
        column = index - self._starts[line - 1] + 1
        return line + self.origin.line - 1, column + (self.origin.column - 1 if line == 1 else 0)


class Placed:
    """A text that was taken out of another one: `at` holds for each of its characters the index there."""

    def __init__(self, text: str, outer: SourceText, at: Sequence[int]) -> None:
        if len(text) != len(at):
            raise ValueError("every character has a place")
        self.text = text
        self.outer = outer
        self.at = at

    @property
    def path(self) -> str:
        """The file that the text is a part of."""
        return self.outer.path

    @property
    def span(self) -> Span:
        """The place of the whole."""
        return self.span_of(0, len(self.text))

    def span_of(self, start: int, end: int) -> Span:
        """The place in the file of the characters between two indices."""
        if not self.at:
            return self.outer.span_of(0, 0)
        first = self.at[min(start, len(self.at) - 1)] + (1 if start >= len(self.at) else 0)
        last = self.at[min(end, len(self.at)) - 1] + 1 if end > start else first
        return self.outer.span_of(first, max(first, last))

    def part(self, start: int, end: int) -> Placed:
        """A part of it."""
        return Placed(self.text[start:end], self.outer, self.at[start:end])

    def source(self) -> SourceText:
        """The text with its lines, for a reader of it."""
        return SourceText(self.text, self.path, inside=self)


class Partly(Placed):
    """A text of which parts are not known: `holes` holds how each character that stands for one is written."""

    def __init__(self, text: str, outer: SourceText, at: Sequence[int], holes: Mapping[str, str]) -> None:
        super().__init__(text, outer, at)
        self.holes = holes

    def part(self, start: int, end: int) -> Partly:
        """A part of it."""
        return Partly(self.text[start:end], self.outer, self.at[start:end], self.holes)


def holes_of(*texts: Placed | None) -> dict[str, str]:
    """The holes of texts, those that are wholly known have none."""
    return {char: raw for text in texts if isinstance(text, Partly) for char, raw in text.holes.items()}


def joined(parts: Sequence[Placed], between: str = "\n") -> Placed:
    """Several texts of one file as one; what stands between two has the place of the end of the first."""
    text, at = "", list[int]()
    for number, part in enumerate(parts):
        if number:
            text += between
            at += [at[-1] if at else 0] * len(between)
        text += part.text
        at += part.at
    holes = holes_of(*parts)
    return Partly(text, parts[0].outer, at, holes) if holes else Placed(text, parts[0].outer, at)
