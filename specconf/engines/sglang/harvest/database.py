"""The harvested files of SGLang: every known release is read, and the rows are joined into ranges and written.

`releases.jsonl` is both input (which releases there are, and their dates) and output; `options.jsonl` follows from it
and from the wheels alone, so that writing it again gives the same bytes.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from packaging.version import Version

from specconf.engines.sglang.harvest.assemble import parser_surprises, rows_of
from specconf.engines.sglang.harvest.fetch import ensure
from specconf.engines.sglang.harvest.release import Release
from specconf.engines.sglang.harvest.renames import apply_renames, renames
from specconf.harvest.intervals import merge_rows

Row = dict[str, Any]

RELEASES = "releases.jsonl"
OPTIONS = "options.jsonl"


def read_releases(folder: Path) -> list[Row]:
    """The known releases, oldest first."""
    lines = (folder / RELEASES).read_text(encoding="utf-8").splitlines()
    return by_version(json.loads(line) for line in lines)


def by_version(releases: Iterable[Row]) -> list[Row]:
    """The releases in the order of their versions."""
    return sorted(releases, key=lambda release: Version(release["version"]))


def with_release(releases: Sequence[Row], version: str, date: str | None) -> list[Row]:
    """The list with one more release, or with its date filled in."""
    others = [release for release in releases if release["version"] != version]
    return by_version([*others, {"date": date, "source": "wheel", "version": version}])


def harvest_release(cache: Path, version: str, note: Callable[[str], None]) -> list[Row]:
    """All rows of one release; what its sources declare but this reader cannot settle is told to `note`."""
    release = Release.read(ensure(cache, version), version)
    rows = rows_of(release)
    for surprise in parser_surprises(release):
        note(f"{version}: {surprise}")
    for unread in dict.fromkeys(release.unread):
        note(f"{version}: {unread}")
    return rows


def options(per_release: Mapping[str, list[Row]], order: Sequence[str]) -> list[Row]:
    """The rows of all releases, joined; a field that was renamed has its newest path throughout.

    Of the rows of one path, the spelling to write comes before old spellings and the positional.
    """
    newest = renames(per_release, order)
    stable = {release: apply_renames(rows, newest) for release, rows in per_release.items()}
    merged = merge_rows(stable, order, row_key)
    return sorted(merged, key=lambda row: (row["scope"], row["path"], _secondary(row)))


def row_key(row: Row) -> tuple[str, ...]:
    """What a row is about: several flags can write one path, so its canonical spelling is part of the key."""
    return (row["scope"], row["path"], row["names"][0] if row["names"] else "")


def _secondary(row: Row) -> bool:
    """Whether a row is another way into an option that has a spelling of its own."""
    return bool(row.get("deprecated")) or not row["names"]


def write(folder: Path, name: str, rows: Iterable[Row]) -> None:
    """Write JSON lines with sorted keys."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text("".join(line(row) + "\n" for row in rows), encoding="utf-8")


def line(row: Row) -> str:
    """One row as one line."""
    return json.dumps(row, sort_keys=True, ensure_ascii=False)
