"""What each written row has to hold by itself, before anything is compiled: columns, words, ranges, evidence.

No index can be made of rows and files that a check in `BROKEN` finds. Rows that contradict each other are the matter of
`specconf.compat.lint`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from specconf.compat.columns import COLUMNS, LISTS, TABLE_COLUMNS
from specconf.compat.index import evidence_pair
from specconf.compat.lint import Problem
from specconf.compat.releases import ReleaseLine, compile_ranges
from specconf.compat.sources import SourceTree
from specconf.compat.written import Reader, Row
from specconf.errors import SpecconfError

BROKEN = frozenset({"file", "row"})
# Where the bracket of a fact begins that may hold from the oldest known release on.
_BEGINNING = "0"
_NESTED = {"probe": "example", "twin": "example", "also": "also", "otherwise": "otherwise", "evidence": "evidence"}
_UNDATED = {"release", "image"}


def problems(tree: SourceTree, engine: str, base: ReleaseLine | None = None) -> Iterator[Problem]:
    """Everything that is wrong with the files of one engine.

    `base` is given for an overlay: people's ranges there use the releases of the database, machine-written ones its own.
    """
    reader = Reader(tree, engine)
    yield from (Problem(fault.check, engine, fault.about, fault.message) for fault in reader.faults)
    try:
        own = _own_line(reader.rows, engine) or base
    except SpecconfError as error:
        yield Problem("file", engine, f"{engine}: releases.jsonl", error.message)
        return
    if own is None:
        if not reader.faults:
            yield Problem("file", engine, engine, "no release is recorded")
        return
    for row in reader.rows:
        for check, message in _found(row, own if row.folder else base or own):
            yield Problem(check, engine, row.about, message)


def _own_line(rows: Sequence[Row], engine: str) -> ReleaseLine | None:
    """The releases that the files list; None where they list none. Raises SpecconfError where they are no line."""
    listed = [(str(row.data.get("version")), row.data.get("date")) for row in rows if row.kind == "release"]
    line = ReleaseLine(engine, listed) if listed else None
    return line if line and line.versions else None


def _found(row: Row, line: ReleaseLine) -> Iterator[tuple[str, str]]:
    """What the checks find in one row; where its form is broken, no more than that is looked for."""
    broken = [*_missing(row), *_words(row), *_malformed(row, line)]
    yield from (("row", message) for message in broken)
    yield from (("column", message) for message in unknown_columns(row))
    if not broken and row.kind not in _UNDATED:
        for name, check in CHECKS.items():
            yield from ((name, message) for message in check(row, line))


def _missing(row: Row) -> Iterator[str]:
    """A column that every row has, or everything of the kind that it holds."""
    for column in sorted(COLUMNS[row.kind].required - set(row.data)):
        yield f"a row without {column}"
    for column, kind, part in _parts(row):
        yield from (f"{column}: {inner} is missing" for inner in sorted(COLUMNS[kind].required - set(part)))


def _parts(row: Row) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """What a row holds that has columns itself: (where, its kind, it)."""
    for column, kind in _NESTED.items():
        held = row.data.get(column)
        for part in held if isinstance(held, list) else [held]:
            if isinstance(part, dict):
                yield column, kind, part


def _words(row: Row) -> Iterator[str]:
    """A word that its column does not have (of a list, any member), and a word where a list stands."""
    for column in sorted(LISTS & COLUMNS[row.kind].known & set(row.data)):
        if not isinstance(row.data[column], list):
            yield f"{column} is a list, not {row.data[column]!r}"
    for column, words in COLUMNS[row.kind].words.items():
        value = row.data.get(column)
        for word in value if isinstance(value, list) else [] if value is None else [value]:
            if not isinstance(word, str) or word not in words:
                yield f"{column} is one of {', '.join(sorted(words))}, not {word!r}"


def _malformed(row: Row, line: ReleaseLine) -> Iterator[str]:
    """Ranges and evidence that cannot be read."""
    reading: Mapping[str, Callable[[list[Mapping[str, Any]]], object]] = {
        "releases": partial(compile_ranges, line),
        "evidence": lambda entries: [evidence_pair(entry) for entry in entries],
    }
    for column, read in reading.items():
        if row.kind not in _UNDATED and column in row.data:
            try:
                read(_mappings(row, column))
            except SpecconfError as error:
                yield error.message
            except ValueError as error:
                yield str(error)


def _mappings(row: Row, column: str) -> list[Mapping[str, Any]]:
    """A list of mappings with at least one entry; ValueError where a column is none."""
    entries = row.data.get(column)
    if not isinstance(entries, list) or not entries or not all(isinstance(entry, dict) for entry in entries):
        raise ValueError(f"`{column}` is no list of mappings with at least one entry")
    return entries


def unknown_columns(row: Row) -> Iterator[str]:
    """A column that rows of this kind do not have, in the row itself or in what it holds; a table that is not described."""
    if row.kind == "table" and row.folder and row.data.get("table") not in TABLE_COLUMNS:
        yield f"the table {row.data.get('table')} is not described (specconf/compat/columns.py)"
    if row.columns is not None:
        yield from _strange(row.data, row.kind, row.columns)
    for column, kind, part in _parts(row):
        yield from (f"{column}: {message}" for message in _strange(part, kind))
        if column == "evidence" and type(part.get("line", 0)) is not int:
            yield f"evidence: line is {part['line']!r}, no number"


def _strange(data: Mapping[str, Any], kind: str, more: frozenset[str] = frozenset()) -> Iterator[str]:
    for column in sorted(str(column) for column in set(data) - COLUMNS[kind].known - more):
        yield f"no row of this kind has the column {column}"


def bounds(row: Row, line: ReleaseLine) -> Iterator[str]:
    """A bound that is no release. One newer than all known ones is: rows may be written ahead."""
    for written in row.data["releases"]:
        for side in ("since", "before"):
            bound = written.get(side)
            for name, release in bound.items() if isinstance(bound, dict) else [("", bound)]:
                known = release is None or release in line.names or line.position(str(release)) >= len(line.names)
                if not known and (side, name, release) != ("since", "not_in", _BEGINNING):
                    yield f"{side} {release} is no release"


def empty_ranges(row: Row, _: ReleaseLine) -> Iterator[str]:
    """A range that begins where it ends: no release is in it."""
    for written in row.data["releases"]:
        if written.get("since") is not None and written.get("since") == written.get("before"):
            yield f"a range begins and ends at {written['since']}"


def harvested_evidence(row: Row, line: ReleaseLine) -> Iterator[str]:
    """A harvested row has an entry for each of its ranges: a place in the last release of the range."""
    if row.folder != "harvested":
        return
    ranges, entries = row.data["releases"], row.data["evidence"]
    if len(ranges) != len(entries):
        yield f"it has {len(ranges)} ranges and evidence for {len(entries)}"
    for written, entry in zip(ranges, entries, strict=False):
        runs = compile_ranges(line, [written]).holds_in
        last = line.names[runs[-1][1] - 1] if runs else "none"
        if entry.get("release") != last:
            yield f"its evidence is of {entry.get('release')}, the last release of its range is {last}"


def curated_evidence(row: Row, line: ReleaseLine) -> Iterator[str]:
    """Evidence of a release that is none, or of releases outside the row's ranges and no other."""
    if row.folder:
        return
    ranges = compile_ranges(line, row.data["releases"])
    named = [str(entry["release"]) for entry in row.data["evidence"] if entry.get("release") is not None]
    unknown = [release for release in named if release not in line.names]
    yield from (f"its evidence is of {release}, which is no release" for release in unknown)
    known = [line.names.index(release) for release in named if release not in unknown]
    if known and all(ranges.at(position) is False for position in known):
        yield f"holds in {ranges.text(line)}, but its evidence is of {', '.join(named)}"


CHECKS: Mapping[str, Callable[[Row, ReleaseLine], Iterator[str]]] = {
    "bound": bounds,
    "empty-range": empty_ranges,
    "harvested-evidence": harvested_evidence,
    "evidence": curated_evidence,
}
