"""What was said of launches of one file, remembered while the file is judged again and again: a fix is tried by reading the
whole file anew, and merged keys or loops start the same words many times.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from specconf.findings import Finding, NotChecked
    from specconf.settings import Settings
    from specconf.words import Launch


class Verdict(NamedTuple):
    """A launch as its releases read it, and what they say of it."""

    settings: Settings
    findings: list[Finding]
    not_checked: tuple[NotChecked, ...]


class Verdicts:
    """The verdicts on one text of one file and on the text before it: no more is kept, however often a file is judged."""

    def __init__(self) -> None:
        self._path = ""
        self._before: dict[Hashable, Verdict] = {}
        self._now: dict[Hashable, Verdict] = {}

    def begin(self, path: str) -> None:
        """Another text is judged now."""
        self._before = self._now if path == self._path else {}
        self._path, self._now = path, {}

    def get(self, key: Hashable, judge: Callable[[], Verdict]) -> Verdict:
        """The verdict that is known, else the one that judging gives."""
        found = self._now.get(key) or self._before.get(key) or judge()
        self._now[key] = found
        return found


def as_read(launch: Launch) -> Hashable:
    """All of a launch that a verdict depends on, with the places that findings may have; where it begins is none of that."""
    words = tuple(
        (word, word.exact, word.quoted, word.places.span_of(0, len(word.value or "")) if word.places else None)
        for word in (*launch.argv, *(word for _, word in launch.env))
    )
    files = tuple(
        (name, text, placed.span_of(0, len(text)) if (placed := launch.places.get(name)) else None)
        for name, text in launch.files
    )
    return launch.engine, words, tuple(name for name, _ in launch.env), files
