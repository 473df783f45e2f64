"""Consistency of one engine's data: rows that overlap or hold nowhere, members without their object, dead replacements.

Each check is a function from the database to its problems. What a written row has to hold by itself is in
`specconf.compat.rowlint`, what needs rules to be run in `specconf.rules.datalint`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct

from specconf.compat.database import Database
from specconf.compat.releases import Ranges
from specconf.findings import EvidenceKind

Dated = tuple[str, Ranges]


class Problem(Struct, frozen=True):
    """One inconsistency. `check` is the check's name, `about` the row: an id, a path, a table's entry."""

    check: str
    engine: str
    about: str
    message: str


def problems(database: Database) -> Iterator[Problem]:
    """Everything that the checks of this module find."""
    for name, check in CHECKS.items():
        for about, message in check(database):
            yield Problem(name, database.engine, about, message)


Found = Iterator[tuple[str, str]]


def empty_ranges(database: Database) -> Found:
    """A row that holds in no known release, and does not begin in one that is newer than all known ones."""
    ahead = {f"{row['scope']} {row['path']}" for _, row in database.raw_options if row.get("ahead")}
    for about, ranges in _all_rows(database):
        if not ranges.holds_in and not ranges.unknown_in and about not in ahead:
            yield about, "holds in no known release"


def _all_rows(database: Database) -> Iterator[Dated]:
    for ranges, row in database.raw_options:
        yield f"{row['scope']} {row['path']}", ranges
    for name in database.tables:
        yield from ((f"{name}: {row.value}", row.ranges) for row in database.tables[name].rows)
    yield from ((f"method {method.value}", method.ranges) for method in database.methods)
    yield from ((constraint.id, constraint.ranges) for constraint in database.constraints)
    yield from ((f"mapping of {row.field}", row.ranges) for row in database.mapping)
    yield from ((f"scope {scope.name}", scope.ranges) for scope in database.scopes)
    yield from ((f"steps of {stage}", ranges) for ranges, stage, _ in database.steps)
    yield from ((f"message {message.fragment!r}", message.ranges) for message in database.messages)


def overlapping_rows(database: Database) -> Found:
    """Two rows of one spelling, table entry, method, scope, list of steps or message in one release."""
    groups: dict[Hashable, list[Dated]] = {}
    for ranges, row in database.raw_options:
        for name in row.get("names") or (f"the positional {row['path']}",):
            for tag in row.get("methods") or ("",):
                about = f"{row['scope']} {name}" + (f" with {tag}" if tag else "")
                # An overlay's rows take precedence over those of the database below it: only one layer is compared.
                groups.setdefault((about, row.get("layer", "")), []).append((about, ranges))
    for name in database.tables:
        for entry in database.tables[name].rows:
            key = (
                name,
                str(entry.value),
                tuple(sorted((k, str(v)) for k, v in entry.columns.items() if k in _QUALIFIERS)),
            )
            groups.setdefault(key, []).append((f"{name}: {entry.value}", entry.ranges))
    for method in database.methods:
        groups.setdefault(("method", method.value, method.spec_method), []).append(
            (f"method {method.value}", method.ranges)
        )
    for scope in database.scopes:
        groups.setdefault(("scope", scope.name), []).append((f"scope {scope.name}", scope.ranges))
    for ranges, stage, _ in database.steps:
        groups.setdefault(("steps", stage), []).append((f"steps of {stage}", ranges))
    for message in database.messages:
        said = (message.kind, message.exception, message.fragment, message.where)
        groups.setdefault(("message", *said), []).append((f"message {message.fragment!r}", message.ranges))
    yield from _overlaps(database, groups.values())


# Columns of a table that tell two entries of one value apart.
_QUALIFIERS = {"layer", "where"}


def _overlaps(database: Database, groups: Iterable[list[Dated]]) -> Found:
    for rows in groups:
        for index, (about, ranges) in enumerate(rows):
            for _, other in rows[index + 1 :]:
                shared = _shared(ranges, other)
                if shared is not None:
                    yield about, f"two rows hold in {database.line.names[shared]}"


def _shared(left: Ranges, right: Ranges) -> int | None:
    """A release in which both are known to hold."""
    both = (max(a, c) for a, b in left.holds_in for c, d in right.holds_in if max(a, c) < min(b, d))
    return next(both, None)


def unmapped_fields(database: Database) -> Found:
    """A field of the spec that has no mapping row, or two, in some release."""
    by_field: dict[str, list[Ranges]] = {}
    for row in database.mapping:
        by_field.setdefault(row.field, []).append(row.ranges)
    for field, rows in by_field.items():
        for position, release in enumerate(database.line.names):
            states = [ranges.at(position) for ranges in rows]
            if states.count(True) > 1:
                yield f"mapping of {field}", f"two rows hold in {release}"
                break
            if not any(state is not False for state in states):
                yield f"mapping of {field}", f"no row covers {release}"
                break


def outlived_parents(database: Database) -> Found:
    """A member of an object in a release in which nothing writes the object, or in which its scope is not described."""
    objects: dict[str, list[Ranges]] = {}
    for ranges, row in database.raw_options:
        if row.get("members"):
            objects.setdefault(row["members"], []).append(ranges)
    described: dict[str, list[Ranges]] = {}
    for scope in database.scopes:
        described.setdefault(scope.name, []).append(scope.ranges)
    for name in dict.fromkeys([*(row["scope"] for _, row in database.raw_options), *objects]):
        if name not in described:
            yield f"scope {name}", "is not in scopes.yaml"
    for name in dict.fromkeys(described):
        if name not in objects and not _is_root(name):
            yield f"scope {name}", "is described, and no option is the object that holds it"
    for ranges, row in database.raw_options:
        yield from _lonely(database, row, ranges, objects, described)


def _lonely(
    database: Database,
    row: Mapping[str, Any],
    ranges: Ranges,
    objects: Mapping[str, list[Ranges]],
    described: Mapping[str, list[Ranges]],
) -> Found:
    """What an option row has nothing to stand on in: an object, a description of its scope."""
    name, about, names = row["scope"], f"{row['scope']} {row['path']}", database.line.names
    lonely = None if _is_root(name) else _first_uncovered(ranges, objects.get(name, ()))
    if lonely is not None:
        yield about, f"exists in {names[lonely]}, where no option is the object that holds it"
    strange = _first_uncovered(ranges, described[name]) if name in described else None
    if strange is not None:
        yield about, f"exists in {names[strange]}, where scopes.yaml does not describe its scope"


# Scopes that no option holds: command lines, environments, and the engine's own option file.
_ROOTS = {"cli", "serve", "env", "yaml"}


def _is_root(scope: str) -> bool:
    return scope.rpartition(".")[2] in _ROOTS


def _first_uncovered(ranges: Ranges, covers: Iterable[Ranges]) -> int | None:
    """The first release in which a row is known to hold and none of the others may."""
    others = list(covers)
    positions = (p for low, high in ranges.holds_in for p in range(low, high))
    return next((p for p in positions if all(other.at(p) is False for other in others)), None)


def dead_replacements(database: Database) -> Found:
    """A deprecated spelling whose replacement its release does not have; any other successor that no release has.

    A variable may be replaced by anything; a flag or a key never by a variable.
    """
    existing: dict[str, list[Ranges]] = {}
    variables: dict[str, list[Ranges]] = {}
    for ranges, row in database.raw_options:
        table = variables if _is_variable(row) else existing
        for name in {row["path"], *(row.get("names") or ()), *(row.get("no_names") or ())}:
            table.setdefault(name, []).append(ranges)
    for ranges, row in database.raw_options:
        replacement = str(row.get("replaced_by") or "").partition(" ")[0]
        if not replacement:
            continue
        name = _plain_name(replacement, existing)
        held = [*existing.get(name, ()), *(variables.get(name, ()) if _is_variable(row) else ())]
        lonely = _first_uncovered(ranges, held)
        if lonely is not None and (row.get("deprecated") or not held):
            where = "; ".join(other.text(database.line) for other in held) or "no known release"
            release = database.line.names[lonely]
            yield f"{row['scope']} {row['path']}", f"names {replacement} in {release}, but that exists in {where}"


def _is_variable(row: Mapping[str, Any]) -> bool:
    return str(row["scope"]).rpartition(".")[2] == "env"


def _plain_name(replacement: str, existing: Mapping[str, Any]) -> str:
    """The spelling in a replacement: `--flag=value` and `--config.key` name the flag or the key."""
    flag = replacement.partition("=")[0]
    if flag in existing:
        return flag
    return flag.lstrip("-").partition(".")[0] if "." in flag and flag.startswith("--") else flag


def doubtful_evidence(database: Database) -> Found:
    """A constraint whose evidence names no release in which it holds."""
    line = database.line
    for constraint in database.constraints:
        named = [
            word for e in constraint.evidence for word in e.text.split()[:1] if e.kind.rank <= EvidenceKind.SOURCE.rank
        ]
        known = [line.names.index(word) for word in named if word in line.names]
        if known and all(constraint.ranges.at(position) is False for position in known):
            shown = ", ".join(line.names[position] for position in known)
            yield constraint.id, f"holds in {constraint.ranges.text(line)}, but its evidence is of {shown}"


def scope_rules(database: Database) -> Found:
    """A scope whose description contradicts what the harvest read in the release."""
    if "scope_rules" not in database.tables:
        return
    for entry in database.tables["scope_rules"].rows:
        for position, release in enumerate(database.line.names):
            stated = entry.columns.get("unknown_member")
            if not entry.ranges.at(position) or not stated:
                continue
            here = {s.unknown_member for s in database.scopes if s.name == entry.value and s.ranges.at(position)}
            if here and stated not in here and "unknown" not in here:
                said = ", ".join(sorted(here))
                yield (
                    str(entry.value),
                    f"an unknown member is {stated} in {release} by its source, scopes.yaml says {said}",
                )
                break


def unknown_words(database: Database) -> Found:
    """A method's word that a release's source lists and methods.yaml does not."""
    for name in _WORD_TABLES & set(database.tables):
        for entry in database.tables[name].rows:
            for position, release in enumerate(database.line.names):
                curated = {m.value for m in database.methods if m.ranges.at(position) is not False}
                if entry.ranges.at(position) and entry.value not in curated:
                    yield f"method {entry.value}", f"the source of {release} lists it, methods.yaml does not"
                    break


_WORD_TABLES = {"method_words", "algorithm_words"}

CHECKS: Mapping[str, Callable[[Database], Found]] = {
    "empty-range": empty_ranges,
    "overlap": overlapping_rows,
    "mapping": unmapped_fields,
    "parent": outlived_parents,
    "replacement": dead_replacements,
    "evidence": doubtful_evidence,
    "scope-rule": scope_rules,
    "method-word": unknown_words,
}
