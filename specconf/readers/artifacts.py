"""Files that hold one launch each: specconf's own `--format argv` JSON, and an engine's bare option file (YAML).

An option file is read with the engine's own YAML rules (YAML 1.1, as PyYAML's safe loader); a key written twice is an
error here, because the engine would keep the last one in silence. What the options mean is not known here.
"""

from __future__ import annotations

import json
from typing import Any, Never

from specconf.errors import InputError
from specconf.readers.found import ReadLaunch
from specconf.readers.fragments import Document
from specconf.readers.optionkeys import engine_of
from specconf.readers.stated import Firmness, Stated
from specconf.words import Launch, Span, Word

ENGINES = {"vllm": "vllm", "sglang": "sglang", "tensorrt-llm": "tensorrt-llm", "trtllm": "tensorrt-llm"}
LARGEST_FILE = 1_000_000  # characters; an option file has a few dozen lines
DEEPEST_NESTING = 50

# The program that takes an option file alone, and the option that names the file.
FILE_OPTIONS: dict[str, tuple[str, ...]] = {
    "vllm": ("vllm", "serve", "--config"),
    "sglang": ("sglang", "serve", "--config"),
    "tensorrt-llm": ("trtllm-serve", "--config"),
}


def canonical_engine(name: str, where: Span | None = None) -> str:
    """The engine's name as used everywhere; an unknown name is an error."""
    if name not in ENGINES:
        known = ", ".join(sorted(set(ENGINES.values())))
        raise InputError(f"unknown engine {name!r}", where=where, hint=f"one of: {known}")
    return ENGINES[name]


# -- argv JSON


def argv_json_launches(document: Document) -> list[ReadLaunch]:
    """The launch in a file written by `specconf compile --format argv`."""
    return [read_argv_json(document.text, document.path)]


def option_file_launches(document: Document) -> list[ReadLaunch]:
    """The launch that takes everything from an engine's option file."""
    return [ReadLaunch(read_engine_yaml(document.text, document.path, document.engine), in_script=False)]


def read_argv_json(text: str, path: str) -> ReadLaunch:
    """The launch in a file written by `specconf compile --format argv`."""
    body = _json_object(text, path)
    where = Span(path, 1, 1)
    schema = body.get("schema")
    if schema != 1 or isinstance(schema, bool):
        raise InputError(f"unknown schema {schema!r} of an argv file", where=where, hint="this specconf reads schema 1")
    engine = canonical_engine(_text(body, "engine", where), where)
    argv = body.get("argv")
    if not isinstance(argv, list) or not argv or not all(isinstance(word, str) for word in argv):
        raise InputError("`argv` must be a list of strings that starts with the program", where=where)
    release = body.get("release")
    if release is not None and not isinstance(release, str):
        raise InputError("`release` must be a string", where=where)
    launch = Launch(
        engine=engine,
        argv=tuple(Word(value=word, span=where, raw=word) for word in argv),
        env=tuple((name, Word(value=value, span=where, raw=value)) for name, value in _texts(body, "env", where)),
        files=tuple(_texts(body, "files", where)),
        span=where,
    )
    stated = () if release is None else (Stated(engine, release, Firmness.EXACT, "its field release", where),)
    return ReadLaunch(launch, stated, in_script=False)


def _json_object(text: str, path: str) -> dict[str, Any]:
    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        seen: dict[str, Any] = {}
        for key, value in pairs:
            if key in seen:
                raise InputError(f"key {key!r} is written twice", where=Span(path, *_line_of_second(text, key)))
            seen[key] = value
        return seen

    def refused(name: str) -> Never:
        raise InputError(f"{name} is not JSON", where=Span(path, 1, 1))

    try:
        body = json.loads(text, object_pairs_hook=unique, parse_constant=refused)
    except json.JSONDecodeError as error:
        raise InputError(f"not JSON: {error.msg}", where=Span(path, error.lineno, error.colno)) from error
    except RecursionError as error:
        raise InputError("nested too deeply", where=Span(path, 1, 1)) from error
    if not isinstance(body, dict):
        raise InputError("an argv file is one JSON object", where=Span(path, 1, 1))
    return body


def _line_of_second(text: str, key: str) -> tuple[int, int]:
    """The place where a key is written for the second time."""
    quoted = json.dumps(key, ensure_ascii=False)
    at = text.find(quoted, text.find(quoted) + 1)
    return (text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)) if at >= 0 else (1, 1)


def _text(body: dict[str, Any], key: str, where: Span) -> str:
    value = body.get(key)
    if not isinstance(value, str):
        raise InputError(f"`{key}` must be a string", where=where)
    return value


def _texts(body: dict[str, Any], key: str, where: Span) -> list[tuple[str, str]]:
    value = body.get(key, {})
    if not isinstance(value, dict) or not all(isinstance(text, str) for text in value.values()):
        raise InputError(f"`{key}` must map names to strings", where=where)
    return list(value.items())


# -- engine option files


def read_engine_yaml(text: str, path: str, engine: str | None = None) -> Launch:
    """A launch that takes everything from one option file; without `engine` its keys tell which."""
    options = load_options(text, path)
    chosen = canonical_engine(engine) if engine else engine_of(options)
    if chosen is None:
        raise InputError(
            "this option file does not show which engine it is for",
            where=Span(path, 1, 1),
            hint="name it with --engine vllm, sglang or tensorrt-llm",
        )
    where = Span(path, 1, 1)
    argv = tuple(Word(value=word, span=where, raw=word) for word in (*FILE_OPTIONS[chosen], path))
    return Launch(engine=chosen, argv=argv, files=((path, text),), span=where)


def load_options(text: str, path: str) -> dict[Any, Any]:
    """The mapping in an engine's option file, by YAML 1.1 rules; anything else is an error with its place."""
    import yaml

    if len(text) > LARGEST_FILE:
        raise InputError(f"larger than {LARGEST_FILE} characters: no option file", where=Span(path))
    try:
        loader = yaml.SafeLoader(text)
        try:
            node = loader.get_single_node()
            if node is None:
                raise InputError("the file is empty", where=Span(path, 1, 1))
            _refuse_duplicates(node, path, 0)
            options = loader.construct_document(node)
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as error:
        raise InputError(f"not YAML: {error.problem or error}", where=_marked(path, error.problem_mark)) from error
    except (yaml.YAMLError, ValueError) as error:
        raise InputError(f"not YAML: {error}", where=Span(path, 1, 1)) from error
    except RecursionError as error:
        raise InputError("nested too deeply", where=Span(path, 1, 1)) from error
    if not isinstance(options, dict):
        raise InputError("an option file is one mapping of options", where=Span(path, 1, 1))
    return options


def _refuse_duplicates(node: Any, path: str, depth: int) -> None:
    if depth > DEEPEST_NESTING:
        raise InputError(f"nested deeper than {DEEPEST_NESTING} levels", where=_marked(path, node.start_mark))
    if node.id == "mapping":
        seen: set[tuple[str, str]] = set()
        for key, value in node.value:
            name = (key.tag, str(key.value))
            if key.id == "scalar" and name in seen:
                raise InputError(
                    f"key {key.value!r} is written twice: the engine would keep the last one only",
                    where=_marked(path, key.start_mark),
                )
            seen.add(name)
            _refuse_duplicates(value, path, depth + 1)
    elif node.id == "sequence":
        for item in node.value:
            _refuse_duplicates(item, path, depth + 1)


def _marked(path: str, mark: Any) -> Span:
    return Span(path, mark.line + 1, mark.column + 1) if mark is not None else Span(path, 1, 1)
