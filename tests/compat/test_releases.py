"""Ranges and releases: membership, brackets, versions that were never published."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specconf.compat.releases import Point, Ranges, ReleaseLine, compile_ranges
from specconf.errors import DatabaseError, UnknownReleaseError

NAMES = ("0.5.6", "0.5.6.post2", "0.5.7rc0", "0.5.7", "0.6.0", "1.0.0rc1", "1.0.0")
LINE = ReleaseLine("engine", [(name, None) for name in NAMES])
positions = st.integers(0, len(NAMES) - 1)


@pytest.mark.parametrize(
    ("ranges", "inside"),
    [
        ([{}], NAMES),
        ([{"since": "0.5.7"}], ("0.5.7", "0.6.0", "1.0.0rc1", "1.0.0")),
        ([{"before": "0.5.7"}], ("0.5.6", "0.5.6.post2", "0.5.7rc0")),
        ([{"since": "0.5.6.post2", "before": "0.5.7"}], ("0.5.6.post2", "0.5.7rc0")),
        ([{"before": "0.5.6.post1"}, {"since": "1.0.0"}], ("0.5.6", "1.0.0")),
        ([], ()),
    ],
)
def test_membership_is_half_open_on_the_order_of_versions(
    ranges: list[dict[str, str]], inside: tuple[str, ...]
) -> None:
    compiled = compile_ranges(LINE, ranges)
    assert tuple(n for n in NAMES if compiled.holds(LINE.place(n))) == inside


def test_a_post_release_comes_after_its_release() -> None:
    compiled = compile_ranges(LINE, [{"since": "0.5.6.post1"}])
    assert compiled.holds(LINE.place("0.5.6")) is False
    assert compiled.holds(LINE.place("0.5.6.post2")) is True


@pytest.mark.parametrize(
    ("ranges", "answers"),
    [
        (
            [{"since": {"not_in": "0.5.6.post2", "in": "0.6.0"}}],
            (False, False, None, None, True, True, True),
        ),
        (
            [{"before": {"in": "0.5.7", "not_in": "1.0.0"}}],
            (True, True, True, True, None, None, False),
        ),
    ],
)
def test_membership_inside_a_bracket_is_unknown(
    ranges: list[dict[str, object]], answers: tuple[bool | None, ...]
) -> None:
    compiled = compile_ranges(LINE, ranges)
    assert tuple(compiled.holds(LINE.place(n)) for n in NAMES) == answers


def test_overlapping_ranges_are_a_fault_of_the_data() -> None:
    with pytest.raises(DatabaseError, match="overlap"):
        compile_ranges(LINE, [{"since": "0.5.6", "before": "0.6.0"}, {"since": "0.5.7"}])


def test_an_unknown_key_in_a_range_is_a_fault_of_the_data() -> None:
    with pytest.raises(DatabaseError, match="until"):
        compile_ranges(LINE, [{"until": "0.6.0"}])


@pytest.mark.parametrize("text", ["0.5.7.dev3+gabc", "0.6.0.dev1", "0.5.9"])
def test_an_unpublished_version_stands_between_its_neighbours(text: str) -> None:
    point = LINE.place(text)
    assert not point.published
    assert len(point.positions) == 2
    low, high = point.positions
    assert high == low + 1


def test_a_fact_holds_between_two_releases_only_where_it_holds_in_both() -> None:
    between = LINE.place("0.5.9")  # after 0.5.7, before 0.6.0
    assert compile_ranges(LINE, [{"since": "0.5.7"}]).holds(between) is True
    assert compile_ranges(LINE, [{"since": "1.0.0"}]).holds(between) is False
    assert compile_ranges(LINE, [{"since": "0.6.0"}]).holds(between) is None


@pytest.mark.parametrize("text", ["1.1.0", "1.1.0rc2", "2.0.0"])
def test_a_release_newer_than_known_is_judged_as_the_newest_known(text: str) -> None:
    """The newest of all, not the newest final: what comes after 1.1.0rc1 is nearer to it than to 1.0.0."""
    line = ReleaseLine("engine", [("1.0.0", "2026-01-01"), ("1.1.0rc1", "2026-02-01")])
    point = line.place(text)
    assert point.checked_as == "1.1.0rc1"
    assert "newer than this database of 2026-02-01" in point.notice


@pytest.mark.parametrize(("text", "same"), [("1.0.0+cu129", "1.0.0"), ("0.5.7+cpu", "0.5.7")])
def test_a_local_build_is_judged_as_its_release(text: str, same: str) -> None:
    point = LINE.place(text)
    assert point.checked_as == same
    assert "not a published release" in point.notice


@pytest.mark.parametrize(
    "ranges",
    [
        [{"since": "0.6.0", "before": "0.5.6"}],
        [{"since": {"not_in": "1.0.0", "in": "0.5.6"}}],
        [{"since": {"in": "0.5.6"}}],
        [{"since": 0.5}],
        [{"before": {"in": "0.5.7", "not_in": "1.0.0"}}, {"since": "0.6.0"}],
    ],
)
def test_ranges_that_make_no_sense_are_a_fault_of_the_data(ranges: list[dict[str, object]]) -> None:
    with pytest.raises(DatabaseError):
        compile_ranges(LINE, ranges)


def test_a_release_older_than_known_is_refused_with_the_list() -> None:
    with pytest.raises(UnknownReleaseError) as error:
        LINE.place("0.1.0")
    assert "0.5.6" in str(error.value)


@pytest.mark.parametrize(("text", "same"), [("v0.6.0", "0.6.0"), ("0.6", "0.6.0"), ("1", "1.0.0")])
def test_other_spellings_of_a_release(text: str, same: str) -> None:
    assert LINE.place(text).checked_as == same
    assert LINE.place(text).published


def test_text_that_is_no_version() -> None:
    with pytest.raises(UnknownReleaseError, match="latest"):
        LINE.place("latest")


@given(st.lists(positions, max_size=6, unique=True))
def test_compiled_ranges_agree_with_the_order_of_versions(cuts: list[int]) -> None:
    bounds = sorted(cuts)
    pairs = list(zip(bounds[::2], bounds[1::2], strict=False))
    compiled = compile_ranges(LINE, [{"since": NAMES[a], "before": NAMES[b]} for a, b in pairs])
    for i in range(len(NAMES)):
        assert compiled.at(i) is any(a <= i < b for a, b in pairs)
    assert Ranges.unpack(compiled.packed()) == compiled


@given(positions, positions, positions)
def test_a_bracket_never_contradicts_its_ends(a: int, b: int, i: int) -> None:
    low, high = sorted((a, b))
    if low == high:
        return
    compiled = compile_ranges(LINE, [{"since": {"not_in": NAMES[low], "in": NAMES[high]}}])
    answer = compiled.holds(Point(NAMES[i], NAMES[i], (i,)))
    assert answer is (False if i <= low else True if i >= high else None)
