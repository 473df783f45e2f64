"""How much the database knows of each release of one engine, as numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct

from specconf.compat.database import Database


class Coverage(Struct, frozen=True):
    """What is known of one release. `options` and `completeness` by scope; `unsure`: rows that may hold (inside a bracket)."""

    release: str
    options: Mapping[str, int]
    completeness: Mapping[str, str]
    defaults: int
    typed: int
    tables: Mapping[str, int]
    executable: int
    described: int
    unsure: int

    @property
    def total_options(self) -> int:
        """Options of all scopes."""
        return sum(self.options.values())


def coverage(database: Database) -> Iterator[Coverage]:
    """The coverage of every known release, oldest first."""
    tables = {name: [row.ranges for row in database.tables[name].rows] for name in sorted(database.tables)}
    for position, release in enumerate(database.line.names):
        held = [(ranges.at(position), row) for ranges, row in database.raw_options]
        rows = [row for state, row in held if state]
        constraints = [c for c in database.constraints if c.ranges.at(position)]
        options: dict[str, int] = {}
        for row in rows:
            options[row["scope"]] = options.get(row["scope"], 0) + 1
        yield Coverage(
            release=release,
            options=options,
            completeness={s.name: s.completeness for s in database.scopes if s.ranges.at(position)},
            defaults=sum("default" in row for row in rows),
            typed=sum("type" in row or "choices" in row for row in rows),
            tables={name: sum(1 for ranges in held_in if ranges.at(position)) for name, held_in in tables.items()},
            executable=sum(c.kind == "executable" for c in constraints),
            described=sum(c.kind == "described" for c in constraints),
            unsure=sum(state is None for state, _ in held),
        )
