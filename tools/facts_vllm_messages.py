"""The facts' index of messages beside the harvested fragments.

The facts name the last file in which a message stood and the function alone, so that a message which moved is one row
there and several here: rows are matched by function and text, over all files.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from facts_common import DIFFERENT, EQUAL, Harvest, Row, Span, here_only, skipped, span

SECTION = "message_index"
# Fragments are cut at different lengths; this much of a short one must be common.
_ENOUGH = 12
_NOT_THE_ENGINE = ("benchmarks/",)


def message_rows(
    index: Sequence[Mapping[str, Any]], ours: Harvest, order: Sequence[str], read: Callable[[str], Span]
) -> Iterator[Row]:
    """One row for each message of the facts, in which releases each side has it; then our messages that none of these is."""
    taken: set[int] = set()
    ours_by, facts_by = _by_function(ours.messages, "where"), _by_function(index, "where")
    for fact in index:
        text, function = _text(fact["key"]), _function(fact["where"])
        key = f"{fact['where']} {fact['key']}"
        if fact["where"].startswith(_NOT_THE_ENGINE):
            yield skipped(SECTION, key, str(read(fact["releases"])), "a program beside the engine: not harvested")
            continue
        # Messages that begin alike are one fragment here, and are compared together.
        cut = [row["fragment"] for row in ours_by.get(function, ()) if alike(text, row["fragment"])]
        peers = [peer for peer in facts_by[function] if any(alike(_text(peer["key"]), start) for start in [text, *cut])]
        given = span(order, frozenset().union(*(read(peer["releases"]).members for peer in peers)))
        rows = [
            row
            for row in ours_by.get(function, ())
            if any(alike(_text(peer["key"]), row["fragment"]) for peer in peers)
        ]
        taken.update(map(id, rows))
        found = span(order, ours.held_by(rows))
        yield Row(SECTION, key, str(given), str(found), EQUAL if given == found else DIFFERENT)
    left = [row for row in ours.messages if id(row) not in taken and span(order, ours.held(row)).members]
    yield from here_only(SECTION, left, "vllm", {fact["where"].partition(":")[0] for fact in index})
    unread = [row for row in ours.messages if not span(order, ours.held(row)).members]
    if unread:
        yield skipped(SECTION, f"{len(unread)} messages here", "", "they stand in no release that the facts read")


def _by_function(rows: Iterable[Mapping[str, Any]], column: str) -> dict[str, list[Mapping[str, Any]]]:
    found: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        found.setdefault(_function(row[column]), []).append(row)
    return found


def _function(where: str) -> str:
    return where.rpartition(":")[2].rpartition(".")[2]


def _text(key: str) -> str:
    """The message itself, where the facts give the call around it."""
    call = re.match(r"""(?:unsupported\.append|_raise_or_fallback)\((?:feature_name=)?f?["'](.*?)["'][),]""", key)
    return call.group(1) if call else key


def alike(left: str, right: str) -> bool:
    """Whether one text begins as the other does, whatever stands in the parts that are filled in."""
    left, right = _plain(left), _plain(right)
    size = min(len(left), len(right))
    return size >= min(_ENOUGH, max(len(left), len(right))) and left[:size] == right[:size]


def _plain(text: str) -> str:
    """Words only: what is filled in, signs and spaces are written differently."""
    return re.sub(r"\W+", " ", text).strip()
