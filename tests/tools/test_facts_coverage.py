"""What carries each row of the facts: the entries hold, and the share that can be held against a launch is kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from specconf.compat.database import load_database

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "tools" / "facts_explained" / "vllm_checks"


@pytest.fixture(autouse=True)
def _tools(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))


def coverage() -> Any:
    import facts_coverage

    return facts_coverage


def test_every_row_of_the_facts_is_carried_by_what_exists() -> None:
    tool = coverage()
    checks, carried = tool.read_checks(FOLDER / "rows.jsonl"), tool.Carried(tool.entries(FOLDER))
    assert list(tool.faults(load_database("vllm"), checks, carried)) == []


def test_nearly_all_checks_before_the_workers_are_executable() -> None:
    tool = coverage()
    executable, bounded = tool.share(tool.read_checks(FOLDER / "rows.jsonl"), tool.Carried(tool.entries(FOLDER)))
    assert bounded > 150
    assert executable >= tool.BOUND * bounded


def test_the_table_is_as_the_entries_have_it() -> None:
    tool = coverage()
    checks, carried = tool.read_checks(FOLDER / "rows.jsonl"), tool.Carried(tool.entries(FOLDER))
    text = tool.markdown("vllm", checks, carried, load_database("vllm"))
    assert (ROOT / "docs" / "facts-coverage" / "vllm.md").read_text("utf-8") == text


def _entry(**columns: Any) -> Any:
    return coverage().Entry(check="some_check", **columns)


def _check(**columns: Any) -> Any:
    values = {"category": "c", "effect": "startup_error", "stage": "config", "first": "0.10.0", "last": "0.14.1"}
    return coverage().Check(id="some_check", **{**values, **columns})


@pytest.mark.parametrize(
    ("columns", "fault"),
    [
        ({"constraints": ("vllm/no-such",)}, "vllm/no-such does not exist"),
        ({"described": ("vllm/draft-model-not-on-v1",)}, "vllm/draft-model-not-on-v1 is executable"),
        ({"constraints": ("vllm/draft-model-not-on-v1",)}, None),
        (
            {"finding": {"code": "SC101", "release": "0.33.0", "argv": ["vllm", "serve", "m"]}},
            "its example does not yield SC101",
        ),
        ({"finding": {"code": "SC101", "release": "0.33.0", "argv": ["vllm", "serve", "m", "--no-such"]}}, None),
    ],
)
def test_an_entry_that_names_what_is_not_so_is_found(columns: dict[str, Any], fault: str | None) -> None:
    tool = coverage()
    found = list(tool.faults(load_database("vllm"), [_check()], tool.Carried([_entry(**columns)])))
    assert found == ([] if fault is None else [f"some_check: {fault}"])


def test_releases_that_no_constraint_holds_in_need_a_reason() -> None:
    tool = coverage()
    longer = _check(last="0.16.0")
    (fault,) = tool.faults(
        load_database("vllm"), [longer], tool.Carried([_entry(constraints=("vllm/draft-model-not-on-v1",))])
    )
    assert "no constraint holds in 0.15.0 to 0.16.0" in fault
    explained = _entry(constraints=("vllm/draft-model-not-on-v1",), corrected="It ends at 0.15.0.")
    assert list(tool.faults(load_database("vllm"), [longer], tool.Carried([explained]))) == []


def test_a_row_without_an_entry_and_an_entry_without_a_row_are_found() -> None:
    tool = coverage()
    found = list(tool.faults(load_database("vllm"), [_check()], tool.Carried([])))
    assert found == ["some_check: no entry"]
    entry = _entry(out_of_scope="It is about something else.")
    assert list(tool.faults(load_database("vllm"), [], tool.Carried([entry]))) == ["some_check: no such row"]


def test_the_rows_of_tables_are_named_by_their_section() -> None:
    tool = coverage()
    facts = {
        "meta": {"engine": "x"},
        "checks": [],
        "methods": [{"method": "ngram"}, {"method": "ngram"}],
        "cli": {"flags": [{"flag": "--a"}], "short": "-s"},
    }
    ids = [check.id for check in tool.checks_of(facts)]
    assert ids == ["methods/ngram", "methods/ngram (2)", "cli.flags/--a", "cli.short"]
