"""Texts that are known in part, such as the script of `bash -c "… $HEAD …"`: what is known in its place, holes for the rest.

A text may be put together of several: the words that `eval` or `ssh` join to one script.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from msgspec import Struct, field

from specconf.patterns import pattern
from specconf.readers.quoting import ansi_escape
from specconf.readers.scope import Scope
from specconf.readers.source import Partly, Placed, SourceText
from specconf.readers.splitting import backtick_end, closing_position
from specconf.readers.templates import Template
from specconf.words import Places, Span, Word

_NAME = pattern(r"\$(?:(?P<name>[A-Za-z_]\w*)|(?P<sign>[@*#?$!\d-]))")
_BRACED_NAME = pattern(r"\$\{(?P<name>[A-Za-z_]\w*)\}\Z")
_ESCAPABLE = frozenset('"$`\\\n')
_LONGEST = 500_000  # characters of a text; variables that hold each other several times grow without end


class NestedScript(Struct, frozen=True):
    """A script as far as it is known, with the place of each character in its file."""

    text: str
    places: Places
    holes: Mapping[str, str] = field(default_factory=dict)


class Spliced:
    """Several texts as one. What reaches over several has the place from the first to the last of them."""

    def __init__(self, parts: Sequence[tuple[str, Places]], between: str) -> None:
        self.text = between.join(text for text, _ in parts)
        self._parts: list[tuple[int, int, Places]] = []
        at = 0
        for text, places in parts:
            self._parts.append((at, at + len(text), places))
            at += len(text) + len(between)

    def span_of(self, start: int, end: int) -> Span:
        """The place in the file of the characters between two indices."""
        met = [part for part in self._parts if part[0] < max(end, start + 1) and start < part[1]] or self._parts[-1:]
        spans = [one.span_of(max(start, first) - first, min(end, last) - first) for first, last, one in met]
        begin, final = spans[0], spans[-1]
        if begin.path != final.path or (begin.line, begin.column) > (final.end_line, final.end_column):
            return begin
        return Span(begin.path, begin.line, begin.column, final.end_line, final.end_column)


class Everywhere:
    """The places of a text that stands nowhere as it is: all of it is at one place."""

    def __init__(self, span: Span) -> None:
        self.span = span

    def span_of(self, _start: int, _end: int) -> Span:
        """That place."""
        return self.span


def script_text(
    words: Sequence[Word], path: str, template: Template, pattern: re.Pattern[str] | None = None, between: str = " "
) -> NestedScript:
    """The script that words are together. `pattern`: what something else is put in for when it runs."""
    parts = [_word_text(word, path, template) for word in words]
    if pattern is not None:
        parts = [
            (pattern.sub(lambda m: template.hole(m[0] or " ") * len(m[0]), text), places) for text, places in parts
        ]
    spliced = Spliced(parts, between)
    places: Places = parts[0][1] if len(parts) == 1 else spliced
    return NestedScript(spliced.text, places, template.holes)


def _word_text(word: Word, path: str, template: Template) -> tuple[str, Places]:
    """A word as text. Its places are exact where they are known or the word is the text in quotes, else they are the word's."""
    span = word.span or Span(path)
    if isinstance(word.places, Placed):
        template.holes.update(getattr(word.places, "holes", {}))
        return word.places.text, word.places
    if word.value is None:
        return template.hole(word.partial or word.raw or "?"), Everywhere(span)
    if word.places is not None:
        return word.value, word.places
    text, raw = word.value, word.raw
    if raw == text:
        return text, Placed(text, SourceText(raw, path, span), range(len(text)))
    places = _unquoted_places(raw, text) if raw[:1] in ("'", '"') else None
    if places is not None and word.span is not None:
        return text, Placed(text, SourceText(raw, path, span), places)
    return text, Everywhere(span)


def _unquoted_places(raw: str, text: str) -> list[int] | None:
    """Where each character of a text stands in its quotes; None where a variable was put in."""
    places: list[int] = []
    at, double = 1, raw[0] == '"'
    for char in text:
        while double and raw.startswith("\\\n", at):
            at += 2
        if double and raw.startswith("\\", at) and raw[at + 1 : at + 2] in set('"$`\\'):
            at += 1
        if raw[at : at + 1] != char:
            return None
        places.append(at)
        at += 1
    return places


