"""Launches written out in texts: the fences of Markdown, shell scripts, and `LLM(...)` calls in Python.

A fence gives one shell text with the line it starts at. A Python call is read with `ast`, never run, and only where
every argument is a literal: it becomes the command line that says the same.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator

from msgspec import Struct

SHELL = frozenset({"bash", "sh", "shell", "zsh", "console", "shell-session", "shellscript", "bash-session", ""})
PYTHON = frozenset({"python", "py", "python3"})
_FENCE = re.compile(r"^(\s*)(`{3,}|~{3,})\s*\{?\.?([\w+-]*)")
_PROMPT = re.compile(r"^\s*\$\s+")
_PLACEHOLDER = re.compile(r"(?<![<&\w])<([A-Za-z][\w .:/-]*)>")
_BRACKETED = re.compile(r"(?<!\S)\[([A-Za-z][\w|. -]*)\](?=\s|$)")
_ELIDED = re.compile(r"(?<!\S)\.\.\.(?=\s|$)", re.MULTILINE)


class Fence(Struct, frozen=True):
    """A fence's language and text; `line` is that of its first line of text, counted from 1."""

    language: str
    text: str
    line: int


def fences(text: str) -> Iterator[Fence]:
    """The fences of a Markdown text, with their indentation taken off."""
    opened: re.Match[str] | None = None
    body: list[str] = []
    start = 0
    for number, line in enumerate(text.splitlines(), 1):
        found = _FENCE.match(line)
        if opened is None:
            if found:
                opened, body, start = found, [], number + 1
        elif found and found[2].startswith(opened[2]) and not line.strip().strip(found[2][0]):
            yield Fence(opened[3].lower(), "\n".join(body) + "\n", start)
            opened = None
        else:
            indent = len(opened[1])
            body.append(line[indent:] if not line[:indent].strip() else line.lstrip())


def blanked(text: str, kept: list[Fence]) -> str:
    """A text as one script of some of its fences: every other line is empty, so that lines keep their numbers."""
    lines = [""] * len(text.splitlines())
    for fence in kept:
        for number, line in enumerate(shell_text(fence).splitlines()):
            if fence.line - 1 + number < len(lines):
                lines[fence.line - 1 + number] = line
    return "\n".join(lines) + "\n"


def shell_text(fence: Fence) -> str:
    """A fence as a script: what the reader is to fill in is a variable, and of a session only what was typed is kept."""
    lines = _ELIDED.sub("$ELIDED", "\n".join(map(_filled_in, fence.text.splitlines()))).splitlines()
    if not any(line.startswith("$ ") for line in map(str.lstrip, lines)):
        return "\n".join(lines) + "\n"
    typed: list[str] = []
    goes_on = False
    for line in lines:
        is_prompt = bool(_PROMPT.match(line))
        typed.append(_PROMPT.sub("", line) if is_prompt else line if goes_on else "")
        goes_on = (is_prompt or goes_on) and line.rstrip().endswith("\\")
    return "\n".join(typed) + "\n"


def _filled_in(line: str) -> str:
    """`<your token>`, which the shell would take for a file to read from, and `[options]`, as a variable that nothing sets.

    Between quotes it is text.
    """

    def variable(found: re.Match[str]) -> str:
        before = line[: found.start()]
        if before.count("'") % 2 or before.count('"') % 2:
            return found[0]
        return "${" + re.sub(r"\W", "_", found[1]) + "}"

    return _BRACKETED.sub(variable, _PLACEHOLDER.sub(variable, line))


class Call(Struct, frozen=True):
    """An `LLM(...)` call: its keyword arguments, or None where one is no literal."""

    line: int
    arguments: dict[str, object] | None


def llm_calls(source: str) -> list[Call]:
    """The calls of `LLM` in Python text; none where it cannot be parsed."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return []
    found = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "LLM"
    ]
    return [Call(node.lineno, _literals(node)) for node in found]


def _literals(call: ast.Call) -> dict[str, object] | None:
    named = [("model", argument) for argument in call.args] + [(word.arg, word.value) for word in call.keywords]
    values: dict[str, object] = {}
    for name, node in named:
        if name is None or isinstance(node, ast.Starred):
            return None
        try:
            values[name] = ast.literal_eval(node)
        except ValueError:
            return None
    return values if len(call.args) <= 1 and isinstance(values.get("model"), str) else None


def as_argv(arguments: dict[str, object]) -> list[str]:
    """The command line that says what keyword arguments of `LLM` say."""
    words = ["vllm", "serve", str(arguments["model"])]
    for name, value in arguments.items():
        flag = name.replace("_", "-")
        if name == "model" or value is None:
            continue
        if isinstance(value, bool):
            # `disable_…=False` is the default, and its flag a plain switch in most releases.
            words += [f"--{flag}"] if value else [] if name.startswith("disable_") else [f"--no-{flag}"]
        elif isinstance(value, dict):
            words += [f"--{flag}", json.dumps(value)]
        elif isinstance(value, list | tuple):
            words += [f"--{flag}", *map(str, value)]
        else:
            words += [f"--{flag}", str(value)]
    return words
