"""Constraints that are written once for several engines: how they stand in each, and which rows cannot."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from specconf.compat import rowlint
from specconf.compat.common import common_constraints
from specconf.compat.database import load_database
from specconf.compat.sources import SourceTree
from specconf.compat.store import CHECKOUT
from specconf.engines.registry import get_engine
from specconf.errors import DatabaseError
from specconf.rules.probes import run_probe

ROW: dict[str, Any] = {
    "id": "slug",
    "code": "SC302",
    "stage": "load",
    "effect": "crashes",
    "message": "It stops.",
    "unless": ["vllm/own", "sglang/own"],
    "engines": {
        "vllm": {"releases": [{}], "evidence": [{"kind": "source"}]},
        "sglang": {"releases": [{"since": "0.5.2"}]},
    },
}


def rows(tmp_path: Path, data: Any, engine: str = "vllm") -> list[dict[str, Any]]:
    folder = tmp_path / "common" / "constraints"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "pairs.yaml").write_text(yaml.safe_dump(data))
    return [row for _, found in common_constraints(SourceTree(tmp_path), engine) for row in found]


def test_a_row_stands_in_each_engine_that_it_lists_with_what_is_that_engines_own(tmp_path: Path) -> None:
    (vllm,) = rows(tmp_path, {"constraints": [ROW]})
    assert (vllm["id"], vllm["unless"], vllm["releases"], vllm["common"]) == ("vllm/slug", ["vllm/own"], [{}], True)
    assert "engines" not in vllm
    (sglang,) = rows(tmp_path, {"constraints": [ROW]}, "sglang")
    assert (sglang["id"], sglang["unless"]) == ("sglang/slug", ["sglang/own"])
    assert rows(tmp_path, {"constraints": [ROW]}, "tensorrt-llm") == []


def test_an_engine_without_a_row_to_give_way_to_has_no_such_column(tmp_path: Path) -> None:
    (found,) = rows(tmp_path, {"constraints": [{**ROW, "unless": ["sglang/own"]}]})
    assert "unless" not in found


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"rows": []}, "holds constraints and nothing else"),
        ({"constraints": [{**ROW, "engines": None}]}, "a row has `engines`"),
        ({"constraints": [{**ROW, "engines": {"vllm": []}}]}, "a row has `engines`"),
        ({"constraints": ["slug"]}, "a row has `engines`"),
        ({"constraints": [{**ROW, "engines": {"vllm": {"when": {}}}}]}, "slug says for one engine: when"),
    ],
)
def test_a_row_that_can_stand_nowhere_is_a_fault_of_its_file(tmp_path: Path, data: Any, words: str) -> None:
    with pytest.raises(DatabaseError, match=words.replace("`", ".")):
        rows(tmp_path, data)
    found = list(rowlint.problems(SourceTree(tmp_path), "vllm", load_database("vllm").line))
    assert [p.check for p in found] == ["file"]
    assert words in found[0].message


def test_every_common_row_stands_in_some_engine_and_names_only_engines() -> None:
    engines = {"vllm", "sglang", "tensorrt-llm"}
    for path in (CHECKOUT / "common" / "constraints").glob("*.yaml"):
        for row in yaml.safe_load(path.read_text())["constraints"]:
            assert row["engines"].keys() <= engines, row["id"]
            for engine in row["engines"]:
                constraint = load_database(engine).constraint(f"{engine}/{row['id']}")
                assert constraint is not None
                assert constraint.common


def test_a_finding_about_models_alone_stands_where_the_draft_is_named() -> None:
    database = load_database("sglang")
    constraint = database.constraint("sglang/vocabulary-not-compared")
    assert constraint is not None
    assert constraint.probe is not None
    settings, judgement = run_probe(database, get_engine("sglang"), constraint.probe)
    (found,) = [f for f in judgement.findings if f.constraint == constraint.id]
    assert found.option == "speculative_draft_model_path"
    named = settings.setting(found.option)
    assert named is not None
    assert found.where == named.final.where
