"""The tokens of one prefill step against the pages of the KV cache."""

from __future__ import annotations

from collections.abc import Mapping

from specconf.facts import Derivation, Fact, Facts, Known, Missing, OneOf, either

# The engine's own choices of a page size, of every backend and model, divide it.
_EVERY_PAGE = 256


def chunk_rest(facts: Facts) -> Fact:
    """What is left of a prefill step's tokens in whole pages, as Python reckons it for a step that is switched off (-1)."""
    chunk, page = facts.get("option.chunked_prefill_size"), facts.get("option.page_size")
    if isinstance(chunk, Missing):
        return chunk
    pages = [] if isinstance(page, Missing) else _numbers(page)
    if not pages and not facts.written("asked.page_size"):
        pages = [_EVERY_PAGE]
        if any(tokens % _EVERY_PAGE for tokens in _numbers(chunk)):
            return page if isinstance(page, Missing) else Missing("option.page_size")
    rests = [tokens % size for tokens in _numbers(chunk) for size in pages]
    return either(rests) if rests else Missing("option.page_size")


def _numbers(fact: Known | OneOf) -> list[int]:
    return [value for value in fact.values if isinstance(value, int) and value != 0]


DERIVATIONS: Mapping[str, Derivation] = {"chunk_rest": chunk_rest}
