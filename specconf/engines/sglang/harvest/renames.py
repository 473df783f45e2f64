"""Destination paths that the engine renamed: a row keeps one path over all releases, the newest.

A rename shows in the sources themselves: the same flag, taking the same words, writes another field from some release
on, the old field has no flag any more, and the two never had flags side by side. A flag that from then on writes a
constant into another option is not a rename.
"""

from collections.abc import Mapping, Sequence
from typing import Any

Row = dict[str, Any]


def renames(per_release: Mapping[str, Sequence[Row]], order: Sequence[str]) -> dict[str, str]:
    """Old path to newest path."""
    writers = [_writers(per_release[release]) for release in order if release in per_release]
    steps: dict[str, str] = {}
    current: dict[str, tuple[str, str]] = {}
    for position, flags in enumerate(writers):
        for flag, (path, kind) in flags.items():
            old, old_kind = current.get(flag, (path, kind))
            if old == path or old_kind != kind or _used(old, writers[position:]):
                continue
            if not any(_used(old, [earlier]) and _used(path, [earlier]) for earlier in writers[:position]):
                steps[old] = path
        current.update(flags)
    return {old: _newest(old, steps) for old in steps}


def apply_renames(rows: Sequence[Row], newest: Mapping[str, str]) -> list[Row]:
    """The rows with renamed paths replaced."""
    return [
        {**row, "path": newest.get(row["path"], row["path"])} if row["scope"] == "sglang.cli" else row for row in rows
    ]


def _writers(rows: Sequence[Row]) -> dict[str, tuple[str, str]]:
    """Every flag with the path it writes and how it is written; flags that write a constant are left out."""
    found: dict[str, tuple[str, str]] = {}
    for row in rows:
        if row["scope"] == "sglang.cli" and row.get("const", True) is True:
            found.update(dict.fromkeys(row["names"], (row["path"], row["kind"])))
    return found


def _used(path: str, releases: Sequence[Mapping[str, tuple[str, str]]]) -> bool:
    """Whether some flag writes the path in one of these releases."""
    return any(path == written for flags in releases for written, _ in flags.values())


def _newest(path: str, steps: Mapping[str, str]) -> str:
    """Follow the renames to their end."""
    seen = {path}
    while path in steps and steps[path] not in seen:
        path = steps[path]
        seen.add(path)
    return path
