"""What reading a script gives: its simple commands, the files it writes, and the parts that could not be parsed."""

from __future__ import annotations

from dataclasses import dataclass

from specconf.readers.nested import NestedScript
from specconf.readers.source import Placed
from specconf.words import Span, Word


@dataclass(frozen=True, slots=True)
class ShellCommand:
    """One simple command behind its wrappers. `intact` is false when the parser met an error inside it.

    `image`: the image that a wrapper runs it in. `nested`: the script it gives to a shell, where that is not wholly known.
    """

    words: tuple[Word, ...]
    env: tuple[tuple[str, Word], ...]
    span: Span
    intact: bool = True
    image: Word | None = None
    nested: NestedScript | None = None


@dataclass(frozen=True, slots=True)
class ShellFile:
    """A file the script writes; `text` is None when it holds an unresolved part, `placed` is it with its places."""

    name: str
    text: str | None
    span: Span
    placed: Placed | None = None


@dataclass(frozen=True, slots=True)
class SyntaxProblem:
    """A part of the script that the parser could not read."""

    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class Script:
    """What was read from a script, in the order in which it is written."""

    commands: tuple[ShellCommand, ...]
    files: tuple[ShellFile, ...]
    problems: tuple[SyntaxProblem, ...]
