"""Classes of questions that an environment without the engine's kernels or GPU cannot put: named in a file, and counted."""

from __future__ import annotations

import re
from importlib.resources.abc import Traversable
from typing import Any

import yaml
from msgspec import Struct


class Excluded(Struct, frozen=True):
    """One class. `pattern` is searched in what the engine or the environment said; `why` says what limit that is."""

    name: str
    pattern: re.Pattern[str]
    why: str

    def matches(self, text: str) -> bool:
        """Whether an answer is of this class."""
        return bool(self.pattern.search(text))


def read_excluded(file: Traversable) -> tuple[Excluded, ...]:
    """The classes of one engine, in the order of its file."""
    rows: list[dict[str, Any]] = yaml.safe_load(file.read_text(encoding="utf-8"))
    return tuple(Excluded(str(row["name"]), re.compile(row["says"]), " ".join(str(row["why"]).split())) for row in rows)
