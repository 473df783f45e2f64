"""Runs inside an engine's environment and asks its own code: a JSON request a line in, a JSON answer a line out.

Request: `{"argv": [...], "env": {...}, "files": {name: text}, "models": {name: config}, "until": "parse" | "config"}`,
or `{"list": true}`, which is answered by `{"options": [...], "members": {scope: [...]}}`: what the release's own parser
registers, and the members of the objects and registries that it declares.
Files and models (their config.json) are laid into an empty folder that is the working directory, so the names in argv
find them. Answer: `{"verdict": "accepts" | "rejects" | "crashes", "stage", "exception", "message", "where",
"effective", "warnings", "seconds"}`, or `{"harness": why}` when the question could not be put. Each request is answered
by a forked child with a time limit, so nothing that an engine leaves behind reaches the next one.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import importlib
import io
import json
import logging
import os
import select
import signal
import sys
import sysconfig
import tempfile
import time
import traceback
from pathlib import Path
from typing import Any, TextIO

from specconf.oracle.worker.listing import listed, plain
from specconf.oracle.worker.protocol import MESSAGE_LIMIT, Adapter, HarnessError

log = logging.getLogger("specconf.worker")

# Code of these packages runs on its caller's behalf: what it raises is the caller's doing.
STANDARD = "the standard library"
ON_BEHALF = frozenset({STANDARD, "pydantic", "pydantic_core", "pydantic_settings"})
STANDARD_FOLDERS = tuple({sysconfig.get_path(name) + os.sep for name in ("stdlib", "platstdlib")})

# Written for the user, as engines do it; any other exception is an accident of the engine's code.
DELIBERATE = (ValueError, AssertionError, NotImplementedError, RuntimeError, ImportError, argparse.ArgumentError)


class Warnings(logging.Handler):
    """Keeps what an engine logs from WARNING up."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.messages: list[str] = []
        self._last: logging.LogRecord | None = None

    def emit(self, record: logging.LogRecord) -> None:
        if record is not self._last:  # the same record comes again from the root logger
            self.messages.append(record.getMessage()[:MESSAGE_LIMIT])
        self._last = record


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
        if not stop.code:
            return {"harness": "the engine ended without an error, as for --help or --version"}
        lines = errors.getvalue().strip().splitlines() or [str(stop.code)]
        answer |= {
            "verdict": "rejects",
            "exception": "SystemExit",
            "message": without_folder(lines[-1])[:MESSAGE_LIMIT],
        }
    except HarnessError as error:
        return {"harness": str(error)}
    except Exception as error:
        answer |= described(error, adapter)
    if "harness" in answer:
        return {"harness": answer["harness"], "modules": sorted(sys.modules)}
    shown = {key: plain(value) for key, value in effective.items()}
    return answer | {"effective": shown, "warnings": grab.messages, "modules": sorted(sys.modules)}


def described(error: Exception, adapter: Adapter) -> dict[str, Any]:
    """An exception as an answer: a refusal, an accident, or a fault of this environment."""
    owner, where = blamed(traceback.extract_tb(error.__traceback__), adapter.package)
    message = " ".join(without_folder(said(error)).split())[:MESSAGE_LIMIT]
    name = type(error).__name__
    if isinstance(error, ModuleNotFoundError) and error.name and error.name.partition(".")[0] != adapter.package:
        return {"harness": f"the environment lacks the module {error.name} ({where})"}
    if isinstance(error, OSError):
        return {"harness": f"a file or model config is missing: {name}: {message} ({where})"}
    if owner != adapter.package and not isinstance(error, argparse.ArgumentError):
        return {"harness": f"raised by {owner}, not by {adapter.package}: {name}: {message} ({where})"}
    verdict = "rejects" if isinstance(error, DELIBERATE) else "crashes"
    return {"verdict": verdict, "exception": name, "message": message, "where": where}


def without_folder(text: str) -> str:
    """A message without the folder of the question, which has another name every time."""
    return text.replace(os.getcwd() + os.sep, "")  # noqa: PTH109 (a text is wanted)


def said(error: Exception) -> str:
    """What an exception says; of pydantic's the first error alone."""
    message = str(error)
    if "validation error" in message.partition("\n")[0]:
        return message.partition("\n")[2].partition(" [type=")[0]
    return message


def blamed(frames: traceback.StackSummary, package: str) -> tuple[str, str]:
    """Whose code raised: the package, and file and line, of the innermost frame that acts on its own behalf."""
    for frame in reversed(frames):
        owner, name = package_of(frame.filename, package)
        if owner not in ON_BEHALF:
            return owner, f"{name}:{frame.lineno}"
    return "nobody", ""


