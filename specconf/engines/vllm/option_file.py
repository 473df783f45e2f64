"""`--config FILE`: the option file as the words that vLLM makes of it, by release."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from msgspec import Struct, field

from specconf.compat.view import View
from specconf.engines.filekeys import Entry, entries, places_of
from specconf.engines.vllm.behaviour import does
from specconf.engines.vllm.emit import SCOPE
from specconf.settings import Problem, ProblemKind
from specconf.words import Launch, Word

_FLAG = "--config"


class FromFile(Struct, frozen=True):
    """What an option file gives: its words, what is wrong with it, and where its keys stand."""

    words: list[Word] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    keys: Mapping[str, Entry] = field(default_factory=dict)


def pulled(words: list[Word], launch: Launch, view: View) -> tuple[list[Word], FromFile]:
    """The words without `--config FILE`, and what the file makes of itself.

    A file that is not at hand may hold any option, so it leaves an unresolved word. The engine looks for the word `--config`
    itself: `--config=FILE` stays an option of the command line, which nothing reads.
    """
    if view.has("config") is not True:
        return words, FromFile()
    for index, word in enumerate(words):
        if word.value == _FLAG and index + 1 < len(words):
            return words[:index] + words[index + 2 :], _read(words[index + 1], launch, view)
    return words, FromFile()


def _read(file: Word, launch: Launch, view: View) -> FromFile:
    text = dict(launch.files).get(file.value) if file.value is not None else None
    if text is None:
        return FromFile([Word(None, file.span, f"--config {file.text}", may_be_many=True)])
    if PurePosixPath(file.text).suffix not in {".yaml", ".yml"}:
        return FromFile(problems=[_problem(file, "a file whose name ends in .yaml or .yml")])
    import yaml

    try:
        data = yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f" (line {mark.line + 1})" if mark is not None else ""
        return FromFile(problems=[_problem(file, f"a file of valid YAML{place}")])
    if not isinstance(data, dict):
        return FromFile(problems=[_problem(file, "a file with a mapping of options to values")])
    keys = entries(text, places_of(launch, file.text))
    words = [word for key, value in data.items() for word in _words(str(key), value, view, keys.get(str(key)))]
    return FromFile(words, keys=keys)


def _problem(file: Word, expected: str) -> Problem:
    return Problem(ProblemKind.INVALID, SCOPE, _FLAG, file.text, expected, where=file.span)


def _words(key: str, value: Any, view: View, entry: Entry | None) -> Iterator[Word]:
    """The words that the engine makes of one entry."""
    for index, text in enumerate(_texts(key, value, view)):
        where = None if entry is None else entry.value if index else entry.key
        yield Word(text, where, text)


def _texts(key: str, value: Any, view: View) -> Iterator[str]:
    flag = f"--{key}"
    if isinstance(value, bool) and does(view, "yaml_true"):
        if value:
            yield flag
        elif does(view, "yaml_false") and _is_flag(f"--no-{key.replace('_', '-')}", view):
            yield f"--no-{key}"
    elif isinstance(value, list) and does(view, "yaml_list"):
        if value:
            yield flag
            yield from (str(item) for item in value)
    elif isinstance(value, dict) and does(view, "yaml_nested"):
        yield flag
        yield json.dumps(value)
    else:
        yield flag
        yield str(value)


def _is_flag(flag: str, view: View) -> bool:
    return flag in view.names.get(SCOPE, {})
