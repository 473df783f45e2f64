"""The programs that are an engine: one table of their shapes, and which of them a command starts."""

from __future__ import annotations

import re

from msgspec import Struct
from msgspec.structs import replace

from specconf.patterns import pattern
from specconf.readers.wrappers import PYTHON, program_name
from specconf.words import Word

_PYTHON_VALUED = frozenset({"-X", "-W", "--check-hash-based-pycs"})
_HELP = pattern(r"(?:--help|-h)(?:=\S*)?\Z|--version\Z")


class Program(Struct, frozen=True):
    """One way to start an engine.

    `module`: started as `python -m MODULE`; else `name` is the program. One of `subcommands` must come next; with
    `bare` it may be left out, unless `other` names what stands there.
    """

    engine: str
    name: str = ""
    module: str = ""
    subcommands: frozenset[str] = frozenset()
    bare: bool = False
    other: frozenset[str] = frozenset()

    def __str__(self) -> str:
        start = self.name or f"python -m {self.module}"
        shown = f"[{'|'.join(sorted(self.subcommands))}]" if self.bare else "|".join(sorted(self.subcommands))
        return f"{start} {shown}".strip() if self.subcommands else start


_SERVE = frozenset({"serve"})

PROGRAMS: tuple[Program, ...] = (
    Program("vllm", name="vllm", subcommands=_SERVE),
    Program("vllm", module="vllm.entrypoints.openai.api_server"),
    Program("vllm", module="vllm.entrypoints.cli.main", subcommands=_SERVE),
    Program("sglang", name="sglang", subcommands=_SERVE),
    Program("sglang", module="sglang.launch_server"),
    Program("sglang", module="sglang.cli.main", subcommands=_SERVE),
    Program(
        "tensorrt-llm",
        name="trtllm-serve",
        subcommands=_SERVE,
        bare=True,
        other=frozenset({"disaggregated", "disaggregated_mpi_worker", "mm_embedding_serve", "--help", "--version"}),
    ),
)


_NAMES = frozenset(program.name for program in PROGRAMS if program.name)
# The files of modules that may be started by their path.
_PATHS = {program.module: f"/{program.module.replace('.', '/')}.py" for program in PROGRAMS if program.module}


class Match(Struct, frozen=True):
    """A program found at the start of a command: which, and how many words say so."""

    program: Program
    length: int


def match_program(words: tuple[Word, ...]) -> Match | None:
    """The engine program that a command starts, if it does."""
    name, module, length = program_name(words[0]) if words else "", "", 1
    if PYTHON.match(name):
        module, length = _python_module(words)
        name = ""
    following = words[length].value if len(words) > length else None
    for program in PROGRAMS:
        if program.module != module or (program.name != name and not module):
            continue
        if not program.subcommands:
            return Match(program, length)
        if following in program.subcommands:
            return Match(program, length + 1)
        if program.bare and len(words) > length and following not in program.other:
            return Match(program, length)
    return None


def prints_only(words: tuple[Word, ...]) -> bool:
    """Whether the words ask a program for its help or its version, so that it starts nothing."""
    return any(word.value is not None and _HELP.match(word.value) for word in words[1:])


def as_program(words: tuple[Word, ...]) -> tuple[Word, ...]:
    """A command with its program by the name it is known by, where it is written as a path, a variable or a script of Python.

    An unknown program with `-m` and an engine's module is Python.
    """
    if not words:
        return words
    first, name = words[0], program_name(words[0])
    if first.value is None and name in _NAMES:
        return (replace(first, value=name, places=None, may_be_many=False), *words[1:])
    if first.value is None and (PYTHON.match(name) or _unknown_python(words)):
        words = (replace(first, value="python", places=None, may_be_many=False), *words[1:])
        name = "python"
    if not PYTHON.match(name):
        return words
    _, at = _python_module(words)
    script = words[at] if at < len(words) else None
    if script is None or words[at - 1].text in ("-c", "-m"):
        return words
    if program_name(script) in _NAMES:
        return as_program(words[at:])
    written = script.value if script.value is not None else script.partial or script.raw.strip("\"'")
    module = next((one for one, path in _PATHS.items() if f"/{written}".endswith(path)), None)
    if module is None:
        return words
    return (words[0], *(Word(text, script.span, script.raw) for text in ("-m", module)), *words[at + 1 :])


def _unknown_python(words: tuple[Word, ...]) -> bool:
    """`$PYTHON -m MODULE`, with options of Python before it."""
    module, at = _python_module(words)
    return module in _PATHS and all(word.text.startswith("-") for word in words[1 : at - 1])


def _python_module(words: tuple[Word, ...]) -> tuple[str, int]:
    """The module of `python … -m MODULE` and the number of words up to it."""
    at = 1
    while at < len(words):
        text = words[at].value or ""
        if text == "-m" and at + 1 < len(words):
            return words[at + 1].value or "?", at + 2
        if not text.startswith("-") or text == "-c":
            break
        at += 2 if text in _PYTHON_VALUED else 1
    return "?", at


def _mention(program: Program) -> str:
    if program.name and not program.bare:
        return rf"\b{re.escape(program.name)}\s+({'|'.join(program.subcommands)})\b"
    return re.escape(program.name or program.module)


# The words that start an engine, wherever they stand.
MENTION = pattern("|".join(_mention(program) for program in PROGRAMS))


def mentions_program(text: str) -> bool:
    """Whether a text holds the words that start an engine, wherever they stand."""
    return MENTION.search(text) is not None


_ENGINE = pattern(r"vllm|sglang|trtllm|tensorrt[-_]?llm", re.IGNORECASE)


def mentions_engine(text: str) -> bool:
    """Whether a text holds an engine's name at all."""
    return _ENGINE.search(text) is not None
