"""Texts that a script's commands write into files, each character with its place: heredocs, `echo` and `printf`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from specconf.patterns import pattern
from specconf.readers.nested import text_of
from specconf.readers.scope import Scope
from specconf.readers.source import Placed, SourceText, joined
from specconf.readers.wrappers import program_name
from specconf.words import Word

_ESCAPE = pattern(r"\\(?:(?P<letter>[abefnrtv\\])|0(?P<octal>[0-7]{1,3})|x(?P<hex>[0-9A-Fa-f]{1,2}))")
_LETTERS = {"a": "\a", "b": "\b", "e": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "\\": "\\"}


def without_tabs(body: Placed) -> Placed:
    """The body of a `<<-` heredoc, whose lines lose their leading tabs."""
    parts, start = [], 0
    for line in body.text.split("\n"):
        cut = len(line) - len(line.lstrip("\t"))
        parts.append(body.part(start + cut, start + len(line) + 1))
        start += len(line) + 1
    return joined(parts, "") if body.text else body


def filled_heredoc(body: Placed, scope: Scope) -> Placed:
    """The body of a heredoc with the shell's variables put in, each at the place where it stands, and holes for the others."""
    return text_of(body, scope, quoted=True)


def followed(written: Placed, value: str) -> Placed:
    """A value beside the words it was made from: what is written alike has its place, all else that of what is near."""
    at, raw, places = 0, written.text, list[int]()
    for char in value:
        escape = _ESCAPE.match(raw, at)
        if escape is None or raw[at] == char or _decoded(escape) != char:
            near = raw.find(char, at, at + 60)
            at = near if near >= 0 else at
            escape = None
        places.append(written.at[min(at, len(raw) - 1)])
        at += len(escape.group()) if escape is not None else int(raw.startswith(char, at))
    return Placed(value, written.outer, places)


def _decoded(match: re.Match[str]) -> str:
    if match["letter"]:
        return _LETTERS[match["letter"]]
    return chr(int(match["octal"], 8) if match["octal"] else int(match["hex"], 16))


def printed(words: Sequence[Word], source: SourceText, start: int, end: int) -> tuple[bool, Placed | None]:
    """Whether a command only prints a text, and the text where it is known, with its places.

    `start` and `end` are where the command's words stand in the script.
    """
    program, arguments = program_name(words[0]) if words else "", list(words[1:])
    if program not in {"echo", "printf"}:
        return False, None
    escapes, newline = program == "printf", program == "echo"
    while program == "echo" and arguments and re.fullmatch(r"-[neE]+", arguments[0].value or ""):
        option = arguments.pop(0).text
        escapes, newline = escapes or "e" in option, newline and "n" not in option
    values = [word.value for word in arguments]
    if not values or None in values:
        return True, None
    text = " ".join(value for value in values if value is not None)
    if program == "printf":
        if values[0] in {"%s\\n", "%s"} and len(values) == 2:
            text, escapes, newline = str(values[1]), False, values[0] == "%s\\n"
        elif len(values) > 1 or "%" in text:
            return True, None
    if escapes:
        text = _ESCAPE.sub(_decoded, text)
    text += "\n" if newline else ""
    behind = source.text.find(arguments[0].raw, start, end) if arguments[0].raw else start
    return True, followed(source.part(max(behind, start), end), text)
