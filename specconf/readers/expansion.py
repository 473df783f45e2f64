"""From a shell word to argv words: the variables known at a place, splitting and brace expansion.

What cannot be known stays a word without a value, with its text as written. Nothing is executed, no file name pattern
is matched and no environment is read.
"""

from __future__ import annotations

import re
from itertools import pairwise

from msgspec import Struct

from specconf.patterns import pattern
from specconf.readers.printing import printed
from specconf.readers.quoting import Literal, Opaque, Parameter, Piece, word_pieces
from specconf.readers.scope import Scope
from specconf.readers.source import Partly, Placed, holes_of
from specconf.readers.splitting import split_words
from specconf.readers.templates import as_written, holes_in
from specconf.words import Span, Word

MOST_ALTERNATIVES = 1000

_SPACES = pattern(r"[ \t\n]+")
_PART = pattern(r"[^ \t\n]+")
_SPLIT_OR_MATCHED = pattern(r"[\s*?\[\\]")  # what the shell does more with, outside of quotes
_HOME = pattern(r"~|[A-Za-z_]\w*\+?=(?:.*:)?~", re.DOTALL | re.ASCII)  # where the shell puts a home folder
_RANGE = pattern(r"-?\w+\.\.-?\w+(\.\.-?\d+)?\Z")


class _Cell(Struct, frozen=True):
    """A part of a word being built: known text, or an unknown part; only `plain` text takes part in brace expansion."""

    text: str
    known: bool = True
    plain: bool = False
    many: bool = False


def expand(raw: str, span: Span | None, scope: Scope) -> list[Word]:
    """The argv words that a shell word becomes."""
    builder = _Fields(scope)
    for piece in word_pieces(raw):
        builder.add(piece)
    fields = [alternative for cells in builder.finished() for alternative in _braces(cells) if alternative]
    alone = len(fields) == 1
    return [_word(cells, raw if alone else None, span) for cells in fields]


def assigned(raw: str, span: Span | None, scope: Scope) -> Word:
    """The value of `NAME=raw`: neither split nor brace-expanded; the word's text as written is the value's."""
    cells: list[_Cell] = []
    for piece in word_pieces(raw):
        cells.append(_quoted_cell(piece, scope))
    word = _word(cells, raw, span)
    return word if word.value is not None else Word(value=None, span=span, raw=raw, may_be_many=True)


def _quoted_cell(piece: Piece, scope: Scope) -> _Cell:
    """A piece where the shell does not split: the words of an array are joined with spaces."""
    if isinstance(piece, Literal):
        return _Cell(piece.text, plain=not piece.quoted)
    if isinstance(piece, Opaque):
        text = _substituted(piece.raw, scope)
        return _Cell(piece.raw, known=False) if text is None else _Cell(text)
    words = _looked_up(piece, scope)
    texts = [word.value for word in words] if words is not None else [None]
    known = [text for text in texts if text is not None]
    return _Cell(" ".join(known)) if len(known) == len(texts) else _Cell(_as_assigned(piece, scope), known=False)


def _as_assigned(piece: Parameter, scope: Scope) -> str:
    """An unknown variable as its assignment has it (`${TAG:-v1}`), which tells more than its name; else as it is written."""
    held = scope.values.get(piece.name)
    if isinstance(held, Word) and held.value is None and "${" in held.raw and piece.default is None:
        return held.partial or held.raw.strip('"')
    return piece.raw


def _substituted(raw: str, scope: Scope) -> str | None:
    """What `$(printf ...)` or `$(echo ...)` becomes; None for every other command, and for words that are not known."""
    if not raw.startswith("$(") or raw.startswith("$((") or not raw.endswith(")"):
        return None
    inside = raw[2:-1]
    ranges = split_words(inside, 0)
    if not ranges or inside[ranges[-1][1] :].strip() or inside[ranges[0][0] : ranges[0][1]] not in {"printf", "echo"}:
        return None
    if any(inside[end:start].strip(" \t\\\n") for (_, end), (start, _) in pairwise(ranges)):
        return None  # a redirect or a comment stands between them
    words = [word.value for start, end in ranges for word in expand(inside[start:end], None, scope)]
    known = [word for word in words if word is not None]
    return printed(known) if len(known) == len(words) else None


