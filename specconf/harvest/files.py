"""The harvested files of one engine: read, brought up to date with newly read releases, and written atomically."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packaging.version import Version

from specconf.errors import HarvestError
from specconf.harvest.harvester import KINDS, Harvested, Harvester, joined, json_lines, spread
from specconf.harvest.intervals import Row

RELEASES = "releases"


@dataclass(frozen=True)
class ReadRelease:
    """One release that was read: its line in `releases.jsonl`, and its rows."""

    listed: Row
    harvested: Harvested

    @property
    def version(self) -> str:
        """The release's name."""
        return str(self.listed["version"])


@dataclass(frozen=True)
class HarvestedFiles:
    """The rows of the files below `harvested/`, by the files' names without their ending."""

    releases: list[Row]
    rows: Mapping[str, list[Row]]

    @property
    def order(self) -> list[str]:
        """The releases that the rows speak of, oldest first."""
        return [row["version"] for row in self.releases]


def load(folder: Path) -> HarvestedFiles:
    """The files as they are; an absent one has no rows."""
    return HarvestedFiles(
        _rows(folder / f"{RELEASES}.jsonl"), {kind: _rows(folder / f"{kind}.jsonl") for kind in KINDS}
    )


def _rows(path: Path) -> list[Row]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
        return [json.loads(line) for line in lines]
    except (OSError, ValueError) as error:
        raise HarvestError(f"{path} cannot be read: {error}") from error


def with_predecessors(wanted: Iterable[str], known: Sequence[str]) -> list[str]:
    """The releases to read so that `wanted` can be put among the `known` ones, oldest first.

    A row keeps the evidence of the last release of an unbroken run. A release read anew inside a run may end it there, so
    that the release before it becomes a last one, whose evidence was not kept: it is read, too.
    """
    order = sorted({*known, *wanted}, key=Version)
    places = {release: place for place, release in enumerate(order)}
    needed = set(wanted)
    for release in list(needed):
        place = places[release]
        if 0 < place < len(order) - 1:
            needed.add(order[place - 1])
    return [release for release in order if release in needed]


def updated(harvester: Harvester, files: HarvestedFiles, read: Iterable[ReadRelease]) -> HarvestedFiles:
    """The files with these releases added, or in place of what was there: as if all had been read together.

    That is so where `with_predecessors` was followed.
    """
    fresh = {release.version: release for release in read}
    listed = {row["version"]: row for row in files.releases} | {name: r.listed for name, r in fresh.items()}
    order = sorted(listed, key=Version)
    rows: dict[str, list[Row]] = {}
    for kind in KINDS:
        known = spread(files.rows.get(kind, ()), files.order)
        kept = {release: found for release, found in known.items() if release not in fresh}
        rows[kind] = joined(harvester, kind, kept | {name: r.harvested.rows(kind) for name, r in fresh.items()}, order)
    return HarvestedFiles([listed[name] for name in order], rows)


def write(folder: Path, files: HarvestedFiles) -> list[Path]:
    """Write the files that changed, each atomically; returns them."""
    contents = {RELEASES: files.releases, **files.rows}
    changed = []
    for name, rows in contents.items():
        path, text = folder / f"{name}.jsonl", json_lines(rows)
        before = path.read_text(encoding="utf-8") if path.is_file() else ""
        if text != before:
            _replace(path, text)
            changed.append(path)
    return changed


def _replace(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
        stream.write(text)
    Path(name).chmod(0o644)
    Path(name).replace(path)


def changed_rows(before: Sequence[Mapping[str, Any]], after: Sequence[Mapping[str, Any]]) -> tuple[int, int]:
    """How many rows are new or different, and how many are gone or different."""
    old, new = ({json.dumps(row, sort_keys=True) for row in rows} for rows in (before, after))
    return len(new - old), len(old - new)
