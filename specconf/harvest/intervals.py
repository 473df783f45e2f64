"""Merging the rows harvested from single releases into rows that carry the ranges of releases they hold in.

Nothing here knows an engine: a row is a JSON object, and two rows are the same fact when everything but their evidence
is equal.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

Row = dict[str, Any]
Key = tuple[str, ...]

EVIDENCE = "evidence"
RELEASES = "releases"


def merge_rows(
    per_release: Mapping[str, list[Row]],
    order: Sequence[str],
    key: Callable[[Row], Key],
) -> list[Row]:
    """Join the rows of the harvested releases: one row for one key and one set of attributes, with its `releases`.

    `order` lists the known releases, oldest first; `per_release` holds those that were harvested. `key` names the thing
    a row is about (scope, path, ...); within one release it must be unique. Of every unbroken run of releases the
    evidence at its newest release is kept. A bound that falls between two harvested releases with unharvested ones
    between them becomes a bracket; the outermost bounds are left out. The result is sorted by key, then by age.
    """
    harvested = [release for release in order if release in per_release]
    missing = sorted(set(per_release) - set(order))
    if missing:
        raise ValueError(f"rows of releases that the order does not list: {', '.join(missing)}")
    seen: dict[tuple[Key, str], dict[int, Row]] = {}
    for position, release in enumerate(harvested):
        for name, row in _unique(per_release[release], key, release).items():
            seen.setdefault((name, _fingerprint(row)), {})[position] = row
    places = {release: position for position, release in enumerate(order)}
    ordered = sorted(seen.items(), key=lambda item: (item[0][0], min(item[1]), item[0][1]))
    return [_joined(rows, harvested, places) for _, rows in ordered]


def _unique(rows: Sequence[Row], key: Callable[[Row], Key], release: str) -> dict[Key, Row]:
    """Index one release's rows by key, refusing two rows that claim the same thing."""
    found: dict[Key, Row] = {}
    for row in rows:
        name = key(row)
        if name in found:
            raise ValueError(f"release {release}: two rows with the key {name}")
        found[name] = row
    return found


def _fingerprint(row: Row) -> str:
    """Text that is equal for two rows exactly when their attributes are (evidence moves with every release)."""
    attributes = {name: value for name, value in row.items() if name not in (EVIDENCE, RELEASES)}
    return json.dumps(attributes, sort_keys=True, ensure_ascii=False)


def _joined(rows: Mapping[int, Row], harvested: Sequence[str], places: Mapping[str, int]) -> Row:
    """Build the merged row from the rows found at these positions of the harvested releases."""
    runs = _runs(sorted(rows))
    merged = dict(rows[runs[-1][1]])
    merged[RELEASES] = [_range(first, last, harvested, places) for first, last in runs]
    evidence = [item for _, last in runs for item in rows[last].get(EVIDENCE, [])]
    if evidence:
        merged[EVIDENCE] = evidence
    return merged


def _runs(positions: Sequence[int]) -> list[tuple[int, int]]:
    """Split ascending positions into unbroken runs, each given by its first and last position."""
    cuts = [index for index, (left, right) in enumerate(pairwise(positions), start=1) if right != left + 1]
    starts, ends = [0, *cuts], [*cuts, len(positions)]
    return [(positions[start], positions[end - 1]) for start, end in zip(starts, ends, strict=True)]


def _range(first: int, last: int, harvested: Sequence[str], places: Mapping[str, int]) -> dict[str, Any]:
    """The half-open range of one run of harvested releases."""
    found: dict[str, Any] = {}
    if first > 0:
        found["since"] = _bound(harvested[first - 1], harvested[first], places, rising=True)
    if last < len(harvested) - 1:
        found["before"] = _bound(harvested[last], harvested[last + 1], places, rising=False)
    return found


def _bound(left: str, right: str, places: Mapping[str, int], *, rising: bool) -> str | dict[str, str]:
    """The bound between two neighbouring harvested releases: the later one, or a bracket over what lies between."""
    if places[right] == places[left] + 1:
        return right
    return {"not_in": left, "in": right} if rising else {"in": left, "not_in": right}
