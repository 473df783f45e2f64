"""What a line of an observed file must say to be an observation: checked when it is read, and before it is written.

Nothing is made of the lines here (`specconf.verify.observed`). Every DatabaseError names the file and the line.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from specconf.errors import DatabaseError
from specconf.findings import Stage
from specconf.oracle.asking import Verdict

# What a header must say: without them nobody knows what was asked.
_PROVEN = ("engine", "release", "archive", "sha256", "torch", "python")
_SHA256 = re.compile(r"[0-9a-f]{64}")
# A launch comes to these by being started for real, and by nothing else.
STARTED = frozenset({"load", "request"})
LOADED = "load "


def is_sha256(value: Any) -> bool:
    """Whether a value is the SHA-256 of something, as it is written."""
    return isinstance(value, str) and _SHA256.fullmatch(value) is not None


def check_header(line: Mapping[str, Any], place: str, *, engine: str, release: str) -> None:
    """Refuse a first row that does not say what ran, or says it of another engine or release than its file's name."""
    said = {**line, "torch": (line.get("versions") or {}).get("torch")}
    if missing := [name for name in _PROVEN if not said.get(name)]:
        raise DatabaseError(f"{place}: it does not say what ran: {', '.join(missing)}.")
    if (line["engine"], line["release"]) != (engine, release):
        raise DatabaseError(
            f"{place}: it is about {line['engine']} {line['release']}, its file about {engine} {release}."
        )
    hashes = {"sha256": line["sha256"]}
    if line.get("loaded"):
        hashes["loaded.sha256"] = line["loaded"].get("sha256")
    for name, value in hashes.items():
        if not is_sha256(value):
            raise DatabaseError(f"{place}: {name} is no SHA-256 of 64 hexadecimal digits: {value!r}.")


def check_row(line: Mapping[str, Any], place: str, *, wheel: bool) -> None:
    """Refuse a row that is no answer. `wheel`: the header names what loaded launches that were started for real."""
    launch, origins = line.get("launch"), line.get("origins")
    if not isinstance(launch, str) or not launch:
        raise DatabaseError(f"{place}: it names no launch.")
    if not isinstance(origins, list) or not origins or not all(isinstance(each, str) for each in origins):
        raise DatabaseError(f"{place}: it does not say where the launch is from.")
    loaded = any(each.startswith(LOADED) for each in origins)
    if (loaded or line.get("stage") in STARTED) and not wheel:
        raise DatabaseError(f"{place}: it was loaded, and the header names no wheel that loaded it.")
    if "unanswered" in line:
        _check_unanswered(line, place)
        return
    if line.get("verdict") not in tuple(Verdict):
        raise DatabaseError(f"{place}: {line.get('verdict')!r} is no verdict; there are {', '.join(Verdict)}.")
    if line.get("stage") not in tuple(Stage):
        raise DatabaseError(f"{place}: {line.get('stage')!r} is no stage; there are {', '.join(Stage)}.")
    if line["stage"] in STARTED and not loaded:
        raise DatabaseError(
            f"{place}: it came to stage {line['stage']}, and no origin says that it was started for real."
        )
    if line["verdict"] != Verdict.ACCEPTS and not line.get("exception"):
        raise DatabaseError(f"{place}: it {line['verdict']} and names no exception.")


def _check_unanswered(line: Mapping[str, Any], place: str) -> None:
    if not isinstance(line["unanswered"], str) or not line["unanswered"]:
        raise DatabaseError(f"{place}: it has no answer and names no class of such questions.")
    if told := [name for name in ("verdict", "stage", "exception", "values") if name in line]:
        raise DatabaseError(f"{place}: it has no answer, and says one: {', '.join(told)}.")