def package_of(filename: str, package: str) -> tuple[str, str]:
    """The top package a file belongs to, and its name from there on. `package`, the engine's, may lie anywhere."""
    for folder in getattr(sys.modules.get(package), "__path__", ()):
        if filename.startswith(folder + os.sep):
            return package, f"{package}{filename.removeprefix(folder)}"
    for root in ("site-packages", "dist-packages", "sources"):
        _, found, rest = filename.rpartition(f"{os.sep}{root}{os.sep}")
        if found:
            return rest.partition(os.sep)[0].removesuffix(".py"), rest
    if filename.startswith(("<", *STANDARD_FOLDERS)):
        return STANDARD, filename
    return "specconf", filename.rpartition(os.sep)[2]  # an adapter, or a stand-in


def forked(adapter: Adapter, request: dict[str, Any], limit: float) -> dict[str, Any]:
    """The answer of a child process, which is ended at the time limit."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="specconf-ask-") as folder:
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading)
            os.setpgid(0, 0)  # what it starts ends with it
            _answer_and_exit(adapter, request, Path(folder), writing)
        os.close(writing)
        data = _read_until(reading, began + limit)
        os.close(reading)
        if data is None:
            _end(child)
        _, status = os.waitpid(child, 0)
    if data is None:
        return {"harness": f"no answer within {limit:g} s"}
    if not data:
        return {"harness": f"the process ended with {os.waitstatus_to_exitcode(status)} before it could answer"}
    answer: dict[str, Any] = json.loads(data)
    answer["seconds"] = round(time.monotonic() - began, 3)
    if import_ahead(adapter, answer.pop("modules", [])):
        settle()
    return answer


def _end(child: int) -> None:
    """End a child with all that it started; alone where it was ended before it had a group of its own."""
    try:
        os.killpg(child, signal.SIGKILL)
    except ProcessLookupError:
        os.kill(child, signal.SIGKILL)


def settle() -> None:
    """Take all that is loaded out of the collector's sight: a child that walked it would copy every page it shares."""
    gc.collect()
    gc.freeze()


def import_ahead(adapter: Adapter, modules: list[str]) -> bool:
    """Import what a child had to import, so that the next child need not; true where something was."""
    known = len(sys.modules)
    for name in modules:
        if name.partition(".")[0] not in {adapter.package, "transformers", "torch"} or name in sys.modules:
            continue
        try:
            importlib.import_module(name)
        except Exception as error:
            log.warning("not imported ahead: %s: %r", name, error)
    return len(sys.modules) > known


def _answer_and_exit(adapter: Adapter, request: dict[str, Any], folder: Path, writing: int) -> None:
    try:
        try:
            _close_input()
            lay_out(request, folder)
            os.chdir(folder)
            answer = listed(adapter) if request.get("list") else ask(adapter, request)
        except Exception as error:
            answer = {"harness": f"{type(error).__name__}: {error}"[:MESSAGE_LIMIT]}
        with os.fdopen(writing, "w") as pipe:
            json.dump(answer, pipe)
    finally:
        os._exit(0)


def _close_input() -> None:
    """Nobody answers a question that an engine asks on standard input, and the requests that wait there are not for it."""
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115, PTH123 (closed with the child)


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


def serve(adapter: Adapter, requests: TextIO, answers: TextIO, limit: float) -> None:
    """Answer requests until there are no more."""
    for line in requests:
        if not line.strip():
            continue
        request = json.loads(line)
        answers.write(json.dumps(forked(adapter, request, float(request.get("limit", limit)))) + "\n")
        answers.flush()


def main(module: str) -> int:
    """Serve requests with the adapter that a module holds."""
    options = argparse.ArgumentParser()
    options.add_argument("--limit", type=float, default=120.0, help="seconds for one answer")
    chosen = options.parse_args()
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what an engine prints while it is imported must not look like an answer
    began = time.monotonic()
    adapter: Adapter = importlib.import_module(module).Adapter()
    adapter.warm()
    seconds = round(time.monotonic() - began, 1)
    ready = {
        "package": adapter.package,
        "version": adapter.version,
        "platform": adapter.platform(),
        "seconds": seconds,
        "standins": adapter.standins(),
        "python": sys.version.partition(" ")[0],
        "versions": versions(),
    }
    answers.write(json.dumps(ready) + "\n")
    answers.flush()
    settle()
    serve(adapter, sys.stdin, answers, chosen.limit)
    return 0


def versions() -> dict[str, str]:
    """The versions of the packages that a verdict may depend on."""
    from importlib.metadata import PackageNotFoundError, version

    found = {}
    for name in ("torch", "transformers", "pydantic"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
