"""What a vLLM server's log says about its end: which process died first, of which exception, raised where.

One accident is logged by several processes, each with a traceback of its own: the worker in which it happened, the engine
that waited for the worker, and the server that waited for the engine. The innermost of them tells what happened.
"""

from __future__ import annotations

import re

from msgspec import Struct

_PROCESS = re.compile(r"^\((?P<process>[^()]+) pid=\d+\) ?(?P<rest>.*)$")
_RECORD = re.compile(r"^(?:DEBUG|INFO|WARNING|ERROR|CRITICAL) [\d:. -]+\[[^\]]+\] ?(?P<rest>.*)$")
_BEGIN = "Traceback (most recent call last):"
_FRAME = re.compile(r'^  File "(?P<file>[^"]+)", line (?P<line>\d+), in ')
_RAISED = re.compile(r"^(?P<name>[A-Za-z_][\w.]*)(?:: ?(?P<message>.*))?$")
_CHAINED = ("During handling of the above exception", "The above exception was the direct cause")
_USAGE = re.compile(r"^[^\s:][^:]*: error: (?P<message>.*)$")
# pydantic's first line only counts the errors; the ones below say what is wrong, and end with an address.
_COUNT = re.compile(r"^\d+ validation errors? for ")

# What these raise, and what the standard library raises, is their caller's doing.
_ON_BEHALF = ("pydantic/", "pydantic_core/")
_STATEMENTS = ("raise", "assert")

_DEPTH = ("Worker", "VllmWorker", "EngineCore")


class Raised(Struct, frozen=True):
    """An exception as a traceback in the log shows it. `process` is empty where the log does not name it.

    `files` are the frames' files with their lines, the innermost last; `code` is what stands on the innermost line.
    """

    process: str
    exception: str
    message: str
    files: tuple[str, ...]
    code: str = ""

    @property
    def depth(self) -> int:
        """0 in a worker, 1 in the engine's core, 2 in the server."""
        return depth(self.process)

    @property
    def where(self) -> str:
        """File and line of the innermost frame of vLLM; without one, of the innermost frame."""
        own = [rest for _, rest in map(_installed, self.files) if rest.startswith("vllm/")]
        if own:
            return own[-1]
        return self.files[-1].rpartition("/")[2] if self.files else ""

    @property
    def meant(self) -> bool:
        """Whether vLLM raised it with a statement of its own, and not something that it called, compiled code included."""
        for installed, rest in map(_installed, reversed(self.files)):
            if rest.startswith("vllm/"):
                return rest != _installed(self.files[-1])[1] or self.code.startswith(_STATEMENTS)
            if installed and not rest.startswith(_ON_BEHALF):
                return False
        return False


def _installed(file: str) -> tuple[bool, str]:
    """Whether a file belongs to an installed package, and its name from there on."""
    _, found, rest = file.rpartition("/site-packages/")
    return bool(found), rest if found else ""


def depth(process: str) -> int:
    """How deep in the program a process is, by its name: 0 a worker, 1 the engine's core, 2 the server."""
    if process.startswith(_DEPTH[:2]):
        return 0
    return 1 if process.startswith(_DEPTH[2]) else 2


def engine_started(text: str) -> bool:
    """Whether the launch came as far as a process for the engine, which is begun with a finished config."""
    return any(depth(process) < 2 for process, _ in _lines(text))


def usage_error(text: str) -> str | None:
    """What the argument parser says of a launch that it refuses."""
    said = [match["message"] for _, line in _lines(text) if (match := _USAGE.match(line))]
    return said[-1] if said and _BEGIN not in text else None


def root(text: str) -> Raised | None:
    """The exception that ended the program: the first one of the innermost process that has one."""
    found = tracebacks(text)
    return min(found, key=lambda each: each.depth) if found else None


def tracebacks(text: str) -> list[Raised]:
    """All tracebacks, in the order in which they begin in each process's own part of the log; of a chain its last."""
    streams: dict[str, list[str]] = {}
    for process, line in _lines(text):
        streams.setdefault(process, []).append(line)
    return [raised for process, lines in streams.items() for raised in _of_process(process, lines)]


def _lines(text: str) -> list[tuple[str, str]]:
    """Each line without what the log puts before it, and its process."""
    found = []
    for whole in text.splitlines():
        by_process = _PROCESS.match(whole)
        process, rest = (by_process["process"], by_process["rest"]) if by_process else ("", whole)
        record = _RECORD.match(rest)
        found.append((process, record["rest"] if record else rest))
    return found


def _of_process(process: str, lines: list[str]) -> list[Raised]:
    found: list[Raised] = []
    chained = False
    number = 0
    while number < len(lines):
        if lines[number].startswith(_CHAINED):
            chained = True
        if lines[number].strip() != _BEGIN:
            number += 1
            continue
        number, raised = _read(process, lines, number + 1)
        if raised is not None:
            found[len(found) - 1 if chained and found else len(found) :] = [raised]
            chained = False
    return found


def _read(process: str, lines: list[str], number: int) -> tuple[int, Raised | None]:
    """The traceback whose frames begin at a line, and the line after it."""
    files, code = [], ""
    while number < len(lines) and (lines[number].startswith(" ") or not lines[number]):
        if match := _FRAME.match(lines[number]):
            files.append(f"{match['file']}:{match['line']}")
            code = lines[number + 1].strip() if number + 1 < len(lines) else ""
        number += 1
    if number >= len(lines) or not (match := _RAISED.match(lines[number])):
        return number, None
    message = match["message"] or ""
    if _COUNT.match(message):
        message = _first_error(lines[number + 1 : number + 4])
    return number + 1, Raised(process, match["name"].rpartition(".")[2], message.strip(), tuple(files), code)


def _first_error(lines: list[str]) -> str:
    """The first of pydantic's errors."""
    return " ".join(line.strip() for line in lines[:2]).partition(" [type=")[0]
