"""The text of a file beside its bytes: from byte offsets to text and to 1-based lines and columns in code points."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

from specconf.words import Span

if TYPE_CHECKING:
    from tree_sitter import Node


class SourceText:
    """One file's text. Offsets are those of its UTF-8 bytes."""

    def __init__(self, text: str, path: str) -> None:
        self.path = path
        self.data = text.encode("utf-8", "surrogatepass")
        self._starts = [0]
        at = self.data.find(b"\n")
        while at >= 0:
            self._starts.append(at + 1)
            at = self.data.find(b"\n", at + 1)

    def slice(self, start: int, end: int) -> str:
        """The text between two byte offsets."""
        return self.data[start:end].decode("utf-8", "surrogatepass")

    def text_of(self, node: Node) -> str:
        """The text of a syntax node."""
        return self.slice(node.start_byte, node.end_byte)

    def span(self, node: Node) -> Span:
        """The place of a syntax node."""
        return self.span_of(node.start_byte, node.end_byte)

    def span_of(self, start: int, end: int) -> Span:
        """The place between two byte offsets."""
        line, column = self._place(start)
        end_line, end_column = self._place(end)
        return Span(self.path, line, column, end_line, end_column)

    def _place(self, offset: int) -> tuple[int, int]:
        line = bisect_right(self._starts, offset)
        return line, len(self.slice(self._starts[line - 1], offset)) + 1
