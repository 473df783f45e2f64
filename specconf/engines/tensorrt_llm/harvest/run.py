"""TensorRT-LLM's harvester. The package index has no source of it: what is read is a wheel, a checkout, or the one file
`llm_args.py` that a user has.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from specconf.engines.tensorrt_llm.harvest.options import ARGUMENTS, Reader
from specconf.engines.tensorrt_llm.harvest.serve import serve_rows
from specconf.engines.tensorrt_llm.harvest.source import Tree
from specconf.harvest.archive import Archive
from specconf.harvest.harvester import Harvested
from specconf.harvest.intervals import Key, Row
from specconf.harvest.messages import message_rows

_SPECULATION = re.compile(
    r"specul|spec[_ ]?(?:dec|config|metadata)|draft|eagle|medusa|lookahead|\bmtp\b|num_nextn|n-?gram"
    r"|suffix.?automaton|\bpard\b|dflash|dspark",
    re.IGNORECASE,
)


class TrtllmHarvester:
    """`specconf.harvest.harvester.Harvester` for TensorRT-LLM."""

    project = ""
    package = "tensorrt_llm"
    prefer = ()
    oldest = "0.20.0"
    lone_files: Mapping[str, str] = {"llm_args.py": ARGUMENTS}

    def read(self, archive: Archive, release: str) -> Harvested:
        """The rows of one release."""
        tree = Tree(archive)
        reader = Reader(tree, release)
        reader.read()
        options, rules = serve_rows(tree, release)
        messages = message_rows(archive, release, _SPECULATION)
        return Harvested([*reader.options, *options], [*reader.tables, *rules], messages, tree.notes)

    def option_key(self, row: Row) -> Key:
        """Scope, path, canonical spelling and tags: two tags can give a member other attributes."""
        return (row["scope"], row["path"], row["names"][0] if row["names"] else "", *row.get("methods", ()))

    def arrange(self, per_release: Mapping[str, list[Row]], _: Sequence[str]) -> Mapping[str, list[Row]]:
        """As they are: renamed members have their newest path already."""
        return per_release

    def order(self, rows: list[Row]) -> list[Row]:
        """By scope, path, spelling and tags, as they are joined."""
        return rows


HARVESTER = TrtllmHarvester()
