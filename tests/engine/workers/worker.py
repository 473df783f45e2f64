"""Runs inside an engine's environment and asks its own parser: a JSON request a line in, a JSON answer a line out.

Request: `{"argv": [...], "env": {...}, "files": {name: text}, "models": {name: config}, "until": "parse" | "config"}`,
or `{"list": true}`, which is answered by `{"options": [...], "members": {scope: [...]}}`: what the release's own parser
registers, and the members of the objects and registries that it declares.
Files and models (their config.json) are laid into an empty folder that is the working directory, so the names in argv
find them. Answer: `{"verdict": "accepts" | "rejects" | "crashes", "stage", "exception", "message", "where",
"effective", "warnings"}`, or `{"harness": why}` when the question could not be put. Each request is answered by a
forked child with a time limit, so nothing that an engine leaves behind reaches the next one.
"""

from __future__ import annotations

import argparse
import contextlib
import enum
import importlib
import io
import json
import logging
import os
import select
import signal
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import Any, TextIO

from protocol import Adapter, HarnessError

log = logging.getLogger("specconf.worker")

MESSAGE_LIMIT = 300
MODULES = {"vllm": "adapter_vllm", "sglang": "adapter_sglang"}

# Written for the user, as engines do it; any other exception is an accident of the engine's code.
DELIBERATE = (ValueError, AssertionError, NotImplementedError, RuntimeError, ImportError, argparse.ArgumentError)


class Warnings(logging.Handler):
    """Keeps what an engine logs from WARNING up."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(record.getMessage()[:MESSAGE_LIMIT])


def plain(value: Any) -> Any:
    """A value as JSON; what JSON cannot hold is shown by its repr."""
    try:
        return as_json(value)
    except (TypeError, ValueError):
        return repr(value)[:MESSAGE_LIMIT]


def as_json(value: Any) -> Any:
    """A value as JSON: sets in order, enumerations by their values. Raises what json raises for anything else."""

    def known(inner: Any) -> Any:
        if isinstance(inner, set | frozenset):
            return sorted(inner)
        if isinstance(inner, enum.Enum):
            return inner.value
        raise TypeError(type(inner).__name__)

    return json.loads(json.dumps(value, allow_nan=False, default=known))


def defaulted(value: Any) -> dict[str, Any]:
    """A default: the value, or the text of one that JSON cannot hold; neither where argparse is to store none."""
    if isinstance(value, str) and value == argparse.SUPPRESS:
        return {}
    try:
        return {"default": as_json(value)}
    except (TypeError, ValueError):
        return {"default_text": repr(value)[:MESSAGE_LIMIT]}


def lay_out(request: dict[str, Any], folder: Path) -> None:
    """Write the request's files and model configs below the folder."""
    for name, text in request.get("files", {}).items():
        _inside(folder, name).write_text(text, encoding="utf-8")
    for name, config in request.get("models", {}).items():
        _inside(folder, f"{name}/config.json").write_text(json.dumps(config), encoding="utf-8")


def _inside(folder: Path, name: str) -> Path:
    path = (folder / name).resolve()
    if not path.is_relative_to(folder.resolve()):
        raise HarnessError(f"the name {name!r} leads out of the request's folder")
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def listed(adapter: Adapter) -> dict[str, Any]:
    """What the release registers: its parser's options, and the members of its objects and registries."""
    with contextlib.redirect_stdout(io.StringIO()):
        members = {
            scope: [{"name": row["name"], **(defaulted(row["default"]) if "default" in row else {})} for row in rows]
            for scope, rows in adapter.members().items()
        }
        return {"options": option_rows(adapter.parser()), "members": members}


