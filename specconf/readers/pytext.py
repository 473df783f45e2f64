"""String literals of Python: which character of the source each character of the value is, f-strings part by part."""

from __future__ import annotations

import ast
import re
import unicodedata

from msgspec import Struct

from specconf.patterns import pattern
from specconf.readers.source import Placed, SourceText
from specconf.words import Span

_START = pattern(r"(?P<prefix>[rRbBuUfF]{0,2})(?P<quote>\"\"\"|'''|\"|')")
_ESCAPE = pattern(
    r"\\(?:(\n|\r\n)|([0-7]{1,3})|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|N\{([^}]*)\}|(.))", re.DOTALL
)
_SINGLE = {"\\": "\\", "'": "'", '"': '"', "a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


class Part(Struct, frozen=True):
    """A piece of a literal: text with the index of each character, or (`text` is None) the expression in braces there."""

    text: str | None
    at: tuple[int, ...]


def index_of(source: SourceText, line: int, column: int) -> int:
    """The index of a place as `ast` gives it: lines from 1, columns in bytes."""
    start = source.at(line)
    end = source.text.find("\n", start)
    row = source.text[start : end if end >= 0 else len(source.text)]
    return start + len(row.encode("utf-8", "surrogatepass")[:column].decode("utf-8", "ignore"))


def range_of(source: SourceText, node: ast.expr | ast.stmt | ast.keyword) -> tuple[int, int]:
    """Where a node begins and ends."""
    end_line, end_column = node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
    return index_of(source, node.lineno, node.col_offset), index_of(source, end_line, end_column)


def span_of(source: SourceText, node: ast.expr | ast.stmt | ast.keyword) -> Span:
    """The place of a node."""
    return source.span_of(*range_of(source, node))


def constant(source: SourceText, node: ast.Constant, value: str) -> Placed:
    """A plain string. Where the source cannot be followed, all of it stands where the literal begins."""
    start, end = range_of(source, node)
    parts = _scanned(source.text, start, end)
    if parts is not None and "".join(part.text or "" for part in parts) == value:
        return Placed(value, source, [at for part in parts if part.text is not None for at in part.at])
    return Placed(value, source, [start] * len(value))


def joined_parts(source: SourceText, node: ast.JoinedStr) -> list[Part]:
    """The parts of an f-string, as many without a text as it has expressions."""
    start, end = range_of(source, node)
    parts = _scanned(source.text, start, end)
    count = sum(isinstance(value, ast.FormattedValue) for value in node.values)
    literal = "".join(str(value.value) for value in node.values if isinstance(value, ast.Constant))
    followed = parts is not None and sum(part.text is None for part in parts) == count
    if parts is not None and followed and "".join(part.text or "" for part in parts) == literal:
        return parts
    rough = []
    for value in node.values:
        text = str(value.value) if isinstance(value, ast.Constant) else None
        rough.append(Part(text, (start,) * (len(text) if text is not None else 1)))
    return rough


def _scanned(text: str, at: int, end: int) -> list[Part] | None:
    """The literals between two indices, put together; None where there is something else."""
    parts: list[Part] = []
    while at < end:
        if text[at].isspace() or text[at] in "\\()":
            at += 1
            continue
        if text[at] == "#":
            at = text.find("\n", at)
            at = at if at >= 0 else end
            continue
        match = _START.match(text, at, end)
        if match is None:
            return None
        found = _literal(text, match.end(), end, match["prefix"].lower(), match["quote"])
        if found is None:
            return None
        parts += found[0]
        at = found[1]
    return parts


def _literal(text: str, at: int, end: int, prefix: str, quote: str) -> tuple[list[Part], int] | None:
    parts: list[Part] = []
    raw, formatted = "r" in prefix, "f" in prefix
    while at < end and not text.startswith(quote, at):
        char = text[at]
        if char == "\\" and raw:
            parts.append(Part(text[at : at + 2], (at, at + 1)))
            at += 2
        elif char == "\\":
            match = _ESCAPE.match(text, at)
            if match is None:
                return None
            value = _decoded(match)
            parts.append(Part(value, (at,) * len(value)))
            at = match.end()
        elif formatted and char in "{}" and text[at + 1 : at + 2] == char:
            parts.append(Part(char, (at,)))
            at += 2
        elif formatted and char == "{":
            parts.append(Part(None, (at,)))
            at = _behind_braces(text, at, end)
        elif text.startswith("\r\n", at):
            parts.append(Part("\n", (at,)))
            at += 2
        else:
            parts.append(Part(char, (at,)))
            at += 1
    return (parts, at + len(quote)) if text.startswith(quote, at) else None


def _decoded(match: re.Match[str]) -> str:
    newline, octal, *codes, name, single = match.groups()
    if newline:
        return ""
    number = next((code for code in codes if code), None)
    try:
        if octal or number:
            return chr(int(octal, 8) if octal else int(number or "0", 16))
        if name:
            return unicodedata.lookup(name)
    except (ValueError, OverflowError, KeyError):
        return ""
    return _SINGLE.get(single, match.group()) if single else ""


def _behind_braces(text: str, at: int, end: int) -> int:
    """Behind the braces of an expression; quotes in it may hold braces of their own."""
    depth, quote = 0, ""
    while at < end:
        char = text[at]
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'":
            quote = char
        elif char in "{[(":
            depth += 1
        elif char in "}])":
            depth -= 1
            if not depth:
                return at + 1
        at += 1
    return end
