"""The formats a launch can be read from: one table, each with its detector, each reader imported on use.

A deploy format is a row here and a module with one function: from a `Document` to its `Fragment`s.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from specconf.errors import InputError
from specconf.readers.detecting import DETECTORS, ON_REQUEST, is_yaml
from specconf.readers.found import ReadLaunch
from specconf.readers.fragments import Around, Document, Fragment, nothing_around
from specconf.readers.source import SourceText
from specconf.words import Span

__all__ = ["FORMATS", "Document", "Format", "ReadLaunch", "detected_format", "read_launches"]


class Format(Struct, frozen=True):
    """One format: its name, the words of a file that may be one, and the module that reads it.

    `reads`: `module:function`, which gives fragments, or with `whole` the launches themselves.
    """

    name: str
    detects: Callable[[str, str], bool]
    reads: str
    whole: bool = False

    def read(self, document: Document) -> list[ReadLaunch]:
        """The launches in a document of this format. InputError where it cannot be read as one."""
        if self.whole:
            return list(self._reader()(document))
        from specconf.readers.launches import in_fragment

        return [launch for fragment in self.fragments(document) for launch in in_fragment(fragment, document.path)]

    def fragments(self, document: Document) -> Iterable[Fragment]:
        """The processes in a document of a format that gives such."""
        found: Iterable[Fragment] = self._reader()(document)
        return found

    def _reader(self) -> Callable[[Document], Iterable[Any]]:
        module, _, function = self.reads.partition(":")
        reader: Callable[[Document], Iterable[Any]] = getattr(import_module(f"specconf.readers.{module}"), function)
        return reader


_OPTION_FILE_HINT = (
    "no deploy format has these keys; of an option file, name the engine: --engine vllm, sglang or tensorrt-llm"
)
# In the order in which they are tried; the first that detects a file reads it.
FORMATS: tuple[Format, ...] = tuple(Format(name, detects, reads, whole) for name, detects, reads, whole in DETECTORS)


def detected_format(path: str, text: str, *, asked: frozenset[str] = frozenset()) -> Format | None:
    """The format of a file, by its name and what stands in it; None where it is of no known kind.

    `asked`: which of the formats that are read only on request are wanted.
    """
    allowed = (one for one in FORMATS if one.name not in ON_REQUEST or one.name in asked)
    if "\r" in text or text.startswith("\ufeff"):  # line ends of Windows and its mark change no format
        text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    return next((candidate for candidate in allowed if candidate.detects(path, text)), None)


def read_launches(
    path: str,
    text: str,
    *,
    engine: str | None = None,
    around: Around = nothing_around,
    asked: frozenset[str] = frozenset(),
) -> list[ReadLaunch]:
    """The launches in a file, in the order in which they are written; with `engine`, only that engine's.

    `asked`: formats that are read only on request and are wanted here.
    Fails when the file cannot be read as its format; a file without a launch gives an empty list.
    """
    wanted = None
    if engine is not None:
        from specconf.readers.artifacts import canonical_engine

        wanted = canonical_engine(engine)
    if "\0" in text:
        raise InputError("the file holds a NUL character: no text file", where=Span(path))
    chosen = detected_format(path, text, asked=asked)
    if chosen is None and wanted is not None and is_yaml(path):
        chosen = next(candidate for candidate in FORMATS if candidate.name == "engine-yaml")
    if chosen is None:
        known = ", ".join(candidate.name for candidate in FORMATS)
        raise InputError(
            "the kind of this file is not known",
            where=Span(path),
            hint=_OPTION_FILE_HINT
            if is_yaml(path)
            else f"formats read: {known}; a script needs a name that ends in .sh or a first line such as #!/bin/bash",
        )
    document = Document(path, text, around, wanted)
    found = chosen.read(document)
    return [_with_files_beside(item, document) for item in found if wanted is None or item.launch.engine == wanted]


_OPTION_FILES = (".yaml", ".yml", ".json")


def _with_files_beside(item: ReadLaunch, document: Document) -> ReadLaunch:
    """A launch with the option files that its words name and that lie beside the document."""
    known = dict(item.launch.files)
    places = dict(item.launch.places)
    folder = document.path.replace("\\", "/").rpartition("/")[0]
    for word in item.launch.argv:
        name = (word.value or "").rpartition("=")[2]
        if not name.endswith(_OPTION_FILES) or name.startswith(("/", "-", "{")) or name in known:
            continue
        text = document.around(name)
        if text is not None:
            known[name] = text
            places[name] = SourceText(text, f"{folder}/{name}" if folder else name).part(0, len(text))
    if len(known) == len(item.launch.files):
        return item
    return replace(item, launch=replace(item.launch, files=tuple(known.items()), places=places))
