"""PowerShell scripts: their commands as words, with backtick continuation, `$env:X`, simple variables, arrays and splats.

What a variable holds is followed where it is written once and plainly; all else is not known.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec.structs import replace

from specconf.errors import InputError
from specconf.patterns import pattern
from specconf.readers.commandparts import pins_in, windows_program
from specconf.readers.fragments import Document, Fragment
from specconf.readers.source import Placed
from specconf.words import Span, Word

_ASSIGNMENT = pattern(
    r"\s*(?:\[[\w\[\]]+\]\s*)?\$(?P<scope>env:|script:|global:)?(?P<name>\w+)\s*(?P<sign>\+?=)\s*", re.I
)
_VARIABLE = pattern(r"\$(?:(?P<env>env):)?(?P<name>\w+)|\$\{(?:(?P<env2>env):)?(?P<name2>\w+)\}", re.I)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "a": "\a", "b": "\b"}
_ENDS = "|;&><"
DEEPEST_NESTING = 50


def fragments(document: Document) -> Iterator[Fragment]:
    """The commands of a PowerShell script."""
    text = document.source.part(0, len(document.text))
    reader = _Reader(text)
    pins = pins_in(text)
    for words in reader.commands():
        yield Fragment(words=words, env=tuple(reader.env.items()), stated=pins)


def script_words(text: Placed) -> Iterator[tuple[Word, ...]]:
    """The commands of a script that is a part of a file."""
    yield from _Reader(text).commands()


class _Reader:
    """One pass over a script. `values`: variables that are known, as the words they hold."""

    def __init__(self, text: Placed) -> None:
        self.text = text
        self.values: dict[str, tuple[Word, ...]] = {}
        self.arrays: set[str] = set()
        self.env: dict[str, Word] = {}
        self.lists = 0  # lists that are open
        self.depth = 0  # what is assigned in a block may not have happened

    def commands(self) -> Iterator[tuple[Word, ...]]:
        """Each command's words, in order."""
        at, source = 0, self.text.text
        while at < len(source):
            at = self._behind_blanks(at, lines=True)
            if at >= len(source):
                return
            if source[at] in "{}()" + _ENDS:
                self.depth += {"{": 1, "}": -1}.get(source[at], 0)
                at += 1
                continue
            found = _ASSIGNMENT.match(source, at)
            words, end = self._words(found.end() if found else at)
            if found:
                self._assign(found, words)
            elif words:
                yield windows_program(words)
            at = max(end, at + 1)

    def _behind_blanks(self, at: int, *, lines: bool) -> int:
        source = self.text.text
        while at < len(source):
            if source.startswith("<#", at):
                end = source.find("#>", at)
                at = len(source) if end < 0 else end + 2
            elif source[at] == "#":
                end = source.find("\n", at)
                at = len(source) if end < 0 else end
            elif source[at] == "`" and source[at + 1 : at + 3].lstrip("\r").startswith("\n"):
                at = source.index("\n", at) + 1
            elif source[at] in " \t\r" or (lines and source[at] == "\n"):
                at += 1
            else:
                break
        return at

    def _words(self, at: int, closing: str = "") -> tuple[tuple[Word, ...], int]:
        """The words up to the end of a command, or to the bracket that closes a list."""
        source = self.text.text
        words: list[Word] = []
        while True:
            at = self._behind_blanks(at, lines=bool(closing))
            if at >= len(source) or source[at] == "\n":
                return tuple(words), at
            if closing and source[at] == closing:
                return tuple(words), at + 1
            if closing and source[at] == ",":
                at += 1
            elif source.startswith("@(", at):
                if self.lists > DEEPEST_NESTING:
                    raise InputError("nested too deeply", where=self.text.span_of(at, at + 2))
                self.lists += 1
                inner, at = self._words(at + 2, ")")
                self.lists -= 1
                words += inner
            elif source[at] == "," or (source[at] in ";|&" and words):
                if source[at] != ",":
                    return tuple(words), at + 1
                at += 1
            elif source[at] in "{}":
                return tuple(words), at
            elif source[at] in _ENDS + "()":
                at += 1
            else:
                found, end = self._word(at, closing)
                words += found if end > at else []
                at = max(end, at + 1)  # a blank of another kind is no word

    def _word(self, start: int, closing: str) -> tuple[list[Word], int]:
        source, at = self.text.text, start
        value, known, quoted = "", True, False
        while at < len(source) and not source[at].isspace():
            char = source[at]
            if char in ";|{}" or (closing and char in "," + closing):
                break
            if char == "'":
                text, at = _single(source, at + 1)
                value, quoted = value + text, True
            elif char == '"':
                end = _double_end(source, at + 1)
                text, complete = self._filled(source[at + 1 : end], in_quotes=True)
                value, known, quoted, at = value + text, known and complete, True, end + 1
            elif char == "`" and at + 1 < len(source):
                if source[at + 1 : at + 3].lstrip("\r").startswith("\n"):
                    break
                value, at = value + source[at + 1], at + 2
            elif source.startswith("$(", at):
                end = source.find(")", at)
                at, known = (len(source) if end < 0 else end + 1), False
            else:
                value, at = value + char, at + 1
        raw = source[start:at]
        span = self.text.span_of(start, at)
        if quoted or not raw.startswith(("$", "@")):
            if not quoted:
                value, complete = self._filled(value, in_quotes=False)
                known = known and complete
            return [Word(value if known else None, span, raw)], at
        return self._held(raw, span), at

    def _held(self, raw: str, span: Span) -> list[Word]:
        """`$name` or `@name` as a word of its own: an array is several words, each at its own place."""
        if raw.lower() in {"$true", "$false", "$null"}:
            return [Word(raw, span, raw)]
        found = _VARIABLE.fullmatch(raw.replace("@", "$", 1))
        held = self._value(found) if found else None
        if held is None:
            return [Word(None, span, raw, may_be_many=True)]
        name = (found["name"] or found["name2"] or "").lower() if found else ""
        if name in self.arrays:
            return list(held)
        return [replace(word, span=span, raw=raw) for word in held]

    def _value(self, match: re.Match[str]) -> tuple[Word, ...] | None:
        name = match["name"] or match["name2"]
        if match["env"] or match["env2"]:
            word = self.env.get(name)
            return (word,) if word is not None and word.value is not None else None
        return self.values.get(name.lower())

    def _filled(self, text: str, *, in_quotes: bool) -> tuple[str, bool]:
        """A text with its variables put in, and whether all of them are known."""
        parts, at, complete = "", 0, True
        while at < len(text):
            found = _VARIABLE.match(text, at)
            if in_quotes and text[at] == "`" and at + 1 < len(text):
                parts += _ESCAPES.get(text[at + 1], text[at + 1])
                at += 2
            elif in_quotes and text.startswith('""', at):
                parts, at = parts + '"', at + 2
            elif found:
                held = self._value(found)
                if held is None or any(word.value is None for word in held):
                    complete = False
                else:
                    parts += " ".join(word.value or "" for word in held)
                at = found.end()
            elif text.startswith("$(", at):
                complete, at = False, at + 2
            else:
                parts, at = parts + text[at], at + 1
        return parts, complete

    def _assign(self, match: re.Match[str], words: tuple[Word, ...]) -> None:
        name = match["name"]
        if (match["scope"] or "").lower() == "env:":
            plain = len(words) == 1 and self.depth <= 0
            self.env[name] = words[0] if plain else Word(None, None, f"$env:{name}")
            return
        name = name.lower()
        source = self.text.text
        is_array = source.startswith("@(", match.end()) or len(words) > 1
        if self.depth > 0:
            if is_array or match["sign"] == "+=":
                self.values[name] = (*self.values.get(name, ()), Word(None, None, f"${name}", may_be_many=True))
                self.arrays.add(name)
            else:
                self.values.pop(name, None)
            return
        before = self.values.get(name, ()) if match["sign"] == "+=" else ()
        if is_array or (before and name in self.arrays):
            self.arrays.add(name)
        elif match["sign"] == "+=" or len(words) != 1 or words[0].value is None:
            self.values.pop(name, None)
            return
        else:
            self.arrays.discard(name)
        self.values[name] = (*before, *words)


def _single(text: str, at: int) -> tuple[str, int]:
    """The inside of single quotes, two of which are one, and the place behind them."""
    value = ""
    while at < len(text):
        if text[at] == "'":
            if not text.startswith("''", at):
                return value, at + 1
            at += 1
        value += text[at]
        at += 1
    return value, at


def _double_end(text: str, at: int) -> int:
    while at < len(text):
        if text[at] == "`" or text.startswith('""', at):
            at += 2
        elif text[at] == '"':
            return at
        else:
            at += 1
    return at
