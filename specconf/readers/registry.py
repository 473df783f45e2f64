"""The formats a launch can be read from: one table, each with its detector, each reader imported on use."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from specconf.errors import InputError
from specconf.words import Launch, Span, Word


@dataclass(frozen=True, slots=True)
class ReadLaunch:
    """A launch found in a file, and the release the file states for it, if any.

    `orphans`: words right after a launch in a script that look like its options and are none of it, because a comment
    or a missing backslash ended its line. `env_files`: files not read that may set variables for the launch.
    """

    launch: Launch
    release: str | None = None
    release_where: Span | None = None
    orphans: tuple[Word, ...] = ()
    env_files: tuple[Word, ...] = ()


@dataclass(frozen=True, slots=True)
class Format:
    """One format: its name, whether a file looks like it, and how its launches are read."""

    name: str
    detects: Callable[[str, str], bool]
    read: Callable[[str, str, str | None], list[ReadLaunch]]


_SHELL_NAMES = (".sh", ".bash", ".zsh", ".ksh", ".sbatch", ".slurm")
_YAML_NAMES = (".yaml", ".yml")
_SHEBANG = re.compile(r"#!.*\b(ba|z|k|da)?sh\b")


def _is_shell(path: str, text: str) -> bool:
    return path == "-" or path.endswith(_SHELL_NAMES) or _SHEBANG.match(text) is not None


def _is_argv_json(path: str, text: str) -> bool:
    return path.endswith(".json") or (path == "-" and text.lstrip().startswith("{"))


def _is_engine_yaml(path: str, _text: str) -> bool:
    return path.endswith(_YAML_NAMES)


def _read_shell(path: str, text: str, _engine: str | None) -> list[ReadLaunch]:
    from specconf.readers.launches import find_launches

    return [
        ReadLaunch(found.launch, found.release, found.release_where, found.orphans, found.env_files)
        for found in find_launches(text, path)
    ]


def _read_argv_json(path: str, text: str, _engine: str | None) -> list[ReadLaunch]:
    from specconf.readers.artifacts import read_argv_json

    artifact = read_argv_json(text, path)
    return [ReadLaunch(artifact.launch, artifact.release, artifact.release_where)]


def _read_engine_yaml(path: str, text: str, engine: str | None) -> list[ReadLaunch]:
    from specconf.readers.artifacts import read_engine_yaml

    return [ReadLaunch(read_engine_yaml(text, path, engine))]


# In the order in which they are tried.
FORMATS: tuple[Format, ...] = (
    Format("argv-json", _is_argv_json, _read_argv_json),
    Format("engine-yaml", _is_engine_yaml, _read_engine_yaml),
    Format("shell", _is_shell, _read_shell),
)


def detected_format(path: str, text: str) -> Format:
    """The format of a file, by its name and first line."""
    for candidate in FORMATS:
        if candidate.detects(path, text):
            return candidate
    known = ", ".join(candidate.name for candidate in FORMATS)
    raise InputError(
        "the kind of this file is not known",
        where=Span(path),
        hint=f"formats read: {known}; a script needs a name that ends in .sh or a first line such as #!/bin/bash",
    )


def read_launches(path: str, text: str, *, engine: str | None = None) -> list[ReadLaunch]:
    """The launches in a file, in the order in which they are written; with `engine`, only that engine's.

    Fails when the file cannot be read as its format; a file without a launch gives an empty list.
    """
    wanted = None
    if engine is not None:
        from specconf.readers.artifacts import canonical_engine

        wanted = canonical_engine(engine)
    if "\0" in text:
        raise InputError("the file holds a NUL character: no text file", where=Span(path))
    found = detected_format(path, text).read(path, text, wanted)
    return [item for item in found if wanted is None or item.launch.engine == wanted]
