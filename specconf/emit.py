"""Writing an artifact out: one self-contained shell script, or the argv document. Engines make artifacts; this knows none."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from specconf.engines.base import Artifact
from specconf.findings import Finding
from specconf.report.asked import side_json
from specconf.report.json_report import finding_json, render_json

if TYPE_CHECKING:
    from specconf.oracle.sided import SideBySide

_WIDTH = 100


def launch_script(artifact: Artifact, *, forced: str, inline_files: bool) -> str:
    """A POSIX shell script that starts the launch; option files are quoted heredocs, or lie beside the script.

    `forced`: the mark of a launch written in spite of errors, empty for one without.
    """
    lines = ["#!/bin/sh", f"# {artifact.engine} {artifact.release}, written by specconf"]
    if forced:
        lines.append(f"# {forced}")
    lines.append("set -eu")
    files = marked_files(artifact, forced)
    if files and not inline_files:
        lines.append('cd -- "$(dirname -- "$0")"')
    if inline_files:
        for name, text in files.items():
            lines += _heredoc(name, text)
    lines += [f"export {name}={shlex.quote(value)}" for name, value in artifact.env.items()]
    lines.append(_command_lines(["exec", *artifact.argv]))
    return "\n".join(lines) + "\n"


def forced_mark(errors: int, left_out: Iterable[str]) -> str:
    """What a forced launch says of itself: how many errors there are, and which fields of the spec it does not hold."""
    missing = ", ".join(sorted(left_out))
    lost = f"; left out: {missing}" if missing else ""
    return f"FORCED in spite of {errors} error{'' if errors == 1 else 's'}{lost}"


def marked_files(artifact: Artifact, forced: str) -> Mapping[str, str]:
    """The artifact's files; a forced one says so in its first line."""
    if not forced:
        return artifact.files
    return {name: f"# {forced}\n{text}" for name, text in artifact.files.items()}


def _heredoc(name: str, text: str) -> list[str]:
    mark = "SPECCONF_EOF"
    while any(line == mark for line in text.splitlines()):
        mark += "_"
    body = text if text.endswith("\n") else f"{text}\n"
    return [f"cat > {shlex.quote(name)} <<'{mark}'", *body.splitlines(), mark]


def _command_lines(words: Iterable[str]) -> str:
    """The command on one line, or an option a line where that would be long."""
    quoted = [shlex.quote(word) for word in words]
    if sum(len(word) + 1 for word in quoted) <= _WIDTH:
        return " ".join(quoted)
    lines: list[list[str]] = [[]]
    for word in quoted:
        if word.startswith("--"):
            lines.append([])
        lines[-1].append(word)
    return " \\\n  ".join(" ".join(line) for line in lines)


def argv_json(artifact: Artifact, findings: Iterable[Finding], *, forced: bool, side: SideBySide | None = None) -> str:
    """The argv document of the contract; its schema is `schemas/argv.schema.json`. `side`: what the engine itself said."""
    return render_json(
        {
            "schema": 1,
            "engine": artifact.engine,
            "release": artifact.release,
            "argv": list(artifact.argv),
            "env": dict(artifact.env),
            "files": dict(artifact.files),
            "forced": forced,
            "findings": [finding_json(f) for f in findings],
            **({} if side is None else {"asked": side_json(side)}),
        }
    )
