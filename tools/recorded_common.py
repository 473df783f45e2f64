"""What the comparisons with recorded answers share: an engine's words cut short, and one value in force beside another."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from specconf.facts import Effective, Known
from specconf.findings import Finding, Stage

WORDS = 12
UNKNOWN = object()
# The engines were asked up to here: their parser and their config, without a GPU.
ASKED = {Stage.PARSE, Stage.CONFIG, None}


def first_words(message: str) -> str | None:
    """The first words of what an engine said, without what its parser says around them."""
    return " ".join(message.rpartition("error: ")[2].split()[:WORDS]) or None


def in_cell(words: str) -> str:
    """Words inside a cell of a table."""
    return words.replace("|", "\\|")


def known(found: Effective | None) -> Any:
    """A value in force; UNKNOWN where it is not known."""
    return found.value.value if found and isinstance(found.value, Known) else UNKNOWN


def ruled(refusals: Iterable[Finding]) -> str:
    """Which rules refuse."""
    return ", ".join(f.constraint or f"{f.code} {f.option}" for f in refusals) or "accepted"


def agreement(equal: int, unknown: int, total: int) -> str:
    """One cell: how many agree, and of how many nothing is known."""
    return f"{equal} of {total}" + (f", {unknown} not known" if unknown else "")
