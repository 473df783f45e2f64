"""The harvested files of one engine: read, brought up to date with newly read releases, compared, and written together."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec import Struct
from packaging.version import InvalidVersion, Version

from specconf.errors import HarvestError
from specconf.harvest.archive import writing
from specconf.harvest.harvester import KINDS, Harvested, Harvester, joined, json_lines, key_of, sizes, spread
from specconf.harvest.intervals import Key, Row

RELEASES = "releases"
OTHER_OUTPUT = "Name another folder to write into with --output DIR."
_ONE_STATE = "Restore the engine's four files from one state, or move them away and harvest every release again."


class ReadRelease(Struct, frozen=True):
    """One release that was read: its line in `releases.jsonl`, and its rows."""

    listed: Row
    harvested: Harvested

    @property
    def version(self) -> str:
        """The release's name."""
        return str(self.listed["version"])


class HarvestedFiles(Struct, frozen=True):
    """The rows of the files below `harvested/`, by the files' names without their ending."""

    releases: list[Row]
    rows: Mapping[str, list[Row]]

    @property
    def order(self) -> list[str]:
        """The releases that the rows speak of, oldest first."""
        return [row["version"] for row in self.releases]


def load(folder: Path) -> HarvestedFiles:
    """The files as they are; an absent one has no rows. Raises HarvestError for one that `write` cannot have written."""
    places = {kind: folder / f"{kind}.jsonl" for kind in (RELEASES, *KINDS)}
    rows = {kind: _rows(place) for kind, place in places.items()}
    known: set[str] = set()
    for line, row in enumerate(rows[RELEASES], 1):
        try:
            Version(row["version"])
        except (KeyError, TypeError, InvalidVersion):
            raise HarvestError(f"{places[RELEASES]}:{line} has no version of a release.", hint=_ONE_STATE) from None
        known.add(row["version"])
    for kind in KINDS:
        for line, row in enumerate(rows[kind], 1):
            if fault := _fault(row, known):
                raise HarvestError(f"{places[kind]}:{line} {fault}.", hint=_ONE_STATE)
    return HarvestedFiles(rows[RELEASES], {kind: rows[kind] for kind in KINDS})


def _fault(row: Row, known: set[str]) -> str:
    """What keeps a row from being spread over the known releases; empty when nothing does."""
    releases, evidence = row.get("releases"), row.get("evidence")
    if not isinstance(releases, list) or not isinstance(evidence, list) or len(releases) != len(evidence):
        return "does not have one entry of evidence for each of its ranges of releases"
    for bounds in releases:
        for bound in bounds.values() if isinstance(bounds, dict) else (bounds,):
            if not isinstance(bound, str) or bound not in known:
                return f"speaks of the release {bound}, which {RELEASES}.jsonl does not list"
    return ""


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def _rows(path: Path) -> list[Row]:
    try:
        rows = [json.loads(line) for line in _text(path).splitlines()]
    except (OSError, ValueError) as error:
        raise HarvestError(f"{path} cannot be read: {error}") from error
    if not all(isinstance(row, dict) for row in rows):
        raise HarvestError(f"{path} cannot be read: a line is no JSON object", hint=_ONE_STATE)
    return rows


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


def updated(
    harvester: Harvester, files: HarvestedFiles, read: Iterable[ReadRelease], *, anew: bool = False
) -> HarvestedFiles:
    """The files with these releases added, or in place of what was there: as if all had been read together.

    That is so where `with_predecessors` was followed. `anew`: no other release is kept.
    """
    fresh = {release.version: release for release in read}
    known = {row["version"]: row for row in files.releases}
    listed = {} if anew else dict(known)
    listed |= {name: _listed(known.get(name, {}), release.listed) for name, release in fresh.items()}
    order = sorted(listed, key=Version)
    rows: dict[str, list[Row]] = {}
    for kind in KINDS:
        before = {} if anew else spread(files.rows.get(kind, ()), files.order)
        kept = {release: found for release, found in before.items() if release not in fresh}
        rows[kind] = joined(harvester, kind, kept | {name: r.harvested.rows(kind) for name, r in fresh.items()}, order)
    return HarvestedFiles([listed[name] for name in order], rows)


def _listed(known: Row, read: Row) -> Row:
    """A release's line: what its new source says, with the date that is known where that does not have one.

    The same file under another name is listed as it was.
    """
    dated = read | {"date": read["date"] or known.get("date")}
    same = "sha256" in read and read["sha256"] == known.get("sha256")
    return known | {"date": dated["date"]} if same else dated


def shrunk(before: HarvestedFiles, after: HarvestedFiles) -> Iterator[str]:
    """Every known release that loses more than a third of its rows in a file, with what it had and would have."""
    for kind, rows in before.rows.items():
        had, has = sizes(rows, before.order), sizes(after.rows[kind], after.order)
        for release in before.order:
            if 3 * has[release] < 2 * had[release]:
                yield f"{release} would go from {had[release]} to {has[release]} rows in {kind}.jsonl"


def write(folder: Path, files: HarvestedFiles) -> list[Path]:
    """Write the files that changed, all of them or none; returns them.

    Each is written beside its place first. The list of releases takes its place last: were the renaming cut short, rows
    would speak of a release that is not listed, which `load` refuses.
    """
    contents = {**files.rows, RELEASES: files.releases}
    with writing(folder, OTHER_OUTPUT):
        texts = {folder / f"{name}.jsonl": json_lines(rows) for name, rows in contents.items()}
        changed = [path for path, text in texts.items() if text != _text(path)]
        if changed:
            folder.mkdir(parents=True, exist_ok=True)
            with TemporaryDirectory(dir=folder, prefix=".partial-") as beside:
                for path in changed:
                    (Path(beside) / path.name).write_text(texts[path], encoding="utf-8", newline="\n")
                for path in changed:
                    (Path(beside) / path.name).replace(path)
    return changed


class Changes(Struct, frozen=True):
    """How one file differs from what it was, in rows."""

    new: int
    gone: int
    changed: int
    moved: int

    def __str__(self) -> str:
        return (
            f"{self.new} new, {self.gone} gone, {self.changed} changed in what they say or in their releases, "
            f"{self.moved} with another place (evidence) only"
        )


def changes(harvester: Harvester, before: HarvestedFiles, after: HarvestedFiles) -> Iterator[tuple[str, int, Changes]]:
    """Of each file its name, its rows, and how they differ from those it had."""

    def release_key(row: Row) -> Key:
        return (row["version"],)

    yield RELEASES, len(after.releases), _changes(before.releases, after.releases, release_key)
    for kind, rows in after.rows.items():
        yield kind, len(rows), _changes(before.rows.get(kind, ()), rows, key_of(harvester, kind))


def _changes(before: Sequence[Row], after: Sequence[Row], key: Callable[[Row], Key]) -> Changes:
    """Rows that say the same of the same releases are the same row; of the others, those of one key are one that changed."""
    old, new = ({_without_evidence(row): row for row in rows} for rows in (before, after))
    moved = sum(row != new[said] for said, row in old.items() if said in new)
    gone, come = (
        Counter(key(row) for said, row in ones.items() if said not in others)
        for ones, others in ((old, new), (new, old))
    )
    changed = (gone & come).total()
    return Changes(come.total() - changed, gone.total() - changed, changed, moved)


def _without_evidence(row: Row) -> str:
    return json.dumps({name: value for name, value in row.items() if name != "evidence"}, sort_keys=True)
