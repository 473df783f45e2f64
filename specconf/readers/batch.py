"""Windows batch files: their commands as words, with `^` continuation, `set` and `%VAR%`.

A variable that is set in a block, behind `if` or `for`, or by another program is not known.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from specconf.patterns import pattern
from specconf.readers.commandparts import pins_in, windows_program
from specconf.readers.fragments import Document, Fragment
from specconf.readers.source import Placed, SourceText, joined
from specconf.readers.templates import Template
from specconf.words import Word

# `%%` is a sign; `%VAR%`, `%VAR:a=b%`, `%1`, `%~dp0`, `%%i` of a loop and `!VAR!` are filled in.
_VARIABLE = pattern(
    r"%%(?P<loop>[A-Za-z]\b)?|%(?P<name>[A-Za-z_][\w.-]*)(?P<edit>:[^%\n]*)?%|%~?[\w$:~]*\d|%\*|!(?P<late>[A-Za-z_]\w*)!"
)
_SET = pattern(
    r'set\s+(?:(?P<quote>")(?P<quoted>[^"=]+)=(?P<in_quotes>[^\n]*)"\s*|(?P<name>[^"=\s/][^"=]*)=(?P<value>[^\n]*))\Z',
    re.IGNORECASE,
)
_BEFORE = pattern(r"@+|call\s+|start\s+(?:\"[^\"\n]*\"\s+)?(?:/(?:b|min|max|wait|high|low|normal)\s+|/d\s+\S+\s+)*",
                     re.IGNORECASE)  # fmt: skip
_CONDITION = pattern(
    r"(?:if\s+(?:/i\s+)?(?:not\s+)?(?:(?:defined|exist|errorlevel)\s+(?:\"[^\"]*\"|\S+)"
    r"|(?:\"[^\"]*\"|\S+?)\s*(?:==|\s(?:equ|neq|lss|leq|gtr|geq)\s)\s*(?:\"[^\"]*\"|\S+))"
    r"|for\s+.*?\)\s*do|else)\s+",
    re.IGNORECASE,
)
_COMMENT = pattern(r"(?:@?rem(?:\s|\Z)|::)", re.IGNORECASE)
_SLASHES = pattern(r"\\+")
_REDIRECT = pattern(r"\d?[<>]+(?:&\d|\s*(?:\"[^\"]*\"|[^\s\"<>]+)?)|[()&|]")


def fragments(document: Document) -> Iterator[Fragment]:
    """The commands of a batch file."""
    values: dict[str, str | None] = {}
    places: dict[str, Word] = {}
    template = Template(_VARIABLE, lambda match: _value(match, values))
    pins = pins_in(document.source.part(0, len(document.text)))
    depth = 0
    for line in _lines(document.source):
        filled = template.text(line)
        for text, sure in _commands(filled):
            setting = _SET.match(text.text)
            if setting:
                name = (setting["quoted"] or setting["name"]).strip().upper()
                value = setting["in_quotes"] if setting["quote"] else setting["value"]
                unsure = not sure or depth > 0 or any(char in value for char in template.holes)
                values[name] = None if unsure else value
                places[name] = Word(None if unsure else value, text.span, value)
                continue
            words = windows_program(tuple(_words(text)))
            if words:
                yield Fragment(words=words, env=tuple(places.items()), stated=pins, holes=template.holes)
        shown = _without_quotes(line.text)
        depth = max(0, depth + shown.count("(") - shown.count(")"))


def _value(match: re.Match[str], values: dict[str, str | None]) -> str | None:
    if match.group() == "%%":
        return "%"
    name = match["name"]
    return values.get(name.upper()) if name and not match["edit"] else None


def _lines(source: SourceText) -> Iterator[Placed]:
    """The lines that are no comments, continued ones as one."""
    parts: list[Placed] = []
    start = 0
    for written in source.text.split("\n"):
        line = source.part(start, start + len(written.removesuffix("\r")))
        start += len(written) + 1
        if not parts and _COMMENT.match(line.text.lstrip()):
            continue
        if line.text.endswith("^") and not line.text.endswith("^^"):
            parts.append(line.part(0, len(line.text) - 1))
            continue
        yield joined([*parts, line], "")
        parts = []
    if parts:
        yield joined(parts, "")


def _without_quotes(text: str) -> str:
    return re.sub(r'"[^"]*"?', "", text)


def _commands(line: Placed) -> Iterator[tuple[Placed, bool]]:
    """The commands of a line, and whether each runs for sure."""
    text, start, at, quoted, sure = line.text, 0, 0, False, True
    while at <= len(text):
        char = text[at : at + 1]
        if char == '"':
            quoted = not quoted
        elif char == "^" and not quoted:
            at += 1
        elif at == len(text) or (char in "&|()" and not quoted):
            part, conditional = _stripped(line.part(start, at))
            sure = sure and not conditional
            if part.text:
                yield part, sure
            start = at + 1
        at += 1


def _stripped(text: Placed) -> tuple[Placed, bool]:
    """A command without what only starts it, and whether a condition stands before it."""
    conditional = False
    while True:
        blanks = len(text.text) - len(text.text.lstrip())
        text = text.part(blanks, len(text.text))
        condition = _CONDITION.match(text.text)
        found = condition or _BEFORE.match(text.text)
        if not found or not found.end():
            return text, conditional
        conditional = conditional or condition is not None
        text = text.part(found.end(), len(text.text))


def _words(text: Placed) -> Iterator[Word]:
    """The words as a program of Windows splits its command line; what redirects is left out."""
    source, at = text.text, 0
    while at < len(source):
        if source[at] in " \t" or (source[at] == "^" and source[at + 1 : at + 2] in ("", " ", "\t")):
            at += 1
            continue
        redirect = _REDIRECT.match(source, at)
        if redirect:
            at = redirect.end()
            continue
        word, at = _word(text, at)
        yield word


def _word(text: Placed, start: int) -> tuple[Word, int]:
    """The word that begins at a place, and its end."""
    source, at, value, quoted = text.text, start, "", False
    while at < len(source) and (quoted or source[at] not in " \t<>"):
        char = source[at]
        if char == "^" and not quoted and source[at + 1 : at + 2] in ("", " ", "\t"):
            break  # a caret takes no meaning from a blank, which parts words all the same
        run = _SLASHES.match(source, at)
        slashes = len(run.group()) if run else 0
        if slashes and source.startswith('"', at + slashes):
            value += "\\" * (slashes // 2)
            at += slashes
            if slashes % 2:
                value, at = value + '"', at + 1
        elif char == '"':
            doubled = quoted and source.startswith('""', at)
            value += '"' if doubled else ""
            quoted = quoted if doubled else not quoted
            at += 2 if doubled else 1
        elif char == "^" and not quoted and at + 1 < len(source):
            value, at = value + source[at + 1], at + 2
        else:
            value, at = value + char, at + 1
    return Word(None if quoted else value, text.span_of(start, at), source[start:at]), at
