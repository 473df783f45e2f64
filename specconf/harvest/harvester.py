"""What every engine's harvester does: read one release into rows, and join the rows of all releases into files.

The files of one engine under `harvested/` are `releases.jsonl` (which releases, from what kind of source), `options.jsonl`,
`tables.jsonl` and `messages.jsonl`; docs/database.md has their columns. They follow from the releases alone: writing them
again, all at once or release by release, gives the same bytes.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol

from msgspec import Struct, field

from specconf.harvest.archive import Archive
from specconf.harvest.intervals import Key, Row, merge_rows

OPTIONS, TABLES, MESSAGES = "options", "tables", "messages"
KINDS = (OPTIONS, TABLES, MESSAGES)


class Harvested(Struct, frozen=True):
    """What one release's sources say, as rows without ranges; `notes` tell what its reader could not settle.

    Every row has exactly one entry of evidence: the file and line that it was read from.
    """

    options: list[Row]
    tables: list[Row] = field(default_factory=list)
    messages: list[Row] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def rows(self, kind: str) -> list[Row]:
        """The rows of one file."""
        return {OPTIONS: self.options, TABLES: self.tables, MESSAGES: self.messages}[kind]


class Harvester(Protocol):
    """One engine's harvester: `engines/<e>/harvest/run.py` has it as `HARVESTER`."""

    @property
    def project(self) -> str:
        """The name on the package index; empty when the index does not have the engine's source."""
        ...

    @property
    def package(self) -> str:
        """The Python package inside a wheel, sdist or checkout."""
        ...

    @property
    def prefer(self) -> tuple[str, ...]:
        """Kinds of files on the index, the one to read first: `sdist`, `wheel`."""
        ...

    @property
    def lone_files(self) -> Mapping[str, str]:
        """Single files that can be read by themselves: the name of the file → its place in an archive."""
        ...

    @property
    def oldest(self) -> str:
        """The oldest release whose sources this harvester understands."""
        ...

    def read(self, archive: Archive, release: str) -> Harvested:
        """The rows of one release. Raises HarvestError when the sources do not hold what is read from them."""
        ...

    def option_key(self, row: Row) -> Key:
        """What an option row is about, unique in one release."""
        ...

    def arrange(self, per_release: Mapping[str, list[Row]], order: Sequence[str]) -> Mapping[str, list[Row]]:
        """The option rows of all releases as they are joined: with paths that are stable over renames."""
        ...

    def order(self, rows: list[Row]) -> list[Row]:
        """The joined option rows in the order in which they are written."""
        ...


def table_key(row: Row) -> Key:
    """What a table row is about: its table, its value, and the place that tells two rows of one value apart."""
    return (row["table"], json.dumps(row["value"]), row.get("where", ""))


def message_key(row: Row) -> Key:
    """What a message row is about: where it stands, of what kind it is, and its text."""
    return (row["where"], row["kind"], row.get("exception", ""), row["fragment"])


def joined(harvester: Harvester, kind: str, per_release: Mapping[str, list[Row]], order: Sequence[str]) -> list[Row]:
    """The rows of one file, from the rows of every release."""
    if kind == OPTIONS:
        return harvester.order(merge_rows(harvester.arrange(per_release, order), order, harvester.option_key))
    return merge_rows(per_release, order, key_of(harvester, kind))


def key_of(harvester: Harvester, kind: str) -> Callable[[Row], Key]:
    """What tells what the rows of one file are about."""
    keys: dict[str, Callable[[Row], Key]] = {
        OPTIONS: harvester.option_key, TABLES: table_key, MESSAGES: message_key,
    }  # fmt: skip
    return keys[kind]


def spread(rows: Iterable[Row], order: Sequence[str]) -> dict[str, list[Row]]:
    """The reverse of joining: the rows of every release, each with the evidence of the last of its run.

    Joining them again with one release more, or with one read anew, gives what reading all of them would give.
    """
    places = {release: position for position, release in enumerate(order)}
    found: dict[str, list[Row]] = {release: [] for release in order}
    for row in rows:
        plain = {name: value for name, value in row.items() if name not in ("releases", "evidence")}
        for bounds, evidence in zip(row["releases"], row["evidence"], strict=True):
            for release in order[_span(bounds, places)]:
                found[release].append({**plain, "evidence": [evidence]})
    return found


def sizes(rows: Iterable[Row], order: Sequence[str]) -> Counter[str]:
    """How many of these rows every release has."""
    places = {release: position for position, release in enumerate(order)}
    return Counter(release for row in rows for bounds in row["releases"] for release in order[_span(bounds, places)])


def _span(bounds: Mapping[str, str], places: Mapping[str, int]) -> slice:
    first = places[bounds["since"]] if "since" in bounds else 0
    end = places[bounds["before"]] if "before" in bounds else len(places)
    return slice(first, end)


def json_lines(rows: Iterable[Row]) -> str:
    """Rows as the database's files hold them: one a line, keys sorted."""
    return "".join(json.dumps(row, sort_keys=True, ensure_ascii=False) + "\n" for row in rows)
