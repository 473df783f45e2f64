"""`.env` files as Compose reads them: names and values, quotes, comments, `export`, and variables of earlier lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from specconf.patterns import pattern
from specconf.readers import interpolation

_LINE = pattern(
    r"""[ \t]*(?:export[ \t]+)?(?P<name>[A-Za-z_][\w.-]*)[ \t]*(?:=|:(?=[ \t]))[ \t]*
    (?:'(?P<single>[^']*)'|"(?P<double>(?:\\.|[^"\\])*)"|(?P<plain>[^\n]*))""",
    re.VERBOSE | re.DOTALL,
)
_COMMENT = pattern(r"(?:^|[ \t])#.*")
_ESCAPED = pattern(r"\\(.)", re.DOTALL)
_DOLLAR = "\ue000"  # stands for an escaped one while variables are put in
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\"}


def variables(text: str) -> dict[str, str]:
    """The variables of a `.env` file whose values are known; a line that is none is passed over."""
    found: dict[str, str] = {}
    for name, value in _assignments(text, found):
        if value is None:
            found.pop(name, None)
        else:
            found[name] = value
    return found


def _assignments(text: str, known: Mapping[str, str]) -> Iterator[tuple[str, str | None]]:
    at = 0
    while at < len(text):
        match = _LINE.match(text, at)
        if match:
            yield match["name"], _value(match, known)
            at = match.end()
        end = text.find("\n", at)
        at = len(text) if end < 0 else end + 1


def _value(match: re.Match[str], known: Mapping[str, str]) -> str | None:
    if match["single"] is not None:
        return match["single"]
    if match["double"] is not None:
        return _filled(match["double"], known, escapes=True)
    return _filled(_COMMENT.sub("", match["plain"]).strip(), known, escapes=False)


def _filled(text: str, known: Mapping[str, str], *, escapes: bool) -> str | None:
    """A value with the variables of earlier lines; None where one is set elsewhere."""
    text = text.replace("\\$", _DOLLAR)
    parts, at = list[str](), 0
    for put in interpolation.variables(text, known.get):
        if put.value is None:
            return None
        parts += [_unescaped(text[at : put.start], escapes=escapes), put.value]
        at = put.end
    return "".join((*parts, _unescaped(text[at:], escapes=escapes))).replace(_DOLLAR, "$")


def _unescaped(text: str, *, escapes: bool) -> str:
    return _ESCAPED.sub(lambda match: _ESCAPES.get(match[1], match[0]), text) if escapes else text
