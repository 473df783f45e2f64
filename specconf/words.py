"""Words: what was written, as spans of the outer file, before any engine's meaning is given to it.

A word can be fully known, unresolved (`$EXTRA`, `{{ }}`, `"$@"`) or a set of candidates. Nothing here knows an engine.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, TypeAlias

from msgspec import Struct, field

JsonValue: TypeAlias = "bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None"


class Span(Struct, frozen=True, order=True):
    """A place in a file: 1-based line and column, counted in Unicode code points; `end_*` are exclusive."""

    path: str
    line: int = 0
    column: int = 0
    end_line: int = 0
    end_column: int = 0

    def __str__(self) -> str:
        if not self.line:
            return self.path
        return f"{self.path}:{self.line}:{self.column}" if self.column else f"{self.path}:{self.line}"


class Unresolved(Struct, frozen=True):
    """A value that was written but cannot be known from the text; `text` is how it was written."""

    text: str

    def __str__(self) -> str:
        return self.text


class Candidates(Struct, frozen=True):
    """A value that is one of several, for example after an override whose condition is unknown."""

    values: tuple[JsonValue, ...]

    def __post_init__(self) -> None:
        if len(self.values) < 2:
            raise ValueError("candidates are two values or more")


Value: TypeAlias = "JsonValue | Unresolved | Candidates"


def same(left: Value, right: Value) -> bool:
    """Equal, where true is not 1 and false not 0."""
    return left == right and isinstance(left, bool) == isinstance(right, bool)


class Position(Protocol):
    """A position in a text, as PyYAML marks it: all counted from 0."""

    index: int
    line: int
    column: int


class Places(Protocol):
    """Where the characters of a text stand, which may be a part of another file."""

    def span_of(self, start: int, end: int) -> Span:
        """The place of the characters between two indices."""


class Word(Struct, frozen=True, eq=False, repr_omit_defaults=True):
    """One argv word. `value` is its text, or None when it holds an unresolved part, which `raw` then shows.

    `may_be_many` is true for a word that can expand to no word or several (`$EXTRA` unquoted, `"$@"`), and so may hold
    options of its own. `partial`: the text of a word that is known in part, with what is not known as it is written.
    `places`: where each character of the value stands, if that is known (a JSON over several lines). `exact`: the word stands
    for a parameter that is named in code, which no parser completes from its beginning; `quoted`: for a text that code hands
    on as a text, so that nothing reads an object out of it. None of the three makes two words differ.
    """

    value: str | None
    span: Span | None = None
    raw: str = ""
    may_be_many: bool = False
    partial: str = ""
    exact: bool = False
    quoted: bool = False
    places: Places | None = None

    def _compared(self) -> tuple[object, ...]:
        return self.value, self.span, self.raw, self.may_be_many, self.partial

    def __eq__(self, other: object) -> bool:
        return self._compared() == other._compared() if isinstance(other, Word) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._compared())

    @property
    def text(self) -> str:
        """The word as known, or as written."""
        return self.value if self.value is not None else self.raw


class Launch(Struct, frozen=True, eq=False, repr_omit_defaults=True):
    """One start of one engine as written: the program's words, the environment beside it, and the files it names.

    `argv` starts with the program. `files` maps the path as written in argv to the file's text, for option files;
    `places` holds where such a text stands, when it is a part of another file; it makes no two launches differ.
    """

    engine: str
    argv: tuple[Word, ...]
    env: tuple[tuple[str, Word], ...] = ()
    files: tuple[tuple[str, str], ...] = ()
    span: Span | None = None
    places: Mapping[str, Places] = field(default_factory=dict)

    def _compared(self) -> tuple[object, ...]:
        return self.engine, self.argv, self.env, self.files, self.span

    def __eq__(self, other: object) -> bool:
        return self._compared() == other._compared() if isinstance(other, Launch) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._compared())

    def place_in(self, name: str, start: Position, end: Position) -> Span:
        """The place of a part of one of its files, in the file that the text was read from."""
        placed = self.places.get(name)
        if placed is not None:
            return placed.span_of(start.index, end.index)
        return Span(name, start.line + 1, start.column + 1, end.line + 1, end.column + 1)


def words(*texts: str) -> tuple[Word, ...]:
    """Known words without a place, for launches made by programs and tests."""
    return tuple(Word(value=text, raw=text) for text in texts)
