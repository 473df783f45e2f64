"""vLLM's harvester: where its releases are found, and what is read from one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType

from specconf.engines.vllm.harvest.allow_lists import allow_list_rows
from specconf.engines.vllm.harvest.families import family_rows
from specconf.engines.vllm.harvest.interfaces import model_rows
from specconf.engines.vllm.harvest.method_words import word_rows
from specconf.engines.vllm.harvest.metrics import metric_rows
from specconf.engines.vllm.harvest.release import option_rows, row_key
from specconf.engines.vllm.harvest.scope_rules import scope_rows
from specconf.engines.vllm.harvest.source import Tree
from specconf.engines.vllm.harvest.tables import Reading
from specconf.engines.vllm.harvest.values import Evaluator
from specconf.engines.vllm.harvest.word_lists import list_rows
from specconf.harvest.archive import Archive
from specconf.harvest.harvester import Harvested
from specconf.harvest.intervals import Key, Row
from specconf.harvest.messages import EAGLE, MTP, NGRAM, message_rows
from specconf.harvest.messages import SAYERS as COMMON_SAYERS
from specconf.harvest.rewrites import rewrite_rows

# Where the configuration of a checkpoint is read and changed before a class is looked for.
_CONFIGURATION = ("vllm/transformers_utils/", "vllm/config/")
_OF_DRAFTS = (
    *(f"vllm/transformers_utils/configs/{name}" for name in ("speculators/", "eagle.py", "extract_hidden_states.py")),
    "vllm/config/speculative.py",
    "vllm/config/__init__.py",
)


def _rewritten(reading: Reading) -> list[Row]:
    return rewrite_rows(reading.evaluator.tree.archive, reading.release, _CONFIGURATION, _OF_DRAFTS)


# What reads which tables: the modules' docstrings have their columns.
TABLES: tuple[Callable[[Reading], list[Row]], ...] = (
    model_rows,
    family_rows,
    word_rows,
    allow_list_rows,
    metric_rows,
    scope_rows,
    list_rows,
    _rewritten,
)
_WORDS = (
    *("specul", "spec_dec", "spec_tok", "specdec", "draft", "medusa", "lookahead", "dflash", "dspark", "suffix_decod"),
    *("rejection_sampl", "rejection sampl", "num_spec"),
)
# Words that other things are called as well.
_TOLD_APART = {
    "eagle": EAGLE,
    "mtp": MTP,
    "ngram": NGRAM,
    "synthetic": "synthetic[ _](?:accept|mode|cond)|'synthetic'",
}
SPECULATION = re.compile("|".join((*_WORDS, *_TOLD_APART.values())), re.IGNORECASE)
SAYERS = {**COMMON_SAYERS, "unsupported.append": "unsupported", "_raise_or_fallback": "raise"}
_NOT_THE_ENGINE = ("vllm/benchmarks/", "vllm/tests/")


def _concerned(archive: Archive) -> Iterator[str]:
    """The engine's files that mention speculation: a plain search, since most have none and a pattern takes its time."""
    for file in archive.files:
        if not file.startswith(_NOT_THE_ENGINE):
            text = archive.text(file).lower()
            if any(word in text or word in file for word in (*_WORDS, *_TOLD_APART)):
                yield file


class VllmHarvester:
    """`specconf.harvest.harvester.Harvester` for vLLM."""

    project = "vllm"
    package = "vllm"
    prefer = ("sdist", "wheel")  # its wheels are some hundred megabytes; two releases have nothing else
    lone_files: Mapping[str, str] = MappingProxyType({})
    oldest = "0.4.1"

    def read(self, archive: Archive, release: str) -> Harvested:
        """The rows of one release."""
        evaluator = Evaluator(Tree(archive, release))
        reading = Reading(evaluator, release)
        tables = [row for read in TABLES for row in read(reading)]
        messages = message_rows(archive, release, SPECULATION, SAYERS, _concerned(archive))
        return Harvested(option_rows(evaluator, release), tables, messages, reading.notes)

    def option_key(self, row: Row) -> Key:
        """Scope, path and spellings."""
        return row_key(row)

    def arrange(self, per_release: Mapping[str, list[Row]], _: Sequence[str]) -> Mapping[str, list[Row]]:
        """As they are: vLLM's destinations are its configuration's own fields."""
        return per_release

    def order(self, rows: list[Row]) -> list[Row]:
        """By scope, path and spellings, as they are joined."""
        return rows


HARVESTER = VllmHarvester()
