"""Compose's variables in a text: `$NAME`, `${NAME}`, defaults that may hold braces and variables, `$$` for a dollar."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from specconf.patterns import pattern
from specconf.readers.filling import Put

Lookup = Callable[[str], str | None]
_BRACES = pattern(r"[{}]")
_BARE = pattern(r"[A-Za-z_]\w*")
_BRACED = pattern(r"(?P<name>[A-Za-z_]\w*)(?:(?P<sign>:?[-?+])(?P<word>.*))?\Z", re.DOTALL)
DEEPEST = 10  # defaults in defaults


def variables(text: str, lookup: Lookup, depth: int = 0) -> Iterator[Put]:
    """The variables in a text. `lookup` gives the values that the project sets; what is set outside is not known."""
    closings = _closings(text)
    at = text.find("$")
    while 0 <= at < len(text) - 1:
        end, value = _variable(text, at, closings, lookup, depth)
        if end > at:
            yield Put(at, end, value)
        at = text.find("$", max(end, at + 1))


def _variable(text: str, at: int, closings: Mapping[int, int], lookup: Lookup, depth: int) -> tuple[int, str | None]:
    """The end and the value of the variable at a dollar; its own place as end where there is none."""
    if text[at + 1] == "$":
        return at + 2, "$"
    if text[at + 1] != "{":
        name = _BARE.match(text, at + 1)
        return (name.end(), lookup(name[0])) if name else (at, None)
    close = closings.get(at + 1)
    match = _BRACED.match(text[at + 2 : close]) if close is not None else None
    return (close + 1, _braced(match, lookup, depth)) if match and close is not None else (at, None)


def _closings(text: str) -> dict[int, int]:
    """Where each brace is closed, in one pass."""
    found: dict[int, int] = {}
    opened: list[int] = []
    for match in _BRACES.finditer(text):
        if match[0] == "{":
            opened.append(match.start())
        elif opened:
            found[opened.pop()] = match.start()
    return found


def _braced(match: re.Match[str], lookup: Lookup, depth: int) -> str | None:
    value, sign = lookup(match["name"]), match["sign"] or ""
    if sign.endswith("-") and (value is None or (sign == ":-" and not value)):
        return _default(match["word"], lookup, depth)
    if sign.endswith("+"):
        # Whether it is set is not known where the project does not set it.
        return _default(match["word"], lookup, depth) if value else None
    return value


def _default(word: str, lookup: Lookup, depth: int) -> str | None:
    if depth > DEEPEST:
        return None
    parts, at = "", 0
    for put in variables(word, lookup, depth + 1):
        if put.value is None:
            return None
        parts += word[at : put.start] + put.value
        at = put.end
    return parts + word[at:]
