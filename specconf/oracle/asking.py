"""What is asked of an engine release, and what it answers: values that travel, no process.

A question is a launch in the engine's own words with the files and the models' config.json that it names; the engine's
answer says how far the launch came. Where the question could not be put, nothing is known about the launch.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from enum import StrEnum
from functools import cached_property
from typing import Any

from msgspec import Struct, field

from specconf.words import JsonValue


class Verdict(StrEnum):
    """How an engine takes a launch: `crashes` is an accident of its code instead of a message for the user."""

    ACCEPTS = "accepts"
    REJECTS = "rejects"
    CRASHES = "crashes"


class Question(Struct, frozen=True, dict=True):
    """One launch to ask about.

    `models`: the folder by which argv names a model → the content of its config.json. `files`: name in argv → text.
    `gpu` is the kind of GPU that the engine is shown, None where it is asked on a CPU.
    """

    argv: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    models: Mapping[str, Mapping[str, JsonValue]] = field(default_factory=dict)
    gpu: str | None = None

    @cached_property
    def key(self) -> str:
        """A name of what is asked, the same wherever the same is asked."""
        parts = [list(self.argv), dict(self.env), dict(self.files), dict(self.models), self.gpu]
        return digest(parts)


def digest(value: Any) -> str:
    """A short name of a JSON value by its content."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:16]


class Answer(Struct, frozen=True):
    """What an engine release said to a launch.

    `stage` is where it stopped, or the last one that it passed. `where` is the file and line inside the engine that the
    exception came from, `effective` what is in force by the engine's own names, `seconds` what the answer took.
    """

    verdict: Verdict
    stage: str
    exception: str | None = None
    message: str = ""
    where: str = ""
    effective: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    seconds: float = 0.0

    @property
    def accepts(self) -> bool:
        """Whether the launch passed every stage that was asked for."""
        return self.verdict is Verdict.ACCEPTS

    @property
    def parsed(self) -> Mapping[str, Any]:
        """The parser's values that differ from its defaults."""
        found: Mapping[str, Any] = self.effective.get("parsed", {})
        return found


class Unanswered(Struct, frozen=True):
    """A question that could not be put: `reason` says why, `excluded` names the class of such questions if it is known."""

    reason: str
    excluded: str = ""
