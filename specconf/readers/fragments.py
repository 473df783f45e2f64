"""What every deploy format yields: fragments. A fragment is one process that the file starts, as words or as a script.

A format's reader is a function from a document to its fragments. It knows where the format keeps commands, environment,
images and files, and nothing of shells or engines; `launches` turns fragments into launches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import TypeAlias

from msgspec import Struct, field

from specconf.readers.mistakes import Mistake
from specconf.readers.source import Placed, SourceText
from specconf.readers.stated import Stated
from specconf.words import Span, Word

# The text of a file beside the document, by its path relative to it; None where there is none or it is no text.
Around: TypeAlias = "Callable[[str], str | None]"


def nothing_around(_: str) -> None:
    """For a document that stands alone, such as standard input."""


class Document(Struct, frozen=True, dict=True):
    """A deploy file: its path, its text, and the files beside it. `engine`: the one to read option files for, if stated.

    `inside`: where the text stands, if it is a part of another file; `depth`: how many files it so is a part of.
    """

    path: str
    text: str
    around: Around = nothing_around
    engine: str | None = None
    inside: Placed | None = None
    depth: int = 0

    @cached_property
    def source(self) -> SourceText:
        """The text with its lines."""
        return SourceText(self.text, self.path) if self.inside is None else self.inside.source()


class Fragment(Struct, frozen=True):
    """One process that a deploy file starts.

    `words`: the program's words, or `script`: the text that a shell runs. `image`: the image it runs in, as far as it is
    known; with `adds_program` the words are what stands behind the image's own entrypoint. `env`: its variables. `files`:
    files that it can open, by their path inside, as texts that know
    where they stand if they are a part of the document. `stated`: releases that the format itself states, the firmest first.
    `name`: what the file calls the process. `open_ended`: whether others may add words that the file does not show.
    `holes`: the characters that stand for parts that are not known (`templates`). `env_files`: files and objects not read
    that may set further variables. `mistakes`: what the format does to the words that was not meant.
    """

    words: tuple[Word, ...] = ()
    script: Placed | None = None
    image: Word | None = None
    adds_program: bool = False
    env: tuple[tuple[str, Word], ...] = ()
    files: Mapping[str, str | Placed] = field(default_factory=dict)
    stated: tuple[Stated, ...] = ()
    name: str = ""
    where: Span | None = None
    open_ended: bool = False
    holes: Mapping[str, str] = field(default_factory=dict)
    env_files: tuple[Word, ...] = ()
    mistakes: tuple[Mistake, ...] = ()


FragmentReader: TypeAlias = "Callable[[Document], Iterable[Fragment]]"
