"""Patterns of paths, as settings write them: `*` within a name, `**` across folders, a bare name at any depth."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path


def matches(path: str, patterns: Sequence[str], folder: Path) -> bool:
    """Whether a file, or a folder that it lies in, fits one of the patterns, which are relative to `folder`."""
    if not patterns:
        return False
    relative = os.path.relpath(Path(path).absolute(), folder).replace(os.sep, "/")
    return any(_compiled(pattern).match(relative) for pattern in patterns)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """A pattern without a slash stands at any depth; one with a slash begins at the folder."""
    text = pattern.removeprefix("./").rstrip("/")
    anywhere = "(?:.*/)?" if "/" not in text else ""
    return re.compile(f"{anywhere}{_expression(text.lstrip('/'))}(?:/.*)?\\Z", re.DOTALL)


def _expression(text: str) -> str:
    found, i = "", 0
    while i < len(text):
        if text.startswith("**/", i):
            found, i = found + "(?:.*/)?", i + 3
        elif text.startswith("**", i):
            found, i = found + ".*", i + 2
        elif text[i] == "*":
            found, i = found + "[^/]*", i + 1
        elif text[i] == "?":
            found, i = found + "[^/]", i + 1
        elif text[i] == "[" and "]" in text[i + 2 :]:
            end = text.index("]", i + 2)
            inner = text[i + 1 : end].replace("\\", "\\\\")
            found, i = found + f"[{'^' + inner[1:] if inner[0] == '!' else inner}]", end + 1
        else:
            found, i = found + re.escape(text[i]), i + 1
    return found
