"""What an engine's exception comes to: a refusal, an accident, or a fault of the environment, inside which this runs."""

from __future__ import annotations

import argparse
import os
import sys
import sysconfig
import traceback
from pathlib import Path
from types import TracebackType
from typing import Any

from specconf.oracle.worker.meant import is_deliberate
from specconf.oracle.worker.protocol import MESSAGE_LIMIT, Adapter

# Code of these packages runs on its caller's behalf: what it raises is the caller's doing.
STANDARD = "the standard library"
ON_BEHALF = frozenset({STANDARD, "pydantic", "pydantic_core", "pydantic_settings"})
# The same of exits alone: they are its user's parser.
PARSERS = frozenset({"click"})
STANDARD_FOLDERS = tuple({sysconfig.get_path(name) + os.sep for name in ("stdlib", "platstdlib")})
SPECCONF = "specconf"
OWN_FOLDER = str(Path(__file__).resolve().parents[2]) + os.sep
NOBODY = "nobody"

# The last line of what pydantic says of an error.
FURTHER = "For further information visit "


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
    verdict = "rejects" if is_deliberate(error) else "crashes"
    return {"verdict": verdict, "exception": name, "message": message, "where": where}


def exited(stop: SystemExit, errors: str, adapter: Adapter) -> dict[str, Any]:
    """An exit as an answer, with what was written to standard error before it.

    The engine's verdict where its parser or its own code ended the process, or the adapter did, which ends where the
    engine's program would. That another package ended it says nothing.
    """
    if not stop.code:
        return {"harness": "the engine ended without an error, as for --help or --version"}
    message = without_folder(stop.code if isinstance(stop.code, str) else telling(errors) or str(stop.code))
    message = message.strip()[:MESSAGE_LIMIT]
    here = (adapter.package, SPECCONF, NOBODY, type(adapter).__module__.partition(".")[0])
    owner, where = who_exited(stop.__traceback__, adapter.package)
    if owner not in here:
        return {"harness": f"raised by {owner}, not by {adapter.package}: SystemExit: {message} ({where})"}
    told = where if owner == adapter.package else ""
    return {"verdict": "rejects", "exception": "SystemExit", "message": message, "where": told}


def who_exited(trace: TracebackType | None, package: str) -> tuple[str, str]:
    """Whose code exited. A parser does it for whoever had it parse, whatever its class and its actions are: at no place."""
    frames = [frame for frame, _ in traceback.walk_tb(trace)]
    parsing = [isinstance(frame.f_locals.get("self"), argparse.ArgumentParser) for frame in frames]
    summary = traceback.extract_tb(trace)
    if parsing and parsing[-1]:
        callers = traceback.StackSummary.from_list(summary[: parsing.index(True)])
        return blamed(callers, package, also=PARSERS)[0], ""
    return blamed(summary, package, also=PARSERS)


def telling(errors: str) -> str:
    """The line of an error output that says what is wrong: its last, but of pydantic's errors the first."""
    lines = [line for line in errors.strip().splitlines() if line.strip()]
    counted = [number for number, line in enumerate(lines) if "validation error" in line]
    if counted and any(line.lstrip().startswith(FURTHER) for line in lines[counted[-1] :]):
        first = " ".join(line.strip() for line in lines[counted[-1] + 1 : counted[-1] + 3])
        return first.partition(" [type=")[0]
    others = [line for line in lines if not line.lstrip().startswith(FURTHER)]
    return others[-1] if others else ""


def without_folder(text: str) -> str:
    """A message without the folder of the question, which has another name every time."""
    return text.replace(os.getcwd() + os.sep, "")  # noqa: PTH109 (a text is wanted)


def said(error: Exception) -> str:
    """What an exception says; of pydantic's the first error alone."""
    message = str(error)
    if "validation error" in message.partition("\n")[0]:
        return message.partition("\n")[2].partition(" [type=")[0]
    return message


def blamed(frames: traceback.StackSummary, package: str, also: frozenset[str] = frozenset()) -> tuple[str, str]:
    """Whose code raised: the package, and file and line, of the innermost frame that acts on its own behalf.

    `also`: packages that do not, beside those that never do.
    """
    for frame in reversed(frames):
        owner, name = package_of(frame.filename, package)
        if owner not in ON_BEHALF | also:
            return owner, f"{name}:{frame.lineno}"
    return NOBODY, ""


def package_of(filename: str, package: str) -> tuple[str, str]:
    """The top package a file belongs to, and its name from there on. `package`, the engine's, may lie anywhere."""
    for folder in getattr(sys.modules.get(package), "__path__", ()):
        if filename.startswith(folder + os.sep):
            return package, f"{package}{filename.removeprefix(folder)}"
    if filename.startswith(OWN_FOLDER):  # wherever that lies
        return SPECCONF, filename.rpartition(os.sep)[2]
    for root in ("site-packages", "dist-packages", "sources"):
        _, found, rest = filename.rpartition(f"{os.sep}{root}{os.sep}")
        if found:
            return rest.partition(os.sep)[0].removesuffix(".py"), rest
    if filename.startswith(("<", *STANDARD_FOLDERS)):
        return STANDARD, filename
    return SPECCONF, filename.rpartition(os.sep)[2]  # an adapter, or a stand-in
