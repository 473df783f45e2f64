"""Releases of one engine on their total order, and the ranges of releases in which a fact holds.

Ranges are half-open on the order of `packaging.version.Version`. A bound is a release or a bracket inside which membership is
unknown. Ranges are compiled to positions in the list of known releases, so that asking costs integer comparisons only.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any

from msgspec import Struct
from packaging.version import InvalidVersion, Version

from specconf.errors import DatabaseError, UnknownReleaseError
from specconf.kleene import Ternary, agreed


def parse_version(text: str) -> Version:
    """A version from text; a leading `v`, as in image tags, is allowed."""
    try:
        return Version(text)
    except InvalidVersion:
        raise UnknownReleaseError(
            f"{text!r} is not a version.", hint="Write a release such as 0.33.0 or 1.4.0rc1."
        ) from None


class Point(Struct, frozen=True):
    """A stated release, placed among the known ones.

    `positions` are indexes into the list of known releases: one for a published release, two for a version that stands
    between two of them. `checked_as` names the release whose facts are used.
    """

    stated: str
    checked_as: str
    positions: tuple[int, ...]
    notice: str = ""

    @property
    def published(self) -> bool:
        """Whether the stated release is one the database knows."""
        return not self.notice


class ReleaseLine:
    """All known releases of one engine, oldest first, with their dates where known."""

    def __init__(self, engine: str, releases: Sequence[tuple[str, str | None]]) -> None:
        if not releases:
            raise DatabaseError(f"no release of {engine} is recorded")
        self.engine = engine
        self.names = tuple(name for name, _ in releases)
        self.dates = tuple(date for _, date in releases)
        self._position = {name: i for i, name in enumerate(self.names)}

    @cached_property
    def versions(self) -> tuple[Version, ...]:
        """The releases as versions, in order."""
        parsed = tuple(parse_version(name) for name in self.names)
        if list(parsed) != sorted(set(parsed)):
            raise DatabaseError(f"the releases of {self.engine} are not in order or not unique")
        return parsed

    @cached_property
    def newest_final(self) -> str:
        """The newest release that is not a pre-release (or the newest of all where every one is)."""
        finals = [name for name in self.names if not parse_version(name).is_prerelease]
        return finals[-1] if finals else self.names[-1]

    @property
    def newest(self) -> str:
        """The newest release known, pre-releases included."""
        return self.names[-1]

    @property
    def date(self) -> str:
        """The date of the newest dated release, which is the database's own."""
        return max((date for date in self.dates if date), default="unknown date")

    def at(self, position: int) -> Point:
        """The point of a known release by its position."""
        return Point(self.names[position], self.names[position], (position,))

    def place(self, text: str) -> Point:
        """Where a stated release stands.

        Raises UnknownReleaseError for text that is no version and for a release older than the oldest known.
        """
        if text in self._position:
            return self.at(self._position[text])
        version = parse_version(text)
        same = self._position_of(version)
        if same is not None:  # 0.33 is 0.33.0, v0.33.0 too
            return self.at(same)
        below = bisect_left(self.versions, version)
        if below == 0:
            known = ", ".join(self.names[:3])
            raise UnknownReleaseError(
                f"{self.engine} {text} is older than the oldest release the database knows ({self.names[0]}).",
                hint=f"Known releases begin with {known}; `specconf db releases {self.engine}` lists all.",
            )
        return self._place_between(text, version, below)

    def _place_between(self, text: str, version: Version, above: int) -> Point:
        public = self._position_of(Version(version.public)) if version.local else None
        if public is not None:  # a local build of a release differs from it in its packaging, not in its code
            name = self.names[public]
            return Point(text, name, (public,), f"{text} is not a published release; it is judged as {name}")
        if above == len(self.versions):
            return Point(
                text,
                self.newest,
                (above - 1,),
                f"{self.engine} {text} is newer than this database of {self.date} knows; it is judged as {self.newest}",
            )
        lower, upper = self.names[above - 1], self.names[above]
        notice = f"{text} is not a published release; it is judged by {lower} and {upper}, where both agree"
        return Point(text, f"{lower}..{upper}", (above - 1, above), notice)

    def _position_of(self, version: Version) -> int | None:
        place = bisect_left(self.versions, version)
        return place if place < len(self.versions) and self.versions[place] == version else None

    def position(self, bound: str) -> int:
        """How many known releases come before `bound`."""
        exact = self._position.get(bound)
        return bisect_left(self.versions, parse_version(bound)) if exact is None else exact


