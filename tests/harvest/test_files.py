"""The harvested files: brought up to date release by release, they are what reading everything at once would give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specconf.errors import HarvestError
from specconf.harvest.archive import Archive
from specconf.harvest.files import (
    HarvestedFiles,
    ReadRelease,
    changed_rows,
    load,
    updated,
    with_predecessors,
    write,
)
from specconf.harvest.harvester import KINDS, Harvested, spread
from specconf.harvest.intervals import Key, Row

ORDER = ("1.0", "1.1", "1.2rc1", "1.2", "1.10")


class PlainHarvester:
    """A harvester whose rows are joined as they are."""

    project = "engine"
    package = "engine"
    prefer = ("sdist",)
    lone_files: Mapping[str, str] = {}
    oldest = "1.0"

    def read(self, archive: Archive, release: str) -> Harvested:
        raise NotImplementedError

    def option_key(self, row: Row) -> Key:
        return (row["path"],)

    def arrange(self, per_release: Mapping[str, list[Row]], _: Sequence[str]) -> Mapping[str, list[Row]]:
        return per_release

    def order(self, rows: list[Row]) -> list[Row]:
        return rows


def read(release: str, values: Mapping[str, int]) -> ReadRelease:
    """A release with an option, a table row and a message for every value."""

    def proof(line: int) -> list[dict[str, Any]]:
        return [{"kind": "source", "release": release, "file": "engine/args.py", "line": line}]

    options = [{"path": name, "default": value, "evidence": proof(value)} for name, value in values.items()]
    tables = [
        {"table": "t", "value": name, "column": value, "evidence": proof(value)} for name, value in values.items()
    ]
    messages = [
        {"kind": "raise", "exception": "E", "fragment": name, "where": f"f{value}", "evidence": proof(value)}
        for name, value in values.items()
    ]
    return ReadRelease({"version": release, "date": None, "source": "sdist"}, Harvested(options, tables, messages))


EMPTY = HarvestedFiles([], {})
VALUES = st.dictionaries(st.sampled_from("abc"), st.integers(0, 2), max_size=3)


@given(st.dictionaries(st.sampled_from(ORDER), VALUES, min_size=1), st.randoms())
def test_release_by_release_gives_what_all_at_once_gives(releases: dict[str, dict[str, int]], random: Any) -> None:
    harvester = PlainHarvester()
    every = updated(harvester, EMPTY, [read(name, values) for name, values in releases.items()])
    names = list(releases)
    random.shuffle(names)
    step = EMPTY
    for name in names:
        needed = with_predecessors([name], step.order)
        assert name in needed
        assert len(needed) <= 2
        step = updated(harvester, step, [read(one, releases[one]) for one in needed])
    assert step == every
    assert updated(harvester, every, [read(names[0], releases[names[0]])]) == every


def test_the_release_before_an_inserted_one_is_read_too() -> None:
    assert with_predecessors(["1.2"], ["1.0", "1.1", "1.10"]) == ["1.1", "1.2"]
    assert with_predecessors(["1.11"], ["1.0", "1.10"]) == ["1.11"]
    assert with_predecessors(["0.9"], ["1.0"]) == ["0.9"]
    assert with_predecessors(["1.1"], []) == ["1.1"]


@given(st.dictionaries(st.sampled_from(ORDER), VALUES, min_size=1))
def test_spreading_is_the_reverse_of_joining(releases: dict[str, dict[str, int]]) -> None:
    files = updated(PlainHarvester(), EMPTY, [read(name, values) for name, values in releases.items()])
    for kind in KINDS:
        again = spread(files.rows[kind], files.order)
        for name, values in releases.items():
            bare = [
                {k: v for k, v in row.items() if k != "evidence"} for row in read(name, values).harvested.rows(kind)
            ]
            here = [{k: v for k, v in row.items() if k != "evidence"} for row in again[name]]
            assert sorted(map(str, here)) == sorted(map(str, bare))


def test_releases_are_in_the_order_of_their_versions() -> None:
    files = updated(PlainHarvester(), EMPTY, [read("1.10", {}), read("1.2", {}), read("1.2rc1", {})])
    assert files.order == ["1.2rc1", "1.2", "1.10"]


def test_only_what_changed_is_written(tmp_path: Path) -> None:
    files = updated(PlainHarvester(), EMPTY, [read("1.0", {"a": 1})])
    assert {path.name for path in write(tmp_path, files)} == {
        "releases.jsonl", "options.jsonl", "tables.jsonl", "messages.jsonl",
    }  # fmt: skip
    assert load(tmp_path) == files
    assert write(tmp_path, files) == []
    more = updated(PlainHarvester(), files, [read("1.1", {"a": 1})])
    assert [path.name for path in write(tmp_path, more)] == [
        "releases.jsonl",
        "options.jsonl",
        "tables.jsonl",
        "messages.jsonl",
    ]
    assert not list(tmp_path.glob(".*"))


def test_a_broken_file_is_refused_with_its_path(tmp_path: Path) -> None:
    (tmp_path / "options.jsonl").write_text("{", encoding="utf-8")
    with pytest.raises(HarvestError, match=r"options\.jsonl"):
        load(tmp_path)


def test_counting_what_changed() -> None:
    assert changed_rows([{"a": 1}, {"a": 2}], [{"a": 2}, {"a": 3}, {"a": 4}]) == (2, 1)
