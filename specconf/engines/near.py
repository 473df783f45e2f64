"""Did-you-mean: spellings close to what was written. The matching library is imported only when something is wrong."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

_ENOUGH = 78.0
_MOST = 3


def near_names(written: str, valid: Iterable[str]) -> tuple[str, ...]:
    """Up to three valid names close to a written one, best first; separators do not count as differences."""
    from rapidfuzz import fuzz, process

    by_form = _by_form(tuple(valid))
    found = process.extract(_form(written), by_form.keys(), scorer=fuzz.ratio, limit=_MOST, score_cutoff=_ENOUGH)
    return tuple(by_form[form] for form, _, _ in found)


@lru_cache(maxsize=32)  # a file with many words that no release has asks for the same names each time
def _by_form(names: tuple[str, ...]) -> dict[str, str]:
    return {_form(name): name for name in names}


def _form(name: str) -> str:
    return name.strip("-").replace("_", "-").lower()
