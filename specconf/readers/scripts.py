"""What reading a script gives: its simple commands, the files it writes, and the parts that could not be parsed."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from specconf.readers.nested import NestedScript
from specconf.readers.source import Placed
from specconf.readers.templates import without_holes
from specconf.words import Span, Word


class ShellCommand(Struct, frozen=True):
    """One simple command behind its wrappers. `intact` is false when the parser met an error inside it.

    `image`: the image that a wrapper runs it in. `requires`: what wrappers install for it. `input`: the text that it is given
    on its standard input, as far as it is known.
    """

    words: tuple[Word, ...]
    env: tuple[tuple[str, Word], ...]
    span: Span
    intact: bool = True
    image: Word | None = None
    requires: tuple[Word, ...] = ()
    input: NestedScript | None = None


class ShellFile(Struct, frozen=True):
    """A file the script writes; `text` is None when it holds an unresolved part, `placed` is it with its places and holes."""

    name: str
    text: str | None
    span: Span
    placed: Placed | None = None


class SyntaxProblem(Struct, frozen=True):
    """A part of the script that the parser could not read."""

    text: str
    span: Span


class Script(Struct, frozen=True):
    """What was read from a script, in the order in which it is written. `holes`: what stands for unknown parts in its texts."""

    commands: tuple[ShellCommand, ...]
    files: tuple[ShellFile, ...]
    problems: tuple[SyntaxProblem, ...]
    holes: Mapping[str, str] = field(default_factory=dict)


def with_holes(command: ShellCommand, holes: Mapping[str, str]) -> ShellCommand:
    """A command whose unknown parts are told as such; what is known of a script in it is in the places of its text."""
    if not holes:
        return command
    env = tuple((name, without_holes(word, holes)) for name, word in command.env)
    image = without_holes(command.image, holes) if command.image is not None else None
    words = tuple(without_holes(word, holes) for word in command.words)
    return replace(command, words=words, env=env, image=image)
