"""Runs inside an engine's environment and asks its own code: a JSON request a line in, a JSON answer a line out.

Request: `{"argv": [...], "env": {...}, "files": {name: text}, "models": {name: config}, "until": "parse" | "config"}`,
or `{"list": true}`, which is answered by `{"options": [...], "members": {scope: [...]}}`: what the release's own parser
registers, and the members of the objects and registries that it declares.
Files and models (their config.json) are laid into an empty folder that is the working directory, so the names in argv
find them. Answer: `{"verdict": "accepts" | "rejects" | "crashes", "stage", "exception", "message", "where",
"effective", "warnings", "seconds"}`, or `{"harness": why}` when the question could not be put. Each request is answered
by a child with a time limit (`child.py`), so nothing that an engine leaves behind reaches the next one.
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
import sys
import time
from pathlib import Path
from typing import Any, TextIO

from specconf.oracle.worker.blame import described, exited
from specconf.oracle.worker.child import answer_in_child, unwind_when_ended
from specconf.oracle.worker.laying import write_below
from specconf.oracle.worker.listing import listed, plain
from specconf.oracle.worker.protocol import MESSAGE_LIMIT, Adapter, HarnessError, sayable

log = logging.getLogger("specconf.worker")


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
        answer |= exited(stop, errors.getvalue(), adapter)
    except HarnessError as error:
        return {"harness": str(error)}
    except Exception as error:
        answer |= described(error, adapter)
    if "harness" in answer:
        return {"harness": answer["harness"], "modules": sorted(sys.modules)}
    shown = {key: plain(value) for key, value in effective.items()}
    return answer | {"effective": shown, "warnings": grab.messages, "modules": sorted(sys.modules)}


def lay_out(request: dict[str, Any], folder: Path) -> None:
    """Write the request's files and model configs below the folder."""
    configs = {f"{name}/config.json": json.dumps(config) for name, config in request.get("models", {}).items()}
    write_below(folder, request.get("files", {}) | configs)


def answered(adapter: Adapter, request: dict[str, Any], limit: float) -> dict[str, Any]:
    """The answer of a child process, and what it cost; what it had to import is imported here for the next one."""

    def work() -> dict[str, Any]:
        lay_out(request, Path())
        return listed(adapter) if request.get("list") else ask(adapter, request)

    began = time.monotonic()
    answer = answer_in_child(work, limit)
    answer["seconds"] = round(time.monotonic() - began, 3)
    if import_ahead(adapter, answer.pop("modules", [])):
        settle()
    return answer


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


def serve(adapter: Adapter, requests: TextIO, answers: TextIO, limit: float) -> None:
    """Answer requests until there are no more."""
    for line in requests:
        if not line.strip():
            continue
        request = json.loads(line)
        answers.write(json.dumps(answered(adapter, request, float(request.get("limit", limit)))) + "\n")
        answers.flush()


def main(module: str) -> int:
    """Serve requests with the adapter that a module holds."""
    options = argparse.ArgumentParser()
    options.add_argument("--limit", type=float, default=120.0, help="seconds for one answer")
    chosen = options.parse_args()
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    unwind_when_ended()
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
    answers.write(json.dumps(sayable(ready)) + "\n")
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
