"""What every engine's comparison with a facts file shares: the harvested rows, spans of releases, rows, explanations.

An engine's own module (`facts_vllm.py`) has one function `rows(facts, harvested) -> Iterator[Row]`; `compare_facts.py`
runs it, matches what differs with `facts_explained/<engine>.yaml` and prints or writes the result. A facts file is a
check made by others, never a source: nothing of it flows into `compat/`.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import groupby
from pathlib import Path
from typing import Any

import yaml
from msgspec import Struct, field

EQUAL, DIFFERENT, NOT_COMPARED, EXPLAINED = "equal", "different", "not compared", "explained"
RIGHT = ("engine", "facts", "both")
Record = dict[str, Any]


class Row(Struct, frozen=True):
    """One comparison: what the facts say under a key of a section, what was harvested, and whether the two agree.

    `reason` says why a row is not compared.
    """

    section: str
    key: str
    facts: str
    ours: str
    verdict: str
    reason: str = ""


def compared(section: str, key: str, facts: object, ours: object) -> Row:
    """A row that is equal when both sides are, as texts."""
    left, right = shown(facts), shown(ours)
    return Row(section, key, left, right, EQUAL if left == right else DIFFERENT)


def skipped(section: str, key: str, facts: object, reason: str) -> Row:
    """A row of the facts that has no counterpart to compare with, and why."""
    return Row(section, key, shown(facts), "", NOT_COMPARED, reason)


def read_as(word: str, names: Collection[str]) -> str:
    """What argparse makes of a word: a flag, a prefix of one, of several, or of none."""
    if word in names:
        return "exact"
    longer = sorted(name for name in names if name.startswith(word))
    return "unknown" if not longer else "ambiguous" if len(longer) > 1 else f"abbrev:{longer[0]}"


def here_only(section: str, rows: Iterable[Mapping[str, Any]], package: str, listed: Collection[str]) -> Iterator[Row]:
    """The messages of ours that were compared with none of the facts: one row for each file and kind, with all of them.

    `listed` are the files, below `package`, of which the facts have any message. The number stands in the key, so that
    an explanation holds for these messages and no further one.
    """
    groups: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        file, _, function = row["where"].partition(":")
        told = f"{function}: {row['fragment']}" if function else row["fragment"]
        groups.setdefault((file.removeprefix(f"{package}/"), row["kind"]), []).append(told)
    for (file, kind), told in sorted(groups.items()):
        facts = "others of this file" if file in listed else "no message of this file"
        yield Row(f"{section}: here only", f"{file}: {len(told)} {kind}", facts, "; ".join(sorted(told)), DIFFERENT)


def shown(value: object) -> str:
    """One side of a comparison as text: texts as they are, everything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True, ensure_ascii=False)


class Span(Struct, frozen=True):
    """A set of releases out of an ordered list, which is the one that the facts read."""

    order: tuple[str, ...]
    members: frozenset[str]

    def __str__(self) -> str:
        """`0.8.2..0.9.1, 0.10.0..`: each unbroken run, open where it reaches the newest release; `never` if empty."""
        runs = [list(run) for held, run in groupby(self.order, self.members.__contains__) if held]
        return ", ".join(self._run(run) for run in runs) or "never"

    def _run(self, run: list[str]) -> str:
        if run[-1] == self.order[-1]:
            return f"{run[0]}.."
        return run[0] if len(run) == 1 else f"{run[0]}..{run[-1]}"

    @property
    def first(self) -> str:
        """The oldest release, or `never`."""
        return next((release for release in self.order if release in self.members), "never")

    @property
    def last(self) -> str | None:
        """The newest release; None when that is the newest of all, `never` when there is none."""
        last = next((release for release in reversed(self.order) if release in self.members), "never")
        return None if last == self.order[-1] else last


def span(order: Sequence[str], members: Iterable[str]) -> Span:
    """Of these releases, those that the order lists."""
    return Span(tuple(order), frozenset(members) & frozenset(order))


def between(order: Sequence[str], first: str | None, last: str | None) -> Span:
    """The releases from `first` to `last`, both included; None leaves that side open.

    Raises ValueError for a release that the order does not list.
    """
    listed = list(order)
    start = listed.index(first) if first else 0
    end = listed.index(last) + 1 if last else len(listed)
    return Span(tuple(order), frozenset(listed[start:end]))


