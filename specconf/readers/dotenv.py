"""`.env` files as Compose reads them: names and values, quotes, comments, `export`, and variables of earlier lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

_LINE = re.compile(
    r"""[ \t]*(?:export[ \t]+)?(?P<name>[A-Za-z_][\w.-]*)[ \t]*(?:=|:(?=[ \t]))[ \t]*
    (?:'(?P<single>[^']*)'|"(?P<double>(?:\\.|[^"\\])*)"|(?P<plain>[^\n]*))""",
    re.VERBOSE | re.DOTALL,
)
_COMMENT = re.compile(r"(?:^|[ \t])#.*")
_VARIABLE = re.compile(
    r"\\(?P<escaped>.)|\$\{(?P<braced>[A-Za-z_]\w*)(?::?-(?P<default>[^}]*))?\}|\$(?P<bare>[A-Za-z_]\w*)", re.DOTALL
)
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "$": "$", '"': '"', "\\": "\\"}


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
    parts, at = [], 0
    for match in _VARIABLE.finditer(text):
        parts.append(text[at : match.start()])
        at = match.end()
        if match["escaped"] is not None:
            parts.append(_ESCAPES.get(match["escaped"], match[0]) if escapes else match[0])
            continue
        value = known.get(match["braced"] or match["bare"], match["default"])
        if value is None:
            return None
        parts.append(value)
    return "".join((*parts, text[at:]))
