"""A JSON list of strings inside another text, such as Docker's exec form, as words with their places."""

from __future__ import annotations

import re
from json.decoder import scanstring  # type: ignore[attr-defined]

from specconf.patterns import pattern
from specconf.readers.commandparts import Item
from specconf.readers.source import Placed
from specconf.words import Word

_BLANKS = pattern(r"[ \t\r\n]*")
_ESCAPE = pattern(r"\\(?:u[0-9A-Fa-f]{4}|.)", re.DOTALL)


def json_items(text: Placed) -> list[Item] | None:
    """The strings of a list; None where the text is no such list."""
    source = text.text
    at = _behind(source, 0)
    if not source.startswith("[", at):
        return None
    found: list[Item] = []
    at = _behind(source, at + 1)
    while not source.startswith("]", at):
        if not source.startswith('"', at):
            return None
        try:
            value, end = scanstring(source, at + 1, False)
        except ValueError:
            return None
        word = Word(value, text.span_of(at, end), source[at:end])
        found.append((word, _unescaped(text.part(at + 1, end - 1), value)))
        at = _behind(source, end)
        if source.startswith(",", at):
            at = _behind(source, at + 1)
        elif not source.startswith("]", at):
            return None
    return found if _behind(source, at + 1) == len(source) else None


def _behind(text: str, at: int) -> int:
    found = _BLANKS.match(text, at)
    return found.end() if found else at


def _unescaped(inside: Placed, value: str) -> Placed:
    """A string's value with the place of each character."""
    places: list[int] = []
    at = 0
    while at < len(inside.text):
        places.append(inside.at[at])
        escape = _ESCAPE.match(inside.text, at)
        at = escape.end() if escape else at + 1
    # Two escapes can make one character; then all of them are told at the string's beginning.
    if len(places) != len(value):
        places = [inside.at[0]] * len(value) if len(inside.at) else []
    return Placed(value, inside.outer, places)
