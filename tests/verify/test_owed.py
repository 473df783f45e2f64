"""What a file lacks of today's launches, and what it holds that nobody would ask any more."""

from __future__ import annotations

from functools import cache

import pytest
from msgspec.structs import replace

from specconf.compat.database import load_database
from specconf.engines.registry import get_engine, get_oracle
from specconf.oracle.asking import Verdict
from specconf.verify.covering import covering
from specconf.verify.launches import own_launches
from specconf.verify.observed import Header, Observed, Row
from specconf.verify.owed import Owed, owed

RELEASE, SEED = "0.10.2", 5
VIEW = load_database("vllm").at(RELEASE)


@cache
def whole() -> Observed:
    """A file with all that is asked today."""
    asked = [*own_launches(get_engine("vllm"), get_oracle("vllm"), VIEW), *covering("vllm", VIEW, seed=SEED, size=20)]
    origins: dict[str, tuple[str, ...]] = {}
    for one in asked:
        origins[one.question.key] = (*origins.get(one.question.key, ()), one.origin)
    rows = tuple(Row(key, named, Verdict.ACCEPTS, "config") for key, named in origins.items())
    return Observed(Header("vllm", RELEASE, "a", "ab" * 32, "3.11.7", {}, seed=SEED), rows)


def left(observed: Observed) -> Owed:
    return owed(get_engine("vllm"), get_oracle("vllm"), VIEW, observed)


def first(kind: str) -> Row:
    return next(row for row in whole().rows if len(row.origins) == 1 and row.origins[0].startswith(kind))


def without(row: Row) -> tuple[Row, ...]:
    return tuple(each for each in whole().rows if each != row)


def test_a_file_with_all_of_it_owes_nothing() -> None:
    assert left(whole()) == Owed()


@pytest.mark.parametrize("kind", ["probe ", "twin ", "array "])
def test_what_was_not_asked_is_owed(kind: str) -> None:
    row = first(kind)
    found = left(replace(whole(), rows=without(row)))
    assert (found.not_asked, found.no_longer) == (((row.origins[0], row.launch),), ())


def test_what_had_no_answer_was_asked() -> None:
    row = first("probe ")
    silent = replace(row, verdict=None, stage="", unanswered="outside")
    assert left(replace(whole(), rows=(*without(row), silent))) == Owed()


def test_a_launch_that_was_changed_is_owed_and_the_old_one_no_longer_asked() -> None:
    row = first("twin ")
    found = left(replace(whole(), rows=(*without(row), replace(row, launch="0" * 16))))
    assert found.not_asked == ((row.origins[0], row.launch),)
    assert found.no_longer == ((row.origins[0], "0" * 16),)
    assert str(found) == "1 launches not asked yet, 1 no longer asked"


def test_an_array_of_another_seed_is_no_longer_asked() -> None:
    other = replace(whole(), header=replace(whole().header, seed=SEED + 1))
    assert len(left(other).no_longer) == 20


def test_documents_and_loads_are_not_looked_at() -> None:
    more = (
        Row("0" * 16, ("corpus a.md:1",), Verdict.ACCEPTS, "config"),
        Row("1" * 16, ("load vllm/gone probe",), Verdict.ACCEPTS, "request"),
    )
    assert left(replace(whole(), rows=(*whole().rows, *more))) == Owed()
