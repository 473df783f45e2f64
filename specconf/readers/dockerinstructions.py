"""The instructions of a Dockerfile: continued lines joined, comments in them left out, heredocs beside them.

What an instruction means is for `dockerfile`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from specconf.errors import InputError
from specconf.patterns import pattern
from specconf.readers.source import Placed, SourceText, joined

_ESCAPE_LINE = pattern(r"#\s*escape\s*=\s*([\\`])\s*\Z", re.IGNORECASE)
_DIRECTIVE = pattern(r"#\s*\w+\s*=")
_NAME = pattern(r"\s*([A-Za-z]+)(?:\s+|\Z)")
_HEREDOC = pattern(r"(?<!<)<<(?P<tabs>-?)(?P<quote>['\"]?)(?P<end>[A-Za-z_]\w*)(?P=quote)")
_WITH_HEREDOC = frozenset({"RUN", "COPY", "ADD"})


class Heredoc(Struct, frozen=True):
    """A text that follows an instruction; `literal` where no variable is put into it."""

    body: Placed
    literal: bool


class Instruction(Struct, frozen=True):
    """One instruction: its name in capitals, what stands behind it, and its heredocs."""

    name: str
    body: Placed
    heredocs: tuple[Heredoc, ...] = ()


def instructions(source: SourceText) -> Iterator[Instruction]:
    """The instructions of a Dockerfile in order. InputError where a heredoc does not end."""
    lines = _lines(source)
    escape = _escape_of(lines)
    at = 0
    while at < len(lines):
        if _is_nothing(lines[at].text):
            at += 1
            continue
        whole, at = _continued(lines, at, escape)
        match = _NAME.match(whole.text)
        if match is None:
            continue
        name = match[1].upper()
        heredocs: list[Heredoc] = []
        if name in _WITH_HEREDOC:
            for begin in _HEREDOC.finditer(whole.text):
                heredoc, at = _heredoc(lines, at, begin, whole)
                heredocs.append(heredoc)
        yield Instruction(name, whole.part(match.end(), len(whole.text)), tuple(heredocs))


def _lines(source: SourceText) -> list[Placed]:
    found, start = [], 0
    for line in source.text.split("\n"):
        found.append(source.part(start, start + len(line.removesuffix("\r"))))
        start += len(line) + 1
    return found


def _escape_of(lines: list[Placed]) -> str:
    """The continuation mark, which a first comment may change."""
    for line in lines:
        if found := _ESCAPE_LINE.match(line.text):
            return found[1]
        if not _DIRECTIVE.match(line.text):
            break
    return "\\"


def _is_nothing(line: str) -> bool:
    return not line.strip() or line.lstrip().startswith("#")


def _continued(lines: list[Placed], at: int, escape: str) -> tuple[Placed, int]:
    """An instruction's lines as one, and the number of the line behind it."""
    parts: list[Placed] = []
    while at < len(lines):
        line = lines[at]
        at += 1
        if parts and _is_nothing(line.text):
            continue  # comments and empty lines between continued lines are no end
        shown = line.text.rstrip()
        if not shown.endswith(escape):
            parts.append(line)
            break
        parts.append(line.part(0, len(shown) - 1))
    return joined(parts, ""), at


def _heredoc(lines: list[Placed], at: int, begin: re.Match[str], whole: Placed) -> tuple[Heredoc, int]:
    body: list[Placed] = []
    while at < len(lines):
        line = lines[at]
        at += 1
        if begin["tabs"]:
            line = line.part(len(line.text) - len(line.text.lstrip("\t")), len(line.text))
        if line.text == begin["end"]:
            empty = whole.part(begin.end(), begin.end())
            text = joined([*body, empty]) if body else empty
            return Heredoc(text, bool(begin["quote"])), at
        body.append(line)
    raise InputError(f"this heredoc has no end: no line is {begin['end']}", where=whole.span_of(*begin.span()))
