"""Texts with parts that another program fills in: `{{ … }}`, `${{ … }}`, `$(VAR)` of make. Known parts are put in.

What is not known becomes a hole: a run of one character that no text uses, of the length of the part. The text keeps its
places and its quoting, whatever reads it next (a shell, a splitter of command lines) sees plain characters, and the words
that hold a hole are then taken for what they are: not known.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TypeAlias

from msgspec import Struct, field
from msgspec.structs import replace

from specconf.readers.source import Placed
from specconf.words import Word

# What a part stands for: its text, or None where it is not known.
ValueOf: TypeAlias = "Callable[[re.Match[str]], str | None]"
_FIRST, _LAST = 0xE000, 0xF8FF  # the private characters of Unicode
OUTER_HOLES = 0xF000  # for the holes of a text in which others are made
_DEEPEST = 8  # values that hold parts themselves
_MOST_PUT_IN = 5_000_000  # characters; values that hold each other several times grow without end


def unknown_part(_: re.Match[str]) -> None:
    """For parts of which none is ever known."""


class Template(Struct):
    """One file's way of writing parts that are filled in. `holes`: the characters of unknown parts, and how each is written.

    `first`: the first of these characters, another one where a text in the file has holes of its own kind.
    """

    pattern: re.Pattern[str]
    value_of: ValueOf = unknown_part
    holes: dict[str, str] = field(default_factory=dict)
    first: int = _FIRST
    _put_in: int = 0

    def text(self, placed: Placed) -> Placed:
        """A text with its known parts put in, each at the place of the part, and holes for the others."""
        if not self.pattern.search(placed.text):
            return placed
        parts: list[str] = []
        places: list[int] = []
        at = 0
        for match in self.pattern.finditer(placed.text):
            start, end = match.span()
            parts.append(placed.text[at:start])
            places += placed.at[at:start]
            value = self._value(match, 0)
            if value is None:
                parts.append(self.hole(match.group()) * (end - start))
                places += placed.at[start:end]
            else:
                parts.append(value)
                places += _spread(placed, start, end, len(value))
            at = end
        parts.append(placed.text[at:])
        places += placed.at[at:]
        return Placed("".join(parts), placed.outer, places)

    def word(self, placed: Placed, raw: str = "") -> Word:
        """A text that is one word as it stands."""
        text = self.text(placed).text
        return Word(None if holes_in(text, self.holes) else text, placed.span, raw or placed.text)

    def _value(self, match: re.Match[str], depth: int) -> str | None:
        value = self.value_of(match)
        self._put_in += len(value or "")
        if value is None or depth > _DEEPEST or self._put_in > _MOST_PUT_IN:
            return None
        if len(value) == 1 and value in match.group():
            return value  # a sign that is written twice to stand for itself

        def inner(nested: re.Match[str]) -> str:
            found = self._value(nested, depth + 1)
            return self.hole(nested.group()) if found is None else found

        return self.pattern.sub(inner, value)

    def hole(self, written: str) -> str:
        """The character that stands for a part that is not known."""
        for char, known in self.holes.items():
            if known == written:
                return char
        number = len(self.holes)
        most = _LAST - self.first if self.first <= _LAST else _LAST - _FIRST
        while number < most and chr(self.first + number) in self.holes:
            number += 1
        char = chr(self.first + min(number, most))
        self.holes[char] = written
        return char


def _spread(placed: Placed, start: int, end: int, length: int) -> list[int]:
    """The places of what is put in for a part: its beginning, and for the last character its end."""
    return [*[placed.at[start]] * (length - 1), placed.at[end - 1] if length > 1 else placed.at[start]][:length]


def holes_in(text: str, holes: Mapping[str, str]) -> bool:
    """Whether a text holds a part that is not known."""
    return any(char in text for char in holes)


def as_written(text: str, holes: Mapping[str, str]) -> str:
    """A text with its holes as they were written."""
    for char, written in holes.items():
        if char in text:
            text = re.sub(f"{char}+", lambda _, written=written: written, text)  # type: ignore[misc]
    return text


def without_holes(word: Word, holes: Mapping[str, str]) -> Word:
    """A word that holds a hole as one that is not known; a hole that is all of it may be several words."""
    if not holes_in(word.text + word.raw, holes):
        return word
    many = word.may_be_many or (word.raw != "" and not word.raw.strip("".join(holes)))
    return replace(word, value=None, raw=as_written(word.raw, holes), may_be_many=many)