def ask(adapter: Adapter, request: dict[str, Any]) -> dict[str, Any]:
    """The engine's answer to one request, in this process."""
    os.environ.update(request.get("env", {}))
    sys.argv = list(request["argv"])
    grab, errors = Warnings(), io.StringIO()
    for name in (adapter.package, ""):
        logging.getLogger(name or None).addHandler(grab)
    answer: dict[str, Any] = {"verdict": "accepts", "stage": "parse", "exception": None, "message": "", "where": ""}
    effective: dict[str, Any] = {}
    try:
        with contextlib.redirect_stderr(errors), contextlib.redirect_stdout(io.StringIO()):
            parsed = adapter.parse(request["argv"])
            effective = {"parsed": adapter.changed(parsed)}
            if request.get("until", "config") == "config":
                answer["stage"] = "config"
                effective |= adapter.configure(parsed)
    except SystemExit as stop:
        if stop.code:
            lines = errors.getvalue().strip().splitlines() or [str(stop.code)]
            answer |= {"verdict": "rejects", "exception": "SystemExit", "message": lines[-1][:MESSAGE_LIMIT]}
    except HarnessError as error:
        return {"harness": str(error)}
    except Exception as error:  # noqa: BLE001 (whatever an engine raises is the answer)
        answer |= described(error, adapter)
    if "harness" in answer:
        return {"harness": answer["harness"], "modules": sorted(sys.modules)}
    shown = {key: plain(value) for key, value in effective.items()}
    return answer | {"effective": shown, "warnings": grab.messages, "modules": sorted(sys.modules)}


def described(error: Exception, adapter: Adapter) -> dict[str, Any]:
    """An exception as an answer: a refusal, an accident, or a fault of this environment."""
    frames = traceback.extract_tb(error.__traceback__)
    inner = frames[-1]
    where = f"{inner.filename.rpartition('site-packages/')[2].rpartition('sources/')[2]}:{inner.lineno}"
    message = str(error)
    if "validation error" in message.partition("\n")[0]:
        message = message.partition("\n")[2].partition(" [type=")[0]
    name = type(error).__name__
    if isinstance(error, ModuleNotFoundError) and error.name and error.name.partition(".")[0] != adapter.package:
        return {"harness": f"the environment lacks the module {error.name} ({where})"}
    if isinstance(error, OSError):
        return {"harness": f"a file or model config is missing: {name}: {message[:MESSAGE_LIMIT]} ({where})"}
    verdict = "rejects" if isinstance(error, DELIBERATE) else "crashes"
    return {"verdict": verdict, "exception": name, "message": " ".join(message.split())[:MESSAGE_LIMIT], "where": where}


def forked(adapter: Adapter, request: dict[str, Any], limit: float) -> dict[str, Any]:
    """The answer of a child process, which is ended at the time limit."""
    with tempfile.TemporaryDirectory(prefix="specconf-ask-") as folder:
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading)
            _answer_and_exit(adapter, request, Path(folder), writing)
        os.close(writing)
        data = _read_until(reading, time.monotonic() + limit)
        os.close(reading)
        if data is None:
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
    if data is None:
        return {"harness": f"no answer within {limit:g} s"}
    if not data:
        number = os.waitstatus_to_exitcode(status)
        return {"verdict": "crashes", "stage": "config", "exception": "exit", "message": f"process ended with {number}"}
    answer: dict[str, Any] = json.loads(data)
    import_ahead(adapter, answer.pop("modules", []))
    return answer


def import_ahead(adapter: Adapter, modules: list[str]) -> None:
    """Import what a child had to import, so that the next child need not."""
    for name in modules:
        if name.partition(".")[0] not in {adapter.package, "transformers", "torch"} or name in sys.modules:
            continue
        try:
            importlib.import_module(name)
        except Exception as error:  # noqa: BLE001 (the child imported it in another order; the next child will again)
            log.warning("not imported ahead: %s: %r", name, error)


