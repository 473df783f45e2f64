"""What carries each row of the facts: the entries hold, and the share that can be held against a launch is kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from specconf.compat.database import load_database

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ROOT / "tools" / "facts_explained"
# How many checks refuse, override or ignore before the workers, by engine.
BOUNDED = {"vllm": 160, "sglang": 190, "tensorrt-llm": 27}
ENGINES = sorted(path.parent.name.removesuffix("_checks") for path in FOLDERS.glob("*_checks/rows.jsonl"))


@pytest.fixture(autouse=True)
def _tools(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))


def coverage() -> Any:
    import facts_coverage

    return facts_coverage


def kept(engine: str) -> tuple[Any, Any]:
    """The checks of an engine and what carries them, as they are committed."""
    folder = FOLDERS / f"{engine}_checks"
    tool = coverage()
    return tool.read_checks(folder / "rows.jsonl"), tool.Carried(tool.entries(folder))


@pytest.mark.parametrize("engine", ENGINES)
def test_every_row_of_the_facts_is_carried_by_what_exists(engine: str) -> None:
    assert list(coverage().faults(load_database(engine), *kept(engine))) == []


@pytest.mark.parametrize("engine", ENGINES)
def test_nearly_all_checks_before_the_workers_are_executable(engine: str) -> None:
    executable, bounded = coverage().share(*kept(engine))
    assert bounded >= BOUNDED[engine]
    assert executable >= coverage().BOUND * bounded


@pytest.mark.parametrize("engine", ENGINES)
def test_the_table_is_as_the_entries_have_it(engine: str) -> None:
    text = coverage().markdown(engine, *kept(engine), load_database(engine))
    assert (ROOT / "docs" / "facts-coverage" / f"{engine}.md").read_text("utf-8") == text


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
    ids = [check.id for check in tool.checks_of("vllm", facts)]
    assert ids == ["methods/ngram", "methods/ngram (2)", "cli.flags/--a", "cli.short"]


@pytest.mark.parametrize(
    ("effect", "kind"),
    [
        ("warn->change->reject", "reject"),
        ("reject/garbage", "reject"),
        ("disable", "override"),
        ("doc", "fact"),
        ("-", "fact"),
    ],
)
def test_a_row_that_names_several_effects_counts_as_the_strongest(effect: str, kind: str) -> None:
    assert _check(effect=effect).kind == kind


def test_the_stage_of_a_check_that_names_none_is_told_by_its_place() -> None:
    tool = coverage()
    row = {"id": "K-1", "area": "sampling", "kind": "reject", "where": "SpecSampler.validate_request"}
    (request,) = tool.checks_of("tensorrt-llm", {"f_checks": [row]})
    (config,) = tool.checks_of("tensorrt-llm", {"f_checks": [{**row, "where": "config validators"}]})
    assert (request.stage, config.stage) == ("request", "config")
    assert (request.first, request.bounded, config.bounded) == ("", False, True)
