"""The pieces of one shell word: literal text, parameters and opaque parts, each with how it was quoted.

This is bash's quoting and nothing else: no variable is looked up and no word is split here (`expansion` does that).
"""

from __future__ import annotations

import re
from typing import TypeAlias

from msgspec import Struct

from specconf.patterns import pattern
from specconf.readers.splitting import backtick_end, closing_position

_NAME = pattern(r"[A-Za-z_][A-Za-z0-9_]*")
_BRACED = pattern(r"(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?:\[(?P<index>[@*])\])?(?::?-(?P<default>.*))?\Z", re.DOTALL)
_POSITIONAL = "@*123456789"  # the arguments of a script or of the function that is called
_BRACED_POSITIONAL = pattern(r"(?P<name>[@*]|[1-9])(?::?-(?P<default>.*))?\Z", re.DOTALL)
_SPECIAL = "@*#?$!-0123456789"
_ANSI = {"a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_ANSI_CODE = pattern(r"x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|([0-7]{1,3})")


class Literal(Struct, frozen=True):
    """Text that stands for itself; an empty quoted literal still makes a word."""

    text: str
    quoted: bool


class Parameter(Struct, frozen=True):
    """`$X`, `${X}`, `${X[@]}` or `${X:-default}`; `index` is `@`, `*` or empty, `default` is as written."""

    name: str
    quoted: bool
    raw: str
    index: str = ""
    default: str | None = None


class Opaque(Struct, frozen=True):
    """A part that only a running shell knows; `many` when it can become no word or several."""

    raw: str
    many: bool


Piece: TypeAlias = "Literal | Parameter | Opaque"


def word_pieces(raw: str) -> list[Piece]:
    """The pieces of a word as written in a command."""
    return _Scanner(joined_lines(raw)).word()


def heredoc_pieces(body: str) -> list[Piece]:
    """The pieces of an unquoted heredoc's body: like double quotes, but a quote is a plain character."""
    return _Scanner(body).quoted(closing="")


# What a continued line can stand in: its backslash counts everywhere but in single quotes.
_JOINED = pattern(
    r"(?P<continued>\\\n) | \\. | \$'(?:\\.|[^'\\])*'? | '[^']*'? | \"(?P<double>(?:\\.|[^\"\\])*)\"?",
    re.DOTALL | re.VERBOSE,
)


def joined_lines(raw: str) -> str:
    """A word without its continued lines, which the shell takes out before it looks at anything else."""

    def kept(match: re.Match[str]) -> str:
        if match["continued"]:
            return ""
        if match["double"] is not None:
            return re.sub(r"\\\n|(\\.)", lambda inner: inner[1] or "", match.group(), flags=re.DOTALL)
        return match.group()

    return _JOINED.sub(kept, raw) if "\\\n" in raw else raw


class _Scanner:
    """One pass over the text of a word."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.pieces: list[Piece] = []

    def word(self) -> list[Piece]:
        while self.at < len(self.text):
            char = self.text[self.at]
            if char == "\\":
                self._backslash()
            elif char == "'":
                self._single()
            elif char == '"':
                self.at += 1
                self.quoted(closing='"')
            elif char == "$":
                self._dollar(quoted=False)
            elif char == "`":
                self._backticks(quoted=False)
            elif char in "<>" and self.text[self.at + 1 : self.at + 2] == "(":
                self._opaque(closing_position(self.text, self.at + 1) + 1, many=False)
            else:
                self._add(char, quoted=False)
                self.at += 1
        return self.pieces

    def quoted(self, closing: str) -> list[Piece]:
        """The inside of double quotes up to `closing`, or a whole heredoc when `closing` is empty."""
        self.pieces.append(Literal("", quoted=True))
        escapable = '$`\\"' if closing else "$`\\"
        while self.at < len(self.text):
            char = self.text[self.at]
            following = self.text[self.at + 1 : self.at + 2]
            if char == closing:
                self.at += 1
                return self.pieces
            if char == "\\" and following == "\n":
                self.at += 2
            elif char == "\\" and following and following in escapable:
                self._add(following, quoted=True)
                self.at += 2
            elif char == "$":
                self._dollar(quoted=True)
            elif char == "`":
                self._backticks(quoted=True)
            else:
                self._add(char, quoted=True)
                self.at += 1
        return self.pieces

    def _add(self, text: str, *, quoted: bool) -> None:
        last = self.pieces[-1] if self.pieces else None
        if isinstance(last, Literal) and last.quoted == quoted:
            self.pieces[-1] = Literal(last.text + text, quoted)
        else:
            self.pieces.append(Literal(text, quoted))

    def _backslash(self) -> None:
        following = self.text[self.at + 1 : self.at + 2]
        if following != "\n":
            self._add(following or "\\", quoted=True)
        self.at += 2

    def _single(self) -> None:
        end = self.text.find("'", self.at + 1)
        end = len(self.text) if end < 0 else end
        self._add(self.text[self.at + 1 : end], quoted=True)
        self.at = end + 1

    def _backticks(self, *, quoted: bool) -> None:
        self._opaque(backtick_end(self.text, self.at + 1), many=not quoted)

    def _opaque(self, end: int, *, many: bool) -> None:
        self.pieces.append(Opaque(self.text[self.at : end], many))
        self.at = end

    def _dollar(self, *, quoted: bool) -> None:
        following = self.text[self.at + 1 : self.at + 2]
        name = _NAME.match(self.text, self.at + 1)
        if following == "'" and not quoted:
            self._ansi()
        elif following == '"' and not quoted:
            self.at += 2
            self.quoted(closing='"')
        elif following in {"(", "["}:
            self._opaque(closing_position(self.text, self.at + 1) + 1, many=not quoted)
        elif following == "{":
            self._braced(quoted=quoted)
        elif name:
            self.pieces.append(Parameter(name.group(), quoted, self.text[self.at : name.end()]))
            self.at = name.end()
        elif following and following in _POSITIONAL:
            index = following if following in "@*" else ""
            self.pieces.append(Parameter(following, quoted, self.text[self.at : self.at + 2], index))
            self.at += 2
        elif following and following in _SPECIAL:
            self._opaque(self.at + 2, many=following == "@" or not quoted)
        else:
            self._add("$", quoted=quoted)
            self.at += 1

    def _braced(self, *, quoted: bool) -> None:
        end = closing_position(self.text, self.at + 1)
        inside = self.text[self.at + 2 : end]
        found = _BRACED.match(inside)
        positional = _BRACED_POSITIONAL.match(inside)
        if positional is not None:
            name, raw = positional["name"], self.text[self.at : end + 1]
            index = name if name in "@*" else ""
            self.pieces.append(Parameter(name, quoted, raw, index, positional["default"]))
            self.at = end + 1
            return
        if found is None:
            many = not quoted or "[@]" in inside or inside.startswith("@")
            self._opaque(end + 1, many=many)
            return
        raw = self.text[self.at : end + 1]
        self.pieces.append(Parameter(found["name"], quoted, raw, found["index"] or "", found["default"]))
        self.at = end + 1

    def _ansi(self) -> None:
        self.at += 2
        text = ""
        while self.at < len(self.text) and self.text[self.at] != "'":
            if self.text[self.at] != "\\":
                text += self.text[self.at]
                self.at += 1
                continue
            decoded, length = ansi_escape(self.text, self.at + 1)
            text += decoded
            self.at += 1 + length
        self.at += 1
        self._add(text, quoted=True)


def ansi_escape(text: str, at: int) -> tuple[str, int]:
    """One escape of `$'…'` after its backslash: what it stands for and how many characters it takes."""
    char = text[at : at + 1]
    if char in _ANSI:
        return _ANSI[char], 1
    code = _ANSI_CODE.match(text, at)
    if code:
        digits = next(group for group in code.groups() if group)
        number = int(digits, 8 if code.group(4) else 16)
        return chr(number) if number <= 0x10FFFF else "\ufffd", len(code.group())
    return (char, 1) if char in "\\'\"?" else ("\\" + char, 1)
