"""A baseline: findings that were there when a project began to use specconf, and that are not told until they are gone.

An entry is a file, a launch in it, and what was found there. Line numbers are no part of it, so that it holds while files
move about. Paths are relative to the baseline's own folder.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct, field
from msgspec.structs import astuple, replace

from specconf.errors import InputError
from specconf.findings import Finding
from specconf.lint.keys import launch_keys
from specconf.lint.results import FileResult, Judged
from specconf.lint.skipping import BASELINE_MARK
from specconf.lint.suppress import Suppressed, SuppressedBy

VERSION = 1
_MARK = BASELINE_MARK.decode().strip('"')
_HINT = "Write it anew with --write-baseline."


class Entry(Struct, frozen=True, order=True):
    """What is known of one finding; how often it occurs is counted beside it."""

    path: str
    launch: str
    code: str
    constraint: str = ""
    option: str = ""

    def __str__(self) -> str:
        what = " ".join(part for part in (self.code, self.constraint or self.option) if part)
        return f"{self.path}: {what}{f' of {self.launch}' if self.launch else ''}"


class Baseline(Struct):
    """The entries of a file, each with how often it may still occur."""

    folder: Path
    left: Counter[Entry] = field(default_factory=Counter)

    def apply(self, results: Sequence[FileResult]) -> list[Entry]:
        """Take out of results what the baseline holds; the entries that no longer occur.

        Of a file that was not looked at nothing is known, unless it is gone.
        """
        for result in results:
            self._apply(result)
        seen = {_relative(result.path, self.folder) for result in results}
        gone = [entry for entry, number in sorted(self.left.items()) if number > 0]
        return [entry for entry in gone if entry.path in seen or not (self.folder / entry.path).exists()]

    def _apply(self, result: FileResult) -> None:
        result.findings = self._kept(result, "", result.findings)
        keys = launch_keys(judged.read for judged in result.launches)
        result.launches = [
            replace(judged, findings=tuple(self._kept(result, key, judged.findings)))
            for judged, key in zip(result.launches, keys, strict=True)
        ]

    def _kept(self, result: FileResult, launch: str, findings: Iterable[Finding]) -> list[Finding]:
        kept = []
        for finding in findings:
            entry = _entry(_relative(result.path, self.folder), launch, finding)
            if self.left[entry] > 0:
                self.left[entry] -= 1
                result.suppressed.append(Suppressed(finding, launch, SuppressedBy.BASELINE))
            else:
                kept.append(finding)
        return kept


def read_baseline(path: Path) -> Baseline:
    """The baseline in a file. InputError for one that is missing, unreadable, or something else."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise InputError(f"{path}: the baseline cannot be read: {why}.", hint=_HINT) from None
    except (ValueError, RecursionError):
        raise InputError(f"{path}: the baseline is no JSON text.", hint=_HINT) from None
    if not isinstance(data, dict) or _MARK not in data:
        raise InputError(f"{path}: this JSON file is no baseline of specconf.", hint=_HINT)
    if data[_MARK] != VERSION or not isinstance(data.get("findings"), list):
        raise InputError(f"{path}: a baseline of another version of specconf ({data[_MARK]!r}).", hint=_HINT)
    found: Counter[Entry] = Counter()
    for row in data["findings"]:
        entry, number = _read_row(row, path)
        found[entry] += number
    return Baseline(path.absolute().parent, found)


def _read_row(row: Any, path: Path) -> tuple[Entry, int]:
    names = ("path", "launch", "code", "constraint", "option")
    if isinstance(row, dict):
        values = [row.get(name, "") for name in names]
        number = row.get("count", 1)
        counted = isinstance(number, int) and not isinstance(number, bool) and number > 0
        if all(isinstance(value, str) for value in values) and values[0] and values[2] and counted:
            return Entry(*values), number
    raise InputError(f"{path}: {json.dumps(row)[:200]} is no entry of a baseline.", hint=_HINT)


def baseline_text(results: Iterable[FileResult], folder: Path) -> tuple[str, int]:
    """A baseline that holds all that results tell, for a file in `folder`; and how many findings that are."""
    found: Counter[Entry] = Counter()
    for result in results:
        path = _relative(result.path, folder)
        found.update(_entry(path, "", finding) for finding in result.findings)
        keys = launch_keys(judged.read for judged in result.launches)
        for judged, key in zip(result.launches, keys, strict=True):
            found.update(_of_launch(path, key, judged))
    names = ("path", "launch", "code", "constraint", "option")
    rows = []
    for entry, number in sorted(found.items()):
        row: dict[str, str | int] = {name: text for name, text in zip(names, astuple(entry), strict=True) if text}
        rows.append(row | ({"count": number} if number > 1 else {}))
    return json.dumps({_MARK: VERSION, "findings": rows}, indent=1) + "\n", found.total()


def _of_launch(path: str, key: str, judged: Judged) -> Iterable[Entry]:
    return (_entry(path, key, finding) for finding in judged.findings)


def _entry(path: str, launch: str, finding: Finding) -> Entry:
    return Entry(path, launch, finding.code, finding.constraint, finding.option)


def _relative(path: str, folder: Path) -> str:
    if path == "-":
        return path
    return os.path.relpath(Path(path).absolute(), folder.absolute()).replace(os.sep, "/")
