"""The harvested files: brought up to date release by release, they are what reading everything at once would give."""

from __future__ import annotations

import json
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
    changes,
    load,
    shrunk,
    updated,
    with_predecessors,
    write,
)
from specconf.harvest.harvester import KINDS, Harvested, sizes, spread
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
        assert sizes(files.rows[kind], files.order) == {name: len(rows) for name, rows in again.items() if rows}


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
        "options.jsonl",
        "tables.jsonl",
        "messages.jsonl",
        "releases.jsonl",
    ]
    assert not list(tmp_path.glob(".*"))


def test_a_broken_file_is_refused_with_its_path(tmp_path: Path) -> None:
    (tmp_path / "options.jsonl").write_text("{", encoding="utf-8")
    with pytest.raises(HarvestError, match=r"options\.jsonl"):
        load(tmp_path)


RELEASES_LINE = '{"date": null, "source": "sdist", "version": "1.0"}\n'


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ('{"releases": [{"since": "1.1"}], "evidence": [{}]}', "release 1.1, which releases.jsonl does not list"),
        ('{"releases": [{"since": {"in": "1.0"}}], "evidence": [{}]}', "which releases.jsonl does not list"),
        ('{"releases": [{}], "evidence": []}', "one entry of evidence"),
        ('{"path": "a"}', "one entry of evidence"),
        ("3", "no JSON object"),
    ],
)
def test_files_that_do_not_fit_together_are_refused_with_their_place(tmp_path: Path, options: str, said: str) -> None:
    (tmp_path / "releases.jsonl").write_text(RELEASES_LINE, encoding="utf-8")
    (tmp_path / "options.jsonl").write_text(options + "\n", encoding="utf-8")
    with pytest.raises(HarvestError, match=r"options\.jsonl") as raised:
        load(tmp_path)
    assert said in str(raised.value)


@pytest.mark.parametrize("line", ["{}", '{"version": null}', '{"version": "newest"}'])
def test_a_list_of_releases_without_versions_is_refused(tmp_path: Path, line: str) -> None:
    (tmp_path / "releases.jsonl").write_text(RELEASES_LINE + line + "\n", encoding="utf-8")
    with pytest.raises(HarvestError, match=r"releases\.jsonl:2 "):
        load(tmp_path)


# --- writing all or nothing


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_where_one_file_cannot_be_written_none_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    files = updated(PlainHarvester(), EMPTY, [read("1.0", {"a": 1})])
    write(tmp_path, files)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    plain = Path.write_text

    def failing(path: Path, *args: Any, **kwargs: Any) -> int:
        if path.name == "messages.jsonl":
            raise error
        return plain(path, *args, **kwargs)

    monkeypatch.setattr(Path, "write_text", failing)
    more = updated(PlainHarvester(), files, [read("1.1", {"a": 2})])
    expected = HarvestError if isinstance(error, OSError) else KeyboardInterrupt
    with pytest.raises(expected, match=f"{tmp_path.name}.* cannot be written" if expected is HarvestError else None):
        write(tmp_path, more)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize("folder", ["file", "file/vllm/harvested"])
def test_an_output_that_is_a_file_is_named(tmp_path: Path, folder: str) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(HarvestError, match=r"/file.* cannot be written") as raised:
        write(tmp_path / folder, updated(PlainHarvester(), EMPTY, [read("1.0", {"a": 1})]))
    assert "--output" in str(raised.value.hint)


# --- what is listed of a release that is read again


def listed(date: str | None, **columns: str) -> ReadRelease:
    return ReadRelease({"version": "1.0", "date": date, **columns}, Harvested([]))


SDIST = {"source": "sdist", "file": "engine-1.0.tar.gz", "sha256": "aa"}


@pytest.mark.parametrize("anew", [False, True])
def test_a_date_that_is_known_stays(anew: bool) -> None:
    known = updated(PlainHarvester(), EMPTY, [listed("2026-11-02", **SDIST)])

    def again(read: ReadRelease) -> Row:
        (line,) = updated(PlainHarvester(), known, [read], anew=anew).releases
        return line

    assert again(listed(None, **SDIST)) == known.releases[0]
    assert again(listed(None, **SDIST | {"file": "renamed.tar.gz"})) == known.releases[0]
    assert again(listed(None, source="checkout")) == {"version": "1.0", "date": "2026-11-02", "source": "checkout"}
    other = {"source": "wheel", "file": "engine-1.0-py3-none-any.whl", "sha256": "bb"}
    assert again(listed(None, **other)) == {"version": "1.0", "date": "2026-11-02", **other}
    assert again(listed("2026-11-01", **SDIST))["date"] == "2026-11-01"


def test_all_anew_keeps_no_other_release() -> None:
    known = updated(PlainHarvester(), EMPTY, [read("1.0", {"a": 1}), read("1.1", {"a": 1})])
    again = updated(PlainHarvester(), known, [read("1.1", {"a": 1})], anew=True)
    assert again == updated(PlainHarvester(), EMPTY, [read("1.1", {"a": 1})])


# --- what changed


def counts(before: HarvestedFiles, after: HarvestedFiles) -> dict[str, tuple[int, ...]]:
    found = {name: change for name, _, change in changes(PlainHarvester(), before, after)}
    return {name: (one.new, one.gone, one.changed, one.moved) for name, one in found.items()}


def test_counting_what_changed() -> None:
    first = updated(PlainHarvester(), EMPTY, [read("1.0", {"a": 1, "b": 1, "c": 1})])
    assert counts(EMPTY, first)["options"] == (3, 0, 0, 0)
    assert counts(first, first) == dict.fromkeys(("releases", *KINDS), (0, 0, 0, 0))
    # The same facts in one release more: their place is that in the newer one.
    second = updated(PlainHarvester(), first, [read("1.1", {"a": 1, "b": 1, "c": 1})])
    assert counts(first, second) == {"releases": (1, 0, 0, 0)} | dict.fromkeys(KINDS, (0, 0, 0, 3))
    # a: moved; b: another value from 1.1 on, which ends the old row; c: ends; d: new.
    other = updated(PlainHarvester(), first, [read("1.1", {"a": 1, "b": 2, "d": 1})])
    assert counts(first, other)["options"] == (2, 0, 2, 1)
    assert counts(other, first)["options"] == (0, 2, 2, 1)


def test_a_release_that_loses_much_is_told() -> None:
    before = updated(PlainHarvester(), EMPTY, [read("1.0", {"a": 1, "b": 1, "c": 1}), read("1.1", {"a": 1})])
    third = updated(PlainHarvester(), before, [read("1.0", {"a": 1, "b": 1})])
    assert list(shrunk(before, third)) == []
    most = updated(PlainHarvester(), before, [read("1.0", {"a": 1})])
    assert list(shrunk(before, most)) == [f"1.0 would go from 3 to 1 rows in {kind}.jsonl" for kind in KINDS]
    gone = updated(PlainHarvester(), before, [read("1.0", {"a": 1, "b": 1, "c": 1})], anew=True)
    assert "1.1 would go from 1 to 0 rows in options.jsonl" in list(shrunk(before, gone))
    grown = updated(PlainHarvester(), before, [read("1.1", {"a": 1, "b": 2})])
    assert list(shrunk(before, grown)) == []


def test_what_is_written_is_read_as_it_was(tmp_path: Path) -> None:
    files = updated(PlainHarvester(), EMPTY, [read("1.0", {"ä": 1})])
    write(tmp_path, files)
    assert load(tmp_path) == files
    assert [
        json.loads(line) for line in (tmp_path / "releases.jsonl").read_text("utf-8").splitlines()
    ] == files.releases
