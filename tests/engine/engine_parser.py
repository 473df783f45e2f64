"""The test side of the parser harness: a worker process in an engine's environment, and its answers as values."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import types
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
WORKER = HERE / "workers" / "worker.py"


def engine_env() -> types.ModuleType:
    """The module `tools/engine_env.py`, which knows where environments are."""
    name = "specconf_tools_engine_env"
    if name not in sys.modules:
        spec = spec_from_file_location(name, HERE.parents[1] / "tools" / "engine_env.py")
        assert spec is not None
        assert spec.loader is not None
        sys.modules[name] = module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


class HarnessError(Exception):
    """The question could not be put to the engine: the test is broken, nothing is known about the launch."""


@dataclass(frozen=True)
class Answer:
    """What an engine release says to a launch. `stage` is where it stopped, or the last one that was passed."""

    verdict: str
    stage: str
    exception: str | None
    message: str
    where: str = ""
    effective: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    @property
    def accepts(self) -> bool:
        return self.verdict == "accepts"

    @property
    def parsed(self) -> Mapping[str, Any]:
        """The parser's values that differ from its defaults."""
        return self.effective.get("parsed", {})


class NoDefault:
    """What stands where argparse stores no default, or where a default is no JSON value (its text is kept)."""

    def __init__(self, text: str = "") -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text or "nothing stored"


@dataclass(frozen=True)
class Registered:
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


@dataclass(frozen=True)
class Listing:
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
    """One engine release's own parser, kept running for many questions."""

    def __init__(self, engine: str, release: str, python: Path) -> None:
        self.engine = engine
        self.release = release
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (closed with the worker)
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        self._process = subprocess.Popen(
            [python, WORKER, engine],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
            env=environment,
        )
        self.ready = self._line()
        if self.ready.get("version", "").partition("+")[0] != release:
            raise HarnessError(f"the environment of {engine} {release} holds {self.ready.get('version')}")

    def _line(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            code = self._process.wait()
            self._errors.seek(0)
            tail = self._errors.read()[-2000:].decode(errors="replace")
            raise HarnessError(f"the worker of {self.engine} {self.release} ended with {code}:\n{tail}")
        answer: dict[str, Any] = json.loads(line)
        return answer

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
        request = {"argv": list(argv), "env": env or {}, "files": files or {}, "models": models or {}, "until": until}
        answer = self._answer(request)
        answer["warnings"] = tuple(answer.get("warnings", ()))
        return Answer(**answer)

    def listing(self) -> Listing:
        """What the release registers: its parser's options and the members of its objects and registries."""
        answer = self._answer({"list": True})
        members = {scope: {row["name"]: _default(row) for row in rows} for scope, rows in answer["members"].items()}
        return Listing(tuple(_registered(row) for row in answer["options"]), members)

    def _answer(self, request: Mapping[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        answer = self._line()
        if "harness" in answer:
            raise HarnessError(answer["harness"])
        return answer

    def close(self) -> None:
        """End the worker."""
        self._errors.close()
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