def _answer_and_exit(adapter: Adapter, request: dict[str, Any], folder: Path, writing: int) -> None:
    try:
        try:
            lay_out(request, folder)
            os.chdir(folder)
            answer = listed(adapter) if request.get("list") else ask(adapter, request)
        except Exception as error:  # noqa: BLE001 (the parent must hear of it)
            answer = {"harness": f"{type(error).__name__}: {error}"[:MESSAGE_LIMIT]}
        with os.fdopen(writing, "w") as pipe:
            json.dump(answer, pipe)
    finally:
        os._exit(0)


def _read_until(reading: int, deadline: float) -> bytes | None:
    """All that is written to a pipe; None when it is not closed by the deadline."""
    data = b""
    while True:
        ready, _, _ = select.select([reading], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            return None
        chunk = os.read(reading, 65536)
        if not chunk:
            return data
        data += chunk


def option_rows(parser: argparse.ArgumentParser) -> list[dict[str, Any]]:
    """The options a parser registers, as data. Spellings are those it takes, which are more than those in its help."""
    spellings: dict[int, list[str]] = {}
    for spelling, action in parser._option_string_actions.items():  # argparse has no public way to list them
        spellings.setdefault(id(action), []).append(spelling)
    return [option_row(parser, action, spellings.get(id(action), [])) for action in parser._actions]


def option_row(parser: argparse.ArgumentParser, action: argparse.Action, names: list[str]) -> dict[str, Any]:
    """One option. A default that is text is read as an argument, as argparse reads it."""
    kind, default = action.type, action.default
    if isinstance(default, str) and default != argparse.SUPPRESS:
        default = parser._get_value(action, default)
    marked = getattr(parser, "_deprecated", set())  # vLLM keeps them so before Python 3.13
    return defaulted(default) | {
        "names": names,
        "dest": action.dest,
        "nargs": action.nargs,
        "type": None if kind is None else getattr(kind, "__name__", repr(kind)),
        "choices": None if action.choices is None else [plain(choice) for choice in action.choices],
        "const": plain(action.const),
        "action": type(action).__name__,
        "required": action.required,
        "deprecated": action in marked or getattr(action, "deprecated", False) or "Deprecated" in type(action).__name__,
        "stores": {name: stored(parser, action, name) for name in names} if action.nargs in (0, "?") else {},
    }


def stored(parser: argparse.ArgumentParser, action: argparse.Action, name: str) -> dict[str, Any] | None:
    """What an option stores when it is given alone; None when the launch stops at it."""
    namespace = argparse.Namespace()
    values = parser._get_values(action, [])
    try:
        with contextlib.redirect_stderr(io.StringIO()):
            action(parser, namespace, values, name)
    except (argparse.ArgumentError, ValueError, SystemExit):
        return None
    return {dest: plain(value) for dest, value in vars(namespace).items()}


def serve(adapter: Adapter, requests: TextIO, answers: TextIO, limit: float) -> None:
    """Answer requests until there are no more."""
    for line in requests:
        if not line.strip():
            continue
        request = json.loads(line)
        answers.write(json.dumps(forked(adapter, request, float(request.get("limit", limit)))) + "\n")
        answers.flush()


def main() -> int:
    """Command line: serve requests, or dump the parser's options."""
    options = argparse.ArgumentParser()
    options.add_argument("engine", choices=sorted(MODULES))
    options.add_argument("--limit", type=float, default=120.0, help="seconds for one answer")
    options.add_argument("--options", type=Path, help="write the parser's options there and stop")
    chosen = options.parse_args()
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what an engine prints while it is imported must not look like an answer
    began = time.monotonic()
    adapter: Adapter = importlib.import_module(MODULES[chosen.engine]).Adapter()
    adapter.warm()
    if chosen.options:
        chosen.options.write_text(json.dumps(option_rows(adapter.parser()), indent=1) + "\n")
        return 0
    seconds = round(time.monotonic() - began, 1)
    ready = {"ready": chosen.engine, "version": adapter.version, "seconds": seconds, "standins": adapter.standins()}
    answers.write(json.dumps(ready) + "\n")
    answers.flush()
    serve(adapter, sys.stdin, answers, chosen.limit)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