class Harvest(Struct, frozen=True):
    """The harvested rows of one engine, and its releases from the oldest to the newest."""

    releases: tuple[Record, ...]
    options: tuple[Record, ...]
    tables: tuple[Record, ...]
    messages: tuple[Record, ...]
    scopes: Mapping[str, Sequence[Record]] = field(default_factory=dict)

    @property
    def order(self) -> tuple[str, ...]:
        """The versions of all releases, oldest first."""
        return tuple(str(row["version"]) for row in self.releases)

    def held(self, row: Mapping[str, Any]) -> frozenset[str]:
        """The releases in which a row holds; of a bracket, only the known side."""
        order, found = self.order, set[str]()
        places = {release: position for position, release in enumerate(order)}
        for bounds in row["releases"]:
            since, before = bounds.get("since"), bounds.get("before")
            start = places[since["in"] if isinstance(since, dict) else since] if since else 0
            end = len(order)
            if before:
                end = places[before["in"]] + 1 if isinstance(before, dict) else places[before]
            found.update(order[start:end])
        return frozenset(found)

    def held_by(self, rows: Iterable[Mapping[str, Any]]) -> frozenset[str]:
        """The releases in which any of these rows holds."""
        return frozenset().union(*(self.held(row) for row in rows))

    def table(self, name: str, **columns: object) -> list[Record]:
        """The rows of one table, or those of them whose columns have these values."""
        return [
            row
            for row in self.tables
            if row["table"] == name and all(row.get(column) == value for column, value in columns.items())
        ]

    def paths(self, path: str, scope: str | None = None) -> list[Record]:
        """The option rows of one path, in any scope or in one."""
        return [row for row in self.options if row["path"] == path and scope in (None, row["scope"])]

    def named(self, name: str, scope: str) -> list[Record]:
        """The option rows that a spelling writes, its negations among them."""
        return [
            row
            for row in self.options
            if row["scope"] == scope and name in (*row.get("names", ()), *row.get("no_names", ()))
        ]

    def by_release(self, rows: Iterable[Mapping[str, Any]], column: str) -> dict[str, Any]:
        """The value of a column in every release in which one of these rows holds; None where a row lacks it."""
        return {release: row.get(column) for row in rows for release in self.held(row)}


# Stands for a value that a release does not have.
UNREAD = object()


class Sides(Struct, frozen=True):
    """Both sides of a comparison, and the releases that the facts read, oldest first."""

    facts: Mapping[str, Any]
    ours: Harvest
    order: tuple[str, ...]

    def held(self, rows: Iterable[Record]) -> Span:
        """Of the releases that the facts read, those in which one of our rows holds."""
        return span(self.order, self.ours.held_by(rows))

    def span(self, text: str) -> Span:
        """The releases that a text of the facts names: `0.4.1..0.12.0, 0.19.0..`, `0.8.2-0.9.0.1`, `0.16.0-`, `0.22.0`."""
        members: set[str] = set()
        for part in text.split(","):
            first, dash, last = (piece.strip() for piece in re.sub(r"\.\.|\s*-\s*", "~", part.strip()).partition("~"))
            members |= between(self.order, first, last or (None if dash else first)).members
        return span(self.order, members)

    def lasting(self, first: str, last: str | None) -> Span:
        """The releases between two that a row of the facts gives."""
        return between(self.order, first.removeprefix("<="), last)

    def history(self, rows: Sequence[Record], read: Callable[[Record], object], within: frozenset[str]) -> str:
        """What our rows say in each of some releases, unbroken runs together."""
        said = {release: read(row) for row in rows for release in self.ours.held(row)}
        return self.runs({release: said.get(release, UNREAD) for release in within})

    def runs(self, said: Mapping[str, object]) -> str:
        """What is said in each release, by the value: `0.4.1..0.5.5: 1; 0.6.0..: 2`."""
        texts = {release: "not there" if value is UNREAD else shown(value) for release, value in said.items()}
        listed = [release for release in self.order if release in texts]
        found: dict[str, set[str]] = {}
        for text, run in groupby(listed, texts.__getitem__):
            found.setdefault(text, set()).update(run)
        return "; ".join(f"{span(self.order, members)}: {text}" for text, members in found.items())


def read_harvest(folder: Path, committed: Path) -> Harvest:
    """The rows below a folder `harvested/`, with the scopes that stand beside the committed one.

    A folder without `releases.jsonl` takes the releases from the committed one as well.
    """
    own, scopes = folder / "releases.jsonl", committed.parent / "scopes.yaml"
    kinds = [_read_lines(folder / f"{kind}.jsonl") for kind in ("options", "tables", "messages")]
    listed = yaml.safe_load(scopes.read_text("utf-8"))["scopes"] if scopes.exists() else {}
    return Harvest(_read_lines(own if own.exists() else committed / "releases.jsonl"), *kinds, scopes=listed)