class Ranges(Struct, frozen=True):
    """Where a fact holds: half-open runs of positions, each known to hold or unknown. Elsewhere it does not hold."""

    holds_in: tuple[tuple[int, int], ...]
    unknown_in: tuple[tuple[int, int], ...] = ()

    def at(self, position: int) -> Ternary:
        """Whether the fact holds at one known release."""
        for low, high in self.holds_in:
            if low <= position < high:
                return True
        for low, high in self.unknown_in:
            if low <= position < high:
                return None
        return False

    def holds(self, point: Point) -> Ternary:
        """Whether the fact holds at a point; between two releases only where both agree."""
        positions = point.positions
        if len(positions) == 1:
            return self.at(positions[0])
        return agreed(self.at(p) for p in positions)

    def text(self, line: ReleaseLine) -> str:
        """The ranges as a reader sees them: `[0.10.0, 0.15.0)`, `0.16.0 on`, `all known releases`."""
        parts = [_run_text(line, low, high) for low, high in self.holds_in]
        parts += [f"perhaps {_run_text(line, low, high)}" for low, high in self.unknown_in]
        return "; ".join(parts) or "no known release"

    def packed(self) -> list[list[list[int]]]:
        """The form kept in the compiled index."""
        return [[list(run) for run in self.holds_in], [list(run) for run in self.unknown_in]]

    @staticmethod
    def packed_holds(packed: Sequence[Sequence[Sequence[int]]], point: Point) -> Ternary:
        """`holds` of the packed form, which most rows of an index are only ever asked for."""
        if len(point.positions) != 1:
            return Ranges.unpack(packed).holds(point)
        (position,) = point.positions
        for answer, runs in zip((True, None), packed, strict=True):
            for low, high in runs:
                if low <= position < high:
                    return answer
        return False

    @classmethod
    def unpack(cls, packed: Sequence[Sequence[Sequence[int]]]) -> Ranges:
        """The reverse of `packed`."""
        holds_in, unknown_in = packed
        return cls(tuple((a, b) for a, b in holds_in), tuple((a, b) for a, b in unknown_in))


def _run_text(line: ReleaseLine, low: int, high: int) -> str:
    if high >= len(line.names):
        return "all known releases" if low == 0 else f"{line.names[low]} on"
    if low == 0:
        return f"before {line.names[high]}"
    return f"[{line.names[low]}, {line.names[high]})"


def compile_ranges(line: ReleaseLine, ranges: Sequence[Mapping[str, Any]]) -> Ranges:
    """Ranges as written in the database, compiled against the known releases.

    Raises DatabaseError when two of them overlap. An empty run (between two known releases) is dropped: no release stands
    in it.
    """
    holds: list[tuple[int, int]] = []
    unknown: list[tuple[int, int]] = []
    for written in ranges:
        extra = set(written) - {"since", "before"}
        if extra:
            raise DatabaseError(f"a range has the unknown key {sorted(extra)[0]!r}: {dict(written)}")
        start_maybe, start = _since(line, written.get("since"))
        end, end_maybe = _before(line, written.get("before"))
        if not start_maybe <= start <= end <= end_maybe:
            raise DatabaseError(f"a range or bracket runs backwards: {dict(written)}")
        holds.append((start, end))
        unknown += [(start_maybe, start), (end, end_maybe)]
    runs = sorted(run for run in [*holds, *unknown] if run[0] < run[1])
    if any(first_end > second_start for (_, first_end), (second_start, _) in pairwise(runs)):
        raise DatabaseError(f"two ranges of one fact overlap: {list(ranges)}")
    kept = tuple(sorted(run for run in holds if run[0] < run[1]))
    return Ranges(kept, tuple(sorted(run for run in unknown if run[0] < run[1])))


def _since(line: ReleaseLine, bound: Any) -> tuple[int, int]:
    """For `since`: the first position where the fact may hold, and the first where it does."""
    if bound is None:
        return 0, 0
    if isinstance(bound, str):
        return line.position(bound), line.position(bound)
    not_in, within = _bracket(bound)
    return _after(line, not_in), line.position(within)


def _before(line: ReleaseLine, bound: Any) -> tuple[int, int]:
    """For `before`: the first position where the fact is no longer known to hold, and the first where it does not."""
    if bound is None:
        return len(line.names), len(line.names)
    if isinstance(bound, str):
        return line.position(bound), line.position(bound)
    not_in, within = _bracket(bound)
    return _after(line, within), line.position(not_in)


def _bracket(bound: Any) -> tuple[str, str]:
    if not isinstance(bound, Mapping) or set(bound) != {"not_in", "in"}:
        raise DatabaseError(f"a bound is a release or a bracket {{not_in, in}}: {bound!r}")
    return str(bound["not_in"]), str(bound["in"])


def _after(line: ReleaseLine, bound: str) -> int:
    position = line.position(bound)
    known = position < len(line.names) and line.versions[position] == parse_version(bound)
    return position + 1 if known else position