def _looked_up(parameter: Parameter, scope: Scope) -> list[Word] | None:
    """The words a parameter holds, None when it is unknown. A scalar is one word."""
    value = scope.values.get(parameter.name)
    if value == () and parameter.default is not None:
        return [assigned(parameter.default, None, scope)]
    if isinstance(value, tuple) and not parameter.index:
        first = value[0] if value else Word(value="")
        value = None if first.may_be_many else first
    if value is None:
        return None
    if isinstance(value, tuple):
        return list(value)
    if value.value is None:
        return None
    if not value.value and parameter.default is not None:
        return [assigned(parameter.default, None, scope)] if ":-" in parameter.raw else [value]
    return [value]


class _Fields:
    """Words being built from pieces, by the shell's rules of splitting."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.fields: list[list[_Cell | Word]] = []
        self.current: list[_Cell | Word] = []

    def add(self, piece: Piece) -> None:
        if isinstance(piece, Literal):
            self.current.append(_Cell(piece.text, plain=not piece.quoted))
        elif isinstance(piece, Opaque):
            text = _substituted(piece.raw, self.scope)
            if text is not None and piece.many and _SPLIT_OR_MATCHED.search(text):
                text = None
            self.current.append(_Cell(piece.raw, known=False, many=piece.many) if text is None else _Cell(text))
        else:
            self._parameter(piece)

    def finished(self) -> list[list[_Cell | Word]]:
        self._end()
        return self.fields

    def _end(self) -> None:
        if self.current:
            self.fields.append(self.current)
            self.current = []

    def _parameter(self, piece: Parameter) -> None:
        words = _looked_up(piece, self.scope)
        held = self.scope.values.get(piece.name)
        if isinstance(held, Word) and isinstance(held.places, Placed) and not piece.quoted and self._splits(held):
            self._split_text(held.places)
        elif words is None:
            many = not piece.quoted or piece.index == "@"
            self.current.append(_Cell(_as_assigned(piece, self.scope), known=False, many=many))
        elif not piece.quoted:
            self._split(piece, words)
        elif piece.index == "@":
            self._elements(words)
        else:
            self.current.append(_quoted_cell(piece, self.scope))

    def _splits(self, held: Word) -> bool:
        """Whether an unquoted variable is known to become several words at known places."""
        text = held.places.text if isinstance(held.places, Placed) else ""
        known = held.value == text if held.value is not None else isinstance(held.places, Partly)
        return known and self.scope.splits and _SPACES.search(text.strip()) is not None

    def _split_text(self, text: Placed) -> None:
        """The words of a text, each at the place where it was written; one that holds a hole is not known."""
        holes = holes_of(text)
        found = list(_PART.finditer(text.text))
        for match in found:
            if match.start():
                self._end()
            part, span = match[0], text.span_of(*match.span())
            if holes_in(part, holes):
                raw = as_written(part, holes)
                self.current.append(Word(None, span, raw, may_be_many=not part.strip("".join(holes)), partial=raw))
            else:
                self.current.append(Word(part, span, part))
        if found and found[-1].end() < len(text.text):
            self._end()

    def _elements(self, words: list[Word]) -> None:
        """`"${ARRAY[@]}"`: each element is a word, the outer ones joined with what stands beside them."""
        if not words:
            # "${EMPTY[@]}" makes no word: the empty literal that its quotes left must not make one either
            self.current = [cell for cell in self.current if isinstance(cell, Word) or cell.text or not cell.known]
        elif all(isinstance(cell, _Cell) and not cell.text and cell.known for cell in self.current):
            self.current = []
        for number, word in enumerate(words):
            if number:
                self._end()
            self.current.append(word)

    def _split(self, piece: Parameter, words: list[Word]) -> None:
        if not self.scope.splits or any(word.value is None for word in words):
            if len(words) > 1 or piece.index:
                self._elements(words)
            else:
                self.current.append(_Cell(piece.raw, known=False, many=True))
            return
        for number, word in enumerate(words):
            text = word.value or ""
            if number or _SPACES.match(text):
                self._end()
            parts = [part for part in _SPACES.split(text) if part]
            if len(parts) == 1 and parts[0] == text and piece.index:
                self.current.append(word)
                continue
            for place, part in enumerate(parts):
                if place:
                    self._end()
                self.current.append(_Cell(part))
            if parts and _SPACES.search(text[-1:]):
                self._end()


def _braces(cells: list[_Cell | Word]) -> list[list[_Cell | Word]]:
    """The alternatives of `{a,b}` in a word; a word without any is its own only alternative."""
    units: list[_Cell | Word] = []
    for cell in cells:
        if isinstance(cell, _Cell) and cell.plain:
            units.extend(_Cell(char, plain=True) for char in cell.text)
        else:
            units.append(cell)
    if not any(_is(unit, ",") or _is(unit, ".") for unit in units) or not any(_is(unit, "}") for unit in units):
        return [units]  # nothing to expand, however many braces there are
    if _unclear(units):
        return [[_Cell("".join(unit.text for unit in units), known=False, many=True)]]
    return _alternatives(units)


def _unclear(units: list[_Cell | Word]) -> bool:
    """Braces that do not pair, or pair around nothing, beside a comma: bash's own rules for them are past telling.

    So is a word of more alternatives than a launch has words.
    """
    if not any(_is(unit, ",") for unit in units):
        return False
    parts: list[int] = []
    alternatives = 1
    for at, unit in enumerate(units):
        if _is(unit, "{"):
            parts.append(1)
            if at + 1 < len(units) and _is(units[at + 1], "}"):
                return True
        elif _is(unit, "}"):
            if not parts:
                return True
            alternatives *= parts.pop()
        elif _is(unit, ",") and parts:
            parts[-1] += 1
        if alternatives > MOST_ALTERNATIVES:
            return True
    return bool(parts)


def _alternatives(units: list[_Cell | Word]) -> list[list[_Cell | Word]]:
    for start, unit in enumerate(units):
        if not _is(unit, "{"):
            continue
        found = _brace_parts(units, start)
        if found is None:
            continue
        parts, end = found
        if len(parts) == 1:
            inside = "".join(_text(part) for part in parts[0])
            if not (_RANGE.match(inside) and all(isinstance(part, _Cell) and part.plain for part in parts[0])):
                continue
            range_cell = _Cell("{" + inside + "}", known=False, many=True)
            return _alternatives([*units[:start], range_cell, *units[end + 1 :]])
        tails = _alternatives(units[end + 1 :])
        heads = [inner for part in parts for inner in _alternatives(part)]
        return [[*units[:start], *head, *tail] for head in heads for tail in tails]
    return [units]


def _brace_parts(units: list[_Cell | Word], start: int) -> tuple[list[list[_Cell | Word]], int] | None:
    """The comma-separated parts of the brace opened at `start` and the place of its end; None when it is not closed."""
    depth = 0
    parts: list[list[_Cell | Word]] = [[]]
    for at in range(start + 1, len(units)):
        unit = units[at]
        if _is(unit, "}") and depth == 0:
            return parts, at
        depth += _is(unit, "{") - _is(unit, "}")
        if _is(unit, ",") and depth == 0:
            parts.append([])
        else:
            parts[-1].append(unit)
    return None


def _is(unit: _Cell | Word, char: str) -> bool:
    return isinstance(unit, _Cell) and unit.plain and unit.text == char


def _text(unit: _Cell | Word) -> str:
    return unit.text


def _word(cells: list[_Cell | Word] | list[_Cell], raw: str | None, span: Span | None) -> Word:
    """One finished word. An array's element that is the whole word keeps the place where it was written."""
    if len(cells) == 1 and isinstance(cells[0], Word):
        return cells[0] if cells[0].span else Word(cells[0].value, span, cells[0].raw, cells[0].may_be_many)
    text = "".join(_text(cell) for cell in cells)
    plain = "".join(cell.text if isinstance(cell, _Cell) and cell.plain else "\0" for cell in cells)
    home = _HOME.match(plain) is not None
    known = all(cell.known if isinstance(cell, _Cell) else cell.value is not None for cell in cells)
    many = any(cell.many if isinstance(cell, _Cell) else cell.may_be_many for cell in cells)
    value = text if known and not home else None
    partial = "" if known else text
    return Word(value, span, text if raw is None else raw, many and not known, partial)