def text_of(part: Placed, scope: Scope, *, quoted: bool = False) -> Placed:
    """A shell word as the text that it is when nothing splits it, with the place of each character.

    What is not known is a hole. What a variable puts in stands where it was written, if that is in the same text. `quoted`:
    the part is the inside of double quotes, or of a heredoc.
    """
    built = _Built(part, scope)
    built.heredoc() if quoted else built.word()
    text, holes = "".join(built.parts), scope.template.holes
    held = {char: holes[char] for char in set(text) & holes.keys()} if holes else {}
    if held:
        return Partly(text, part.outer, built.places, held)
    return Placed(text, part.outer, built.places)


class _Built:
    """One pass over the text of a word."""

    def __init__(self, part: Placed, scope: Scope) -> None:
        self.source = part.text
        self.part = part
        self.scope = scope
        self.parts: list[str] = []
        self.places: list[int] = []

    def word(self) -> None:
        at = 0
        while at < len(self.source):
            char = self.source[at]
            if char == "'":
                end = self.source.find("'", at + 1)
                end = len(self.source) if end < 0 else end
                self._keep(at + 1, end)
                at = end + 1
            elif char == '"' or self.source.startswith('$"', at):
                at = self._quoted(at + (1 if char == '"' else 2), '"')
            elif self.source.startswith("$'", at):
                at = self._ansi(at + 2)
            elif char == "\\":
                if self.source[at + 1 : at + 2] != "\n":
                    self._keep(at + 1, at + 2)
                at += 2
            else:
                at = self._plain(at)

    def heredoc(self) -> None:
        self._quoted(0, "")

    def _quoted(self, at: int, closing: str) -> int:
        """The inside of double quotes; the place behind them."""
        while at < len(self.source):
            following = self.source[at + 1 : at + 2]
            if closing and self.source[at] == closing:
                return at + 1
            if self.source[at] == "\\" and following in _ESCAPABLE and following and (closing or following != '"'):
                if following != "\n":
                    self._add(following, at)
                at += 2
            else:
                at = self._plain(at)
        return at

    def _plain(self, at: int) -> int:
        """One character, or an expansion."""
        end = _expansion_end(self.source, at)
        if end == at:
            self._keep(at, at + 1)
            return at + 1
        self._expansion(at, end)
        return end

    def _expansion(self, at: int, end: int) -> None:
        from specconf.readers.expansion import assigned

        raw = self.source[at:end]
        name = _NAME.fullmatch(raw) or _BRACED_NAME.match(raw)
        held = self.scope.values.get(name["name"] or "") if name is not None else None
        if isinstance(held, Word) and isinstance(held.places, Placed) and held.places.outer is self.part.outer:
            self.parts.append(held.places.text)
            self.places += held.places.at
        else:
            value = assigned(f'"{raw}"', None, self.scope).value
            if value is None or sum(map(len, self.parts[-8:])) > _LONGEST:
                self.parts.append(self.scope.template.hole(raw) * (end - at))
                self.places += self.part.at[at:end]
            else:
                self._add(value, at)

    def _ansi(self, at: int) -> int:
        while at < len(self.source) and self.source[at] != "'":
            if self.source[at] != "\\":
                self._keep(at, at + 1)
                at += 1
                continue
            decoded, length = ansi_escape(self.source, at + 1)
            self._add(decoded, at)
            at += 1 + length
        return at + 1

    def _keep(self, start: int, end: int) -> None:
        self.parts.append(self.source[start:end])
        self.places += self.part.at[start:end]

    def _add(self, text: str, at: int) -> None:
        self.parts.append(text)
        self.places += [self.part.at[at]] * len(text)


def _expansion_end(text: str, at: int) -> int:
    """The end of a variable or substitution that begins at a place; the place itself where none does."""
    if text[at] == "`":
        return min(backtick_end(text, at + 1), len(text))
    if text.startswith(("${", "$("), at) or (text[at] in "<>" and text.startswith("(", at + 1)):
        return min(closing_position(text, at + 1) + 1, len(text))
    name = _NAME.match(text, at)
    return name.end() if name else at
