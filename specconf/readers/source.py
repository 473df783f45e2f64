"""A file's text beside its bytes: from the syntax tree's byte offsets to indices, from those to lines and columns."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

from specconf.words import Span

if TYPE_CHECKING:
    from tree_sitter import Node


class SourceText:
    """One file's text. Places are indices into it, in code points; columns count from 1.

    A text that is a part of its file begins at `origin` there.
    """

    def __init__(self, text: str, path: str, origin: Span | None = None) -> None:
        self.origin = origin or Span(path, 1, 1)
        self.path = path
        self.text = text
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
        """The place between two indices."""
        line, column = self._place(start)
        end_line, end_column = self._place(end)
        return Span(self.path, line, column, end_line, end_column)

    def _place(self, index: int) -> tuple[int, int]:
        line = bisect_right(self._starts, index)
        column = index - self._starts[line - 1] + 1
        return line + self.origin.line - 1, column + (self.origin.column - 1 if line == 1 else 0)
