"""The tests' side of asking an engine: answers or an error, and what a release registers as values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from specconf.engines.registry import get_oracle
from specconf.oracle.asking import Answer, Question, Unanswered


class HarnessError(Exception):
    """The question could not be put to the engine: the test is broken, nothing is known about the launch."""


class NoDefault:
    """What stands where argparse stores no default, or where a default is no JSON value (its text is kept)."""

    def __init__(self, text: str = "") -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text or "nothing stored"


class Registered(Struct, frozen=True):
    """One option as the release's own parser registers it.

    `stores`: spelling → what it writes by destination when it is given alone, None where the launch stops.
    """

    names: tuple[str, ...]
    dest: str
    nargs: str | int | None
    default: Any
    choices: tuple[Any, ...] | None
    action: str
    required: bool
    deprecated: bool
    stores: Mapping[str, Mapping[str, Any] | None]

    @property
    def key(self) -> str:
        """The canonical spelling, or the destination of a positional."""
        return next((name for name in self.names if name.startswith("--")), (*self.names, self.dest)[0])


class Listing(Struct, frozen=True):
    """What a release registers. `members`: scope → name → default of the objects and registries that it declares."""

    options: tuple[Registered, ...]
    members: Mapping[str, Mapping[str, Any]]


def _default(row: Mapping[str, Any]) -> Any:
    return row["default"] if "default" in row else NoDefault(row.get("default_text", ""))


def _registered(row: Mapping[str, Any]) -> Registered:
    choices = row["choices"]
    return Registered(
        names=tuple(row["names"]),
        default=_default(row),
        choices=None if choices is None else tuple(choices),
        **{name: row[name] for name in ("dest", "nargs", "action", "required", "deprecated", "stores")},
    )


class EngineParser:
    """One engine release's own code, kept running for many questions."""

    def __init__(self, engine: str, release: str, python: Path) -> None:
        self.engine = engine
        self.release = release
        self._worker = get_oracle(engine).worker(python, release)
        self.ready = self._worker.ready

    def ask(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        files: Mapping[str, str] | None = None,
        models: Mapping[str, Mapping[str, Any]] | None = None,
        until: str = "config",
    ) -> Answer:
        """What the release says to a launch, up to a stage. At stage `config` every named model needs its config."""
        question = Question(tuple(argv), env or {}, files or {}, models or {}, gpu=self._worker.gpu)
        answer = self._worker.ask(question, until=until)
        if isinstance(answer, Unanswered):
            raise HarnessError(answer.reason)
        return answer

    def listing(self) -> Listing:
        """What the release registers: its parser's options and the members of its objects and registries."""
        answer = self._worker.listing()
        members = {scope: {row["name"]: _default(row) for row in rows} for scope, rows in answer["members"].items()}
        return Listing(tuple(_registered(row) for row in answer["options"]), members)

    def close(self) -> None:
        """End the process."""
        self._worker.close()
