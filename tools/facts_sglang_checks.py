"""The message sites of SGLang's facts file beside the harvested messages: found by their place and their first words."""

from __future__ import annotations

import re
from collections.abc import Iterator

from facts_common import Harvest, Record, Row, Span, between, compared, here_only, span

SECTION = "checks_measured"
_SORTS = {"warn": "warning", "warning_once": "warning"}
_HOLE = re.compile(r"\{[^{}]*\}|~|%[sdrf]")


def check_rows(facts: Record, harvested: Harvest) -> Iterator[Row]:
    """One row for every site of the facts, then our messages that none of these is.

    The facts follow a message when it moves: `where` is the last place it stood at. So a site whose releases differ is
    compared once more as a message, wherever it stands, with all sites of that message. Messages of which only the first
    words are kept here stand for all that begin with these.
    """
    messages: dict[str, list[Record]] = {}
    for row in harvested.messages:
        messages.setdefault(_words(row["fragment"])[0], []).append(row)
    taken: set[int] = set()
    for fact in facts[SECTION]:
        key = f"{fact['where']} | {fact['fragment']}"
        alike = [row for row in messages.get(_words(fact["fragment"])[0], ()) if _same(fact, row)]
        here = [row for row in alike if row["where"] == f"sglang/srt/{fact['where']}"]
        told, held = _releases(harvested, [fact]), span(harvested.order, harvested.held_by(here))
        if here and told == held:
            taken.update(map(id, here))
            yield compared(SECTION, key, str(told), str(held))
        else:
            taken.update(map(id, alike))
            others = [other for other in facts[SECTION] if other is fact or any(_same(other, row) for row in alike)]
            yield compared(
                SECTION, key, str(_releases(harvested, others)), str(span(harvested.order, harvested.held_by(alike)))
            )
    files = {fact["where"].partition(":")[0] for fact in facts[SECTION]}
    left = [row for row in harvested.messages if id(row) not in taken]
    yield from here_only(SECTION, left, "sglang/srt", files)


def _releases(harvested: Harvest, facts: list[Record]) -> Span:
    """The releases in which any of these sites says its message."""
    pairs = [pair for fact in facts for pair in fact["intervals"]]
    return span(harvested.order, frozenset().union(*(between(harvested.order, *pair).members for pair in pairs)))


def _same(fact: Record, row: Record) -> bool:
    """Whether a harvested message is the one of the facts: of the same sort, and the shorter of both starts the other."""
    sort, _, exception = fact["kind"].partition(" ")
    if sort == "raise" and (row["kind"] != "raise" or row.get("exception") != exception):
        return False
    if sort != "raise" and row["kind"] != _SORTS.get(sort, sort):
        return False
    left, right = _words(fact["fragment"]), _words(row["fragment"])
    shorter = min(len(left), len(right))
    return shorter > 0 and left[:shorter] == right[:shorter]


def _words(text: str) -> list[str]:
    """The words of a message's beginning, its filled parts all alike."""
    return _HOLE.sub("~", text).replace("'~'", "~").replace("self.", "").lower().split()
