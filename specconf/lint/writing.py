"""How a word is written at its place in a file, and how another value is written there: by a shell, in a list, in quotes around
a whole script. A style reads what stands there and writes in the same manner; that the result is what was meant is for
whoever reads the file again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from msgspec import Struct

from specconf.patterns import pattern
from specconf.readers.quoting import Literal, word_pieces

_PLAIN = pattern(r"[A-Za-z0-9_@%+=:,./-]+\Z")
_NUMBER = pattern(r"-?\d+(?:\.\d+)?\Z")
_PLAIN_ITEM = pattern(r"[A-Za-z0-9_./-][^\n\r\t\"'`#&*!|>%@\\]*\Z")


class Style(Struct, frozen=True):
    """One manner of writing. `read`: what stands for which value, None where it is not written so; `write`: a value, in the
    manner of what stood there before.
    """

    name: str
    read: Callable[[str], str | None]
    write: Callable[[str, str], str]


def shell_value(text: str) -> str | None:
    """The value of a shell word that holds nothing but its text; None where a variable or command stands in it."""
    pieces = word_pieces(text)
    if not text or any(not isinstance(piece, Literal) for piece in pieces):
        return None
    return "".join(piece.text for piece in pieces if isinstance(piece, Literal))


def in_shell(value: str, before: str = "") -> str:
    """A value as one shell word: plain where it can be, else in single quotes, which leave everything as it is."""
    if _PLAIN.match(value) and not before.startswith(("'", '"')):
        return value
    if (named := _named(value, before)) is not None:
        return named[0] + in_shell(named[1], before[len(named[0]) :])
    if before.startswith('"') and not re.search(r'[$`"\\!]', value):
        return f'"{value}"'
    return "'" + value.replace("'", "'\\''") + "'"


def _named(value: str, before: str) -> tuple[str, str] | None:
    """`--name=` and the value behind it, where what stood there had no quotes before its value."""
    found = re.match(r"--?[A-Za-z][\w.-]*=", value)
    if found is None or not re.match(r"--?[A-Za-z][\w.-]*(?:=|\Z)", before):
        return None
    return found[0], value[found.end() :]


def _in_double(value: str, before: str = "") -> str:
    if _PLAIN.match(value) and not before.startswith(("'", '"')):
        return value
    if (named := _named(value, before)) is not None:
        return named[0] + _in_double(named[1], before[len(named[0]) :])
    return '"' + re.sub(r'([$`"\\])', r"\\\1", value) + '"'


def _unescaped(text: str) -> str | None:
    return re.sub(r'\\(["\\/])', r"\1", text)


def _escaped(text: str) -> str:
    return re.sub(r'(["\\])', r"\\\1", text)


def _within(
    name: str, inner: Callable[[str, str], str], undo: Callable[[str], str | None], do: Callable[[str], str]
) -> Style:
    """A shell word inside of a text that has quotes of its own."""

    def read(text: str) -> str | None:
        bare = undo(text)
        return None if bare is None else shell_value(bare)

    def write(value: str, before: str) -> str:
        return do(inner(value, undo(before) or ""))

    return Style(name, read, write)


def _same(text: str) -> str:
    return text


SHELL = _within("shell", in_shell, _same, _same)
_SHELL_STYLES = (
    SHELL,
    _within("shell in double quotes", in_shell, _unescaped, _escaped),
    _within(
        "shell in single quotes of YAML",
        in_shell,
        lambda text: text.replace("''", "'"),
        lambda text: text.replace("'", "''"),
    ),
    _within("shell, with double quotes", _in_double, _same, _same),
)


def item_value(text: str) -> str | None:
    """The value of an item of a list: plain, or in the quotes of YAML or JSON."""
    if text.startswith('"'):
        try:
            value = json.loads(text)
        except ValueError:
            return None
        return value if isinstance(value, str) else None
    if text.startswith("'"):
        return text[1:-1].replace("''", "'") if len(text) > 1 and text.endswith("'") else None
    return text


def in_item(value: str, before: str = "") -> str:
    """A value as an item of a list, in the quotes that the item had, or in those that it needs."""
    if before.startswith('"'):
        return json.dumps(value, ensure_ascii=False)
    if _NUMBER.match(before) and _NUMBER.match(value):
        return value  # a number stays one: in quotes some languages and formats would take it for a text
    plain = (
        not before.startswith("'")
        and _PLAIN_ITEM.match(value)
        and not re.search(r":(\s|$)|\s\Z|[\[\]{}]", value)
        and not re.match(
            r"(?:-\s|-\Z|---|[-+.]?[0-9.]|(?:true|false|null|yes|no|on|off|y|n|~)\Z)", value, re.IGNORECASE
        )
    )
    return value if plain else "'" + value.replace("'", "''") + "'"


_ITEM = Style("item", item_value, in_item)


def styles(*, in_script: bool) -> tuple[Style, ...]:
    """The manners in which words of a launch may be written, the likeliest first."""
    return _SHELL_STYLES if in_script else (_ITEM, *_SHELL_STYLES)