def _read_lines(path: Path) -> tuple[Record, ...]:
    return tuple(json.loads(line) for line in path.read_text("utf-8").splitlines()) if path.exists() else ()


class Explanation(Struct, frozen=True):
    """Why rows differ: their section and key (or a pattern of keys), who is right, and what was read to know it."""

    section: str
    key: str
    right: str
    why: str

    def explains(self, row: Row) -> bool:
        """Whether it is about this row."""
        return row.section == self.section and (row.key == self.key or fnmatchcase(row.key, self.key))


def read_explanations(path: Path) -> list[Explanation]:
    """The entries of `facts_explained/<engine>.yaml`. Where several keys have one reason, `key` is a list of them.

    Raises ValueError for an entry without a reason, or with an unknown word under `right`.
    """
    found: list[Explanation] = []
    for entry in (yaml.safe_load(path.read_text("utf-8")) or []) if path.exists() else []:
        keys = entry["key"] if isinstance(entry["key"], list) else [entry["key"]]
        if entry["right"] not in RIGHT or not str(entry["why"]).strip():
            raise ValueError(f"{path.name}: {entry['section']} {keys}: needs `why`, and `right` one of {RIGHT}")
        found += [
            Explanation(entry["section"], str(key), entry["right"], " ".join(entry["why"].split())) for key in keys
        ]
    return found


class Judged(Struct, frozen=True):
    """A row and its explanation, if it has and needs one."""

    row: Row
    explanation: Explanation | None

    @property
    def verdict(self) -> str:
        """`explained` for a difference with an explanation, else the row's own verdict."""
        return EXPLAINED if self.explanation else self.row.verdict


def judge(rows: Iterable[Row], explanations: Sequence[Explanation]) -> tuple[list[Judged], list[Explanation]]:
    """Every row with the first explanation that is about it, and the explanations that no difference used."""
    judged, used = [], set[Explanation]()
    for row in rows:
        about = [entry for entry in explanations if row.verdict == DIFFERENT and entry.explains(row)]
        used.update(about[:1])
        judged.append(Judged(row, about[0] if about else None))
    return judged, [entry for entry in explanations if entry not in used]


def counts(judged: Iterable[Judged]) -> dict[str, Counter[str]]:
    """How many rows of each verdict every section has, in the order of the sections."""
    found: dict[str, Counter[str]] = {}
    for item in judged:
        found.setdefault(item.row.section, Counter())[item.verdict] += 1
    return found


def markdown(engine: str, judged: Sequence[Judged], about: str) -> str:
    """The committed result: counts for each section, then every row that is not equal, with its explanation."""
    verdicts = (EQUAL, EXPLAINED, DIFFERENT, NOT_COMPARED)
    lines = [f"# {engine}: the harvested database beside the facts file", "", about, ""]
    lines += _table(("section", *verdicts), _count_lines(counts(judged), verdicts))
    for section, items in groupby(judged, lambda item: item.row.section):
        unequal = [item for item in items if item.verdict != EQUAL]
        explained = [item for item in unequal if item.verdict != NOT_COMPARED]
        left_out = [item for item in unequal if item.verdict == NOT_COMPARED]
        lines += [f"## {section}", ""] if unequal else []
        if explained:
            lines += _table(("key", "facts", "here", "right", "why"), (_explained_line(item) for item in explained))
        if left_out:
            lines += _table(("key", "not compared, because"), ((item.row.key, item.row.reason) for item in left_out))
    return "\n".join(lines).rstrip() + "\n"


def _count_lines(found: Mapping[str, Counter[str]], verdicts: Sequence[str]) -> Iterator[tuple[str, ...]]:
    for section, counted in found.items():
        yield (section, *(str(counted[verdict]) for verdict in verdicts))
    total = sum(found.values(), Counter[str]())
    yield ("all", *(str(total[verdict]) for verdict in verdicts))


def _explained_line(item: Judged) -> tuple[str, ...]:
    right, why = (item.explanation.right, item.explanation.why) if item.explanation else ("?", "not explained")
    return (item.row.key, item.row.facts, item.row.ours, right, why)


def _table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> list[str]:
    cells = [head, ["---"] * len(head), *lines]
    return [*("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in cells), ""]
