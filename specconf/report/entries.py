"""What the formats for other programs need of a report: each finding with its place in a file, its launch and its fingerprint.

Both kinds of reports come to it: of deploy files, and of a spec. How it is written is the formats' own.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct, field
from msgspec.structs import replace

from specconf.findings import Finding
from specconf.words import Span

if TYPE_CHECKING:
    from specconf.lint.edits import Edit
    from specconf.lint.results import FileResult, Judged
    from specconf.oracle.sided import SideBySide
    from specconf.report.model import Report

NOT_STATED = "release not stated"


class Entry(Struct, frozen=True):
    """One finding. `where` is in the file `path`, also for what stands in an option file or a text within it.

    `by` and `reason`: what suppressed it, if anything did. `number` tells apart equal findings of one launch.
    """

    finding: Finding
    path: str
    where: Span
    launch: str = ""
    by: str = ""
    reason: str = ""
    edits: tuple[Edit, ...] = ()
    number: int = 1

    @property
    def message(self) -> str:
        """What to tell in a line: the message, and the place where it is not in the file itself."""
        found = self.finding.where
        elsewhere = f" (at {found})" if found is not None and found.path != self.path else ""
        return f"{self.finding.message}{elsewhere}"

    def fingerprint(self, path: str) -> str:
        """The same for the same finding wherever its line has moved to; `path` is the file as the report names it."""
        found = self.finding
        parts = (path, self.launch, found.code, found.constraint, found.option, str(self.number))
        return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()


class LaunchEntry(Struct, frozen=True):
    """One launch that was looked at, with its findings. `key` names it without its line."""

    path: str
    line: int
    key: str
    engine: str
    release: str
    release_from: str
    release_line: int = 0
    entries: tuple[Entry, ...] = ()
    side: SideBySide | None = None

    @property
    def title(self) -> str:
        """Its name for a reader."""
        return f"{self.key} ({self.release or NOT_STATED})"


class Entries(Struct):
    """A whole report: launches, findings of files without a launch, and what was suppressed."""

    launches: list[LaunchEntry] = field(default_factory=list)
    of_files: list[Entry] = field(default_factory=list)
    suppressed: list[Entry] = field(default_factory=list)

    def told(self) -> list[Entry]:
        """The findings that are not suppressed, by file and place."""
        found = [*self.of_files, *(entry for launch in self.launches for entry in launch.entries)]
        order = {path: i for i, path in enumerate(dict.fromkeys(self.paths()))}
        return sorted(found, key=lambda e: (order[e.path], e.where.line, e.where.column, e.finding.severity.rank))

    def paths(self) -> Iterator[str]:
        """The files that anything is said of, in their order, some more than once."""
        yield from (launch.path for launch in self.launches)
        yield from (entry.path for entry in self.of_files)


def entries_of_lint(results: Sequence[FileResult]) -> Entries:
    """What lint found."""
    from specconf.lint.keys import launch_keys

    found = Entries()
    for result in results:
        start = Span(result.path, 1, 1)
        keys = launch_keys(judged.read for judged in result.launches)
        suppressed = [
            Entry(one.finding, result.path, _in_file(one.finding, start), one.launch, str(one.by), one.reason)
            for one in result.suppressed
        ]
        found.suppressed += numbered(suppressed)
        found.of_files += numbered(
            Entry(one, result.path, _in_file(one, start), edits=result.edits.get(one, ())) for one in result.findings
        )
        for judged, key in zip(result.launches, keys, strict=True):
            found.launches.append(_launch(result, judged, key))
    return found


def _launch(result: FileResult, judged: Judged, key: str) -> LaunchEntry:
    start = Span(result.path, 1, 1)
    place = _within(judged.read.launch.span, start)
    entries = [
        Entry(one, result.path, _in_file(one, place), key, edits=result.edits.get(one, ())) for one in judged.findings
    ]
    chosen = judged.chosen
    return LaunchEntry(
        result.path,
        judged.line,
        key,
        judged.read.launch.engine,
        chosen.text,
        chosen.how,
        chosen.where.line if chosen.where else 0,
        tuple(numbered(entries)),
        judged.side,
    )


def _in_file(finding: Finding, otherwise: Span) -> Span:
    return _within(finding.where, otherwise)


def _within(where: Span | None, otherwise: Span) -> Span:
    """A place, or another one where it has no line or is not in the same file."""
    return where if where is not None and where.line and where.path == otherwise.path else otherwise


def numbered(entries: Iterable[Entry]) -> Iterator[Entry]:
    """Equal findings of one launch, told apart by a number."""
    seen: Counter[tuple[str, str, str, str]] = Counter()
    for entry in entries:
        key = (entry.launch, entry.finding.code, entry.finding.constraint, entry.finding.option)
        seen[key] += 1
        yield replace(entry, number=seen[key])


def entries_of_check(report: Report) -> Entries:
    """What check found: each engine at a release is a launch of the spec."""
    path = report.files[0]
    found = Entries()
    for cell, row in zip(report.cells, report.launches, strict=True):
        key = f"{cell.engine} {cell.release}"
        start = Span(path, 1, 1)
        entries = numbered(Entry(one, path, _in_file(one, start), key) for one in cell.findings)
        found.launches.append(
            LaunchEntry(path, row.line or 1, key, cell.engine, cell.release, row.release_from, entries=tuple(entries))
        )
    return found
