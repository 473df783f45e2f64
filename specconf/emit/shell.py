"""The launch as one POSIX shell script, with its option files inside or beside it."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping

from specconf.emit.request import Request, head, marked_files
from specconf.engines.base import Artifact

_WIDTH = 100


def write(request: Request, *, alone: bool) -> Mapping[str, str]:
    """`launch.sh`; with the option files beside it, or `alone` with them inside."""
    script = launch_script(request.artifact, forced=request.forced, inline_files=alone)
    return {"launch.sh": script, **({} if alone else marked_files(request.artifact, request.forced))}


def launch_script(artifact: Artifact, *, forced: str, inline_files: bool) -> str:
    """A POSIX shell script that starts the launch; option files are quoted heredocs, or lie beside the script.

    `forced`: the mark of a launch written in spite of errors, empty for one without.
    """
    lines = ["#!/bin/sh", *head(artifact, forced), "set -eu"]
    files = marked_files(artifact, forced)
    if files and not inline_files:
        lines.append('cd -- "$(dirname -- "$0")"')
    if inline_files:
        for name, text in files.items():
            lines += heredoc(name, text)
    lines += [f"export {name}={shlex.quote(value)}" for name, value in artifact.env.items()]
    lines.append(command_lines(["exec", *artifact.argv]))
    return "\n".join(lines) + "\n"


def heredoc(name: str, text: str) -> list[str]:
    """The lines that write a file, whatever stands in it."""
    mark = "SPECCONF_EOF"
    while any(line == mark for line in text.splitlines()):
        mark += "_"
    body = text if text.endswith("\n") else f"{text}\n"
    return [f"cat > {shlex.quote(name)} <<'{mark}'", *body.splitlines(), mark]


def command_lines(words: Iterable[str], *, unquoted: frozenset[str] = frozenset()) -> str:
    """The command on one line, or an option a line where that would be long. `unquoted`: words that are shell text already."""
    quoted = [word if word in unquoted else shlex.quote(word) for word in words]
    if sum(len(word) + 1 for word in quoted) <= _WIDTH:
        return " ".join(quoted)
    lines: list[list[str]] = [[]]
    for word in quoted:
        if word.startswith("--"):
            lines.append([])
        lines[-1].append(word)
    return " \\\n  ".join(" ".join(line) for line in lines)
