"""Variables that a format puts into a text before anybody splits or runs it. One that is not known stays as a mark.

Compose and Kubernetes both do this. A mark is one character that no text holds; what becomes of it depends on whether
the text is one word, a command line or a script.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from msgspec import Struct, field

from specconf.readers.commandline import placed_words_of
from specconf.readers.source import Placed
from specconf.words import Span, Word

_FIRST_MARK = 0xE000  # the private use area
_MARKS = 0x1900


class Put(Struct, frozen=True):
    """A variable in a text: where it begins and ends, and what stands there; None where that is not known."""

    start: int
    end: int
    value: str | None


class Filled(Struct, frozen=True):
    """A text with its variables put in; `marks` says how each unknown one is written."""

    text: Placed
    marks: Mapping[str, str] = field(default_factory=dict)

    @property
    def known(self) -> bool:
        """Whether nothing in it is unknown."""
        return self._holds_no_mark(self.text.text)

    @property
    def value(self) -> str | None:
        """The text, None where a part of it is not known."""
        return self.text.text if self.known else None

    def word(self, span: Span | None = None) -> Word:
        """The text as one word."""
        return Word(self.value, span or self.text.span, self.written(self.text.text))

    def written(self, text: str) -> str:
        """A part of the text as it stands in the file."""
        return "".join(self.marks.get(char, char) for char in text) if self.marks else text

    def _holds_no_mark(self, text: str) -> bool:
        return not self.marks or self.marks.keys().isdisjoint(text)

    def words(self) -> tuple[tuple[Word, Filled], ...]:
        """The text as a command line, each word with its own text. An unknown variable that is a whole word may be many."""
        return tuple((self._own(word), Filled(text, self.marks)) for word, text in placed_words_of(self.text))

    def _own(self, word: Word) -> Word:
        if self._holds_no_mark(word.raw):
            return word
        return Word(None, word.span, self.written(word.raw), may_be_many=word.raw in self.marks)

    def script(self, own: Collection[str] = ()) -> Placed:
        """The text as a script: unknown variables as ones of the shell, which stay unknown inside single quotes, too.

        `own`: names that the shell has values for, which are not those that are put in before it.
        """
        text, at, quote = "", list[int](), ""
        for index, char in enumerate(self.text.text):
            piece = char
            if char in self.marks:
                name = self.marks[char]
                if name.strip("${}") in own:
                    name = f"${{{name.strip('${}')}:?}}"  # which no shell's own value is taken for
                piece = f"'\"{name}\"'" if quote == "'" else name
            else:
                quote = _quote_after(self.text.text, index, quote)
            text += piece
            at += [self.text.at[index]] * len(piece)
        return Placed(text, self.text.outer, at)


def filled(text: Placed, variables: Iterable[Put]) -> Filled:
    """A text with variables put in. What is put in has the place of the variable."""
    parts, places, marks, at = "", list[int](), dict[str, str](), 0
    for put in variables:
        mark = chr(_FIRST_MARK + len(marks) % _MARKS)
        value = put.value
        if value is None:
            marks[mark] = text.text[put.start : put.end]
            value = mark
        parts += text.text[at : put.start] + value
        places += [*text.at[at : put.start], *[text.at[put.start]] * len(value)]
        at = put.end
    return Filled(Placed(parts + text.text[at:], text.outer, [*places, *text.at[at:]]), marks)


def _quote_after(text: str, at: int, quote: str) -> str:
    """The quote that is open behind a character of a script, given the one before it. Comments hold no quotes."""
    char = text[at]
    if quote == "#":
        return "" if char == "\n" else "#"
    if at and text[at - 1] == "\\" and quote != "'":
        return quote
    if quote:
        return "" if char == quote else quote
    if char == "#" and (at == 0 or text[at - 1].isspace()):
        return "#"
    return char if char in "'\"" else ""
