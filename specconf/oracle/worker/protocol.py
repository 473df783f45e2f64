"""What the worker and an engine's adapter agree on. Runs inside an engine's environment: the standard library only."""

from __future__ import annotations

import argparse
from typing import Any, Protocol

MESSAGE_LIMIT = 300


class HarnessError(Exception):
    """The question could not be put to the engine; says nothing about the launch."""


def sayable(value: Any) -> Any:
    """A JSON value in texts that can be encoded: half of a surrogate pair, as of a file name's stray byte, is escaped."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, dict):
        return {sayable(name): sayable(inner) for name, inner in value.items()}
    return [sayable(inner) for inner in value] if isinstance(value, list | tuple) else value


class Adapter(Protocol):
    """What an engine's adapter offers. `parse` and `configure` raise what the engine raises.

    `platform`: the kind of hardware that the engine sees here (`cpu`, `cuda`), empty where it is shown one or none is known.
    `members`: scope of the database → rows of `name` and, where there is one, `default`.
    """

    package: str
    version: str

    def warm(self) -> None: ...
    def platform(self) -> str: ...
    def parser(self) -> argparse.ArgumentParser: ...
    def members(self) -> dict[str, list[dict[str, Any]]]: ...
    def parse(self, argv: list[str]) -> Any: ...
    def changed(self, parsed: Any) -> dict[str, Any]: ...
    def configure(self, parsed: Any) -> dict[str, Any]: ...
    def standins(self) -> list[str]: ...
