"""The derived TensorRT-LLM files are what the imported table gives, and the curated ones agree with each other."""

from __future__ import annotations

import importlib.util
import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
ENGINE = ROOT / "compat" / "tensorrt-llm"
IMPORTED = ENGINE / "imported"


@pytest.fixture(scope="module")
def tool() -> Iterator[ModuleType]:
    spec = importlib.util.spec_from_file_location("import_trtllm", ROOT / "tools" / "import_trtllm.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["import_trtllm"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["import_trtllm"]


@pytest.fixture(scope="module")
def options() -> list[dict[str, Any]]:
    return [json.loads(line) for line in (IMPORTED / "options.jsonl").read_text().splitlines()]


def _yaml(name: str) -> Any:
    return yaml.safe_load((ENGINE / name).read_text())


@pytest.mark.parametrize("name", ["releases.jsonl", "options.jsonl"])
def test_committed_file_is_what_the_table_gives(tool: ModuleType, name: str) -> None:
    assert tool.derive(IMPORTED)[name].encode() == (IMPORTED / name).read_bytes()


def test_check_reports_a_changed_file_and_writing_repairs_it(tool: ModuleType, tmp_path: Path) -> None:
    folder = tmp_path / "imported"
    shutil.copytree(IMPORTED, folder)
    arguments = ["--folder", str(folder)]
    assert tool.main([*arguments, "--check"]) == 0
    (folder / "options.jsonl").write_text("")
    assert tool.main([*arguments, "--check"]) == 1
    assert (folder / "options.jsonl").read_text() == ""
    assert tool.main(arguments) == 0
    assert (folder / "options.jsonl").read_bytes() == (IMPORTED / "options.jsonl").read_bytes()


def test_every_reading_stands_for_a_row_of_the_table() -> None:
    table = json.loads((IMPORTED / "facts.json").read_text())
    known = {("a_fields", f"{cell['cls']}: {cell['field']}") for cell in table["a_fields"]}
    known |= {("c_launch.cli", cell["flag"]) for cell in table["c_launch"]["cli"]}
    known |= {("c_launch.yaml", cell["key"]) for cell in table["c_launch"]["yaml"]}
    for line in (IMPORTED / "reading.jsonl").read_text().splitlines():
        row = json.loads(line)
        if row["table"] == "i_containers":
            assert row["row"].removeprefix("1.3.0") in json.dumps(table["i_containers"])
        elif row["table"] == "read_later":
            assert (row["table"], row["row"]) not in known
        else:
            assert (row["table"], row["row"]) in known


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("int >=0 | None", {"type": "int", "bounds": {"ge": 0}, "nullable": True}),
        ("float 0..1 | None", {"type": "float", "bounds": {"ge": 0, "le": 1}, "nullable": True}),
        ("list[list[int]]|None", {"type": "json", "nullable": True}),
        ("literal llama3|mistral_large3", {"type": "str", "choices": ["llama3", "mistral_large3"]}),
        ("vanilla|gated|rnn", {"type": "str", "choices": ["vanilla", "gated", "rnn"]}),
        ("int>0|None", {"type": "int", "bounds": {"gt": 0}, "nullable": True}),
    ],
)
def test_type_cells(tool: ModuleType, text: str, expected: dict[str, Any]) -> None:
    assert tool._type(text, "x") == expected


@pytest.mark.parametrize("cell", ["something new", "int <5"])
def test_a_type_in_prose_is_an_error(tool: ModuleType, cell: str) -> None:
    with pytest.raises(tool.TableError):
        tool._type(cell, "x")


def test_first_and_last_sight_become_brackets(tool: ModuleType) -> None:
    cell = {
        "first_seen": "1.2.1",
        "last_seen": "1.3.0rc14",
        "first_known_gone": "1.3.0rc22",
        "last_known_absent_before": "1.1.0",
    }
    expected = {"since": {"not_in": "1.1.0", "in": "1.2.1"}, "before": {"in": "1.3.0rc14", "not_in": "1.3.0rc22"}}
    assert tool._range(cell) == expected
    assert tool._range(cell | {"last_known_absent_before": None, "first_known_gone": None}) == {
        "since": {"not_in": "0", "in": "1.2.1"}
    }


def test_draft_path_is_one_path_with_three_names(options: list[dict[str, Any]]) -> None:
    names = [row["names"] for row in options if row["path"] == "speculative_config.speculative_model"]
    assert names == [["pytorch_weights_path"], ["speculative_model"], ["speculative_model_dir"]]


def test_schedule_is_two_paths_with_one_name(options: list[dict[str, Any]]) -> None:
    rows = {row["path"]: row["names"] for row in options if "draft_len_schedule" in row["path"]}
    assert set(rows) == {"speculative_config.draft_len_schedule@lower", "speculative_config.draft_len_schedule@upper"}
    assert all(names == ["draft_len_schedule"] for names in rows.values())


def test_every_option_keeps_its_confidence(options: list[dict[str, Any]]) -> None:
    letters = {"A": "source", "C": "source", "B": "docs", "D": "docs", "E": "report", "G": "report", "F": "inferred"}
    for row in options:
        for evidence in row["evidence"]:
            assert evidence["kind"] == letters[evidence["confidence"]]


def test_what_was_read_later_names_its_own_source(tool: ModuleType, options: list[dict[str, Any]]) -> None:
    origin = (IMPORTED / "ORIGIN.md").read_text()
    reading = [json.loads(line) for line in (IMPORTED / "reading.jsonl").read_text().splitlines()]
    later = [row for row in reading if row["table"] == tool.READ_LATER]
    assert {row["row"] for row in later} == {"--served_model_name", "dtype", "pytorch_backend_config", "revision"}
    for row in later:
        assert all(source in origin for source in row["source"])
        found = [o for o in options if o["scope"] == row["scope"] and o["evidence"][0]["symbol"] == row["row"]]
        assert [o["names"] for o in found] == [[row["row"]]]


def test_releases_are_known_ones_in_order(tool: ModuleType) -> None:
    names = [json.loads(line)["version"] for line in (IMPORTED / "releases.jsonl").read_text().splitlines()]
    assert names[0] == "0.20.0"
    assert names[-1] == "1.4.0rc1"
    assert names == sorted(set(names), key=tool.Version)


def test_decoding_types_are_the_methods() -> None:
    methods = {row["value"]: row["releases"] for row in _yaml("methods.yaml")["methods"] if row["value"] != "Eagle"}
    table = {row["value"]: row["releases"] for row in _yaml("tables.yaml")["tables"]["decoding_types"]["rows"]}
    assert table.pop("Eagle") == [{}]
    assert table == methods


def test_eras_follow_each_other_without_gaps() -> None:
    rows = _yaml("tables.yaml")["tables"]["eras"]["rows"]
    ranges = [row["releases"][0] for row in rows]
    assert "since" not in ranges[0]
    assert "before" not in ranges[-1]
    assert [r["before"] for r in ranges[:-1]] == [r["since"] for r in ranges[1:]]
    assert len({frozenset(row) for row in rows}) == 1


def test_origin_names_no_machine() -> None:
    for path in IMPORTED.iterdir():
        text = path.read_text()
        assert "://" not in text
        assert "/work" not in text
