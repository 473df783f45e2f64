"""What a file's format does with the words of a launch before its engine gets them, where that is not what was meant.

A reader that meets such a thing reads on with what was meant, so that a launch is judged as it should be, and notes the
mistake here. What is said about it, and how it is mended, is for whoever judges the launch.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from enum import Enum

from msgspec import Struct

from specconf.patterns import pattern
from specconf.words import Span, Word


class MistakeKind(Enum):
    """What goes wrong.

    UNSPLIT: a whole command line in one word, where the first word is the program's name. SHELL_ARGUMENTS: words behind
    the script of `sh -c`, which become its `$0`, `$1`, …. BEHIND_PROGRAM: a program's name behind the program that the
    image starts. LITERAL: a variable that nothing puts in. OUTER: a variable that is taken from outside, though the
    process has one of that name. ONE_LETTER: `$NAME` where make takes one letter for the name.
    """

    UNSPLIT = "unsplit"
    SHELL_ARGUMENTS = "shell-arguments"
    BEHIND_PROGRAM = "behind-program"
    LITERAL = "literal"
    OUTER = "outer"
    ONE_LETTER = "one-letter"


class Mistake(Struct, frozen=True):
    """One mistake at its place. `text`: what is written there; `instead`: what to write, empty where that is not known.

    `certain`: whether it goes wrong whatever the file does not show.
    """

    kind: MistakeKind
    where: Span | None
    text: str
    instead: str = ""
    certain: bool = True


OPERATOR = pattern(r"[;&|<>\n`]|\$\(")  # what only a shell makes something of
_ARGUMENT = pattern(r"\$(?:[@*0-9]|\{[@*0-9])")
_FLAG = pattern(r"--?[A-Za-z]")
_VARIABLE = pattern(r"\$(?:\{(?P<braced>[A-Za-z_]\w*)\}|(?P<bare>[A-Za-z_]\w*))")


def takes_arguments(script: str) -> bool:
    """Whether a script looks at its `$0`, `$1`, …, `$@`."""
    return _ARGUMENT.search(script) is not None


def holds_flags(words: Iterable[Word]) -> bool:
    """Whether one of the words is a flag."""
    return any(_FLAG.match(word.text) for word in words)


def shell_arguments(rest: Sequence[Word]) -> Mistake:
    """The words behind the script of `sh -c` that nothing looks at."""
    return Mistake(MistakeKind.SHELL_ARGUMENTS, rest[0].span, " ".join(word.text for word in rest))


def variables_in(text: str) -> Iterable[re.Match[str]]:
    """The variables as a shell writes them: `$NAME` and `${NAME}`."""
    return _VARIABLE.finditer(text)


def name_of(variable: re.Match[str]) -> str:
    """The name of such a variable."""
    return variable["braced"] or variable["bare"]


def of_words(mistakes: Sequence[Mistake], words: Sequence[Word]) -> tuple[Mistake, ...]:
    """Those that stand in words of a launch, or about all of them."""
    return tuple(
        one
        for one in mistakes
        if one.kind in _OF_ALL or any(word.span is not None and _within(one.where, word.span) for word in words)
    )


_OF_ALL = frozenset({MistakeKind.UNSPLIT, MistakeKind.SHELL_ARGUMENTS, MistakeKind.BEHIND_PROGRAM})


def _within(inner: Span | None, outer: Span) -> bool:
    if inner is None or inner.path != outer.path:
        return False
    start = (outer.line, outer.column)
    return start <= (inner.line, inner.column) < (max(start, (outer.end_line, outer.end_column)))
