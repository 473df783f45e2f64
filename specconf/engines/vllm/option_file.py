"""`--config FILE`: the option file as the words that vLLM makes of it, by release."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

import yaml

from specconf.compat.view import View
from specconf.engines.vllm.behaviour import does
from specconf.engines.vllm.emit import SCOPE
from specconf.settings import Problem, ProblemKind
from specconf.words import Word

_FLAG = "--config"


def pulled(words: list[Word], files: Mapping[str, str], view: View) -> tuple[list[Word], list[Word], list[Problem]]:
    """The words without `--config FILE`, the file's own words, and what is wrong with it.

    A file that is not at hand may hold any option, so it leaves an unresolved word. The engine looks for the word `--config`
    itself: `--config=FILE` stays an option of the command line, which nothing reads.
    """
    if view.has("config") is not True:
        return words, [], []
    for index, word in enumerate(words):
        if word.value == _FLAG and index + 1 < len(words):
            return words[:index] + words[index + 2 :], *_read(words[index + 1], files, view)
    return words, [], []


def _read(file: Word, files: Mapping[str, str], view: View) -> tuple[list[Word], list[Problem]]:
    text = files.get(file.value) if file.value is not None else None
    if text is None:
        return [Word(None, file.span, f"--config {file.text}", may_be_many=True)], []
    if PurePosixPath(file.text).suffix not in {".yaml", ".yml"}:
        return [], [_problem(file, "a file whose name ends in .yaml or .yml")]
    try:
        data = yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f" (line {mark.line + 1})" if mark is not None else ""
        return [], [_problem(file, f"a file of valid YAML{place}")]
    if not isinstance(data, dict):
        return [], [_problem(file, "a file with a mapping of options to values")]
    return [word for key, value in data.items() for word in _words(str(key), value, view)], []


def _problem(file: Word, expected: str) -> Problem:
    return Problem(ProblemKind.INVALID, SCOPE, _FLAG, file.text, expected, where=file.span)


def _words(key: str, value: Any, view: View) -> Iterator[Word]:
    """The words that the engine makes of one entry."""
    texts = list(_texts(key, value, view))
    yield from (Word(text, None, text) for text in texts)


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
