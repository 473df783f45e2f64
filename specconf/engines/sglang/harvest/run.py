"""SGLang's harvester: where its releases are found, what is read from one, and how renamed paths are joined."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from specconf.engines.sglang.harvest.assemble import parser_surprises, rows_of
from specconf.engines.sglang.harvest.mentions import speculation_messages
from specconf.engines.sglang.harvest.release import Release
from specconf.engines.sglang.harvest.renames import apply_renames, renames
from specconf.engines.sglang.harvest.tables import table_rows
from specconf.harvest.archive import Archive
from specconf.harvest.harvester import Harvested
from specconf.harvest.intervals import Key, Row


class SglangHarvester:
    """`specconf.harvest.harvester.Harvester` for SGLang."""

    project = "sglang"
    package = "sglang"
    prefer = ("wheel", "sdist")
    lone_files: Mapping[str, str] = MappingProxyType({})
    oldest = "0.3.6"

    def read(self, archive: Archive, release: str) -> Harvested:
        """The rows of one release."""
        found = Release.read(archive, release)
        options = rows_of(found)
        tables = table_rows(found, options)
        messages = speculation_messages(archive, release)
        return Harvested(options, tables, messages, notes=[*parser_surprises(found), *dict.fromkeys(found.unread)])

    def option_key(self, row: Row) -> Key:
        """Scope, path and canonical spelling: several flags can write one path."""
        return (row["scope"], row["path"], row["names"][0] if row["names"] else "")

    def arrange(self, per_release: Mapping[str, list[Row]], order: Sequence[str]) -> Mapping[str, list[Row]]:
        """A field that was renamed has its newest path throughout."""
        newest = renames(per_release, order)
        return {release: apply_renames(rows, newest) for release, rows in per_release.items()}

    def order(self, rows: list[Row]) -> list[Row]:
        """Of the rows of one path, the spelling to write comes before old spellings and the positional."""
        return sorted(rows, key=lambda row: (row["scope"], row["path"], _secondary(row)))


def _secondary(row: Row) -> bool:
    """Whether a row is another way into an option that has a spelling of its own."""
    return bool(row.get("deprecated")) or not row["names"]


HARVESTER = SglangHarvester()
