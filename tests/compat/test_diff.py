"""What differs between two releases: options, tables and constraints."""

from __future__ import annotations

from typing import Any

from specconf.compat.database import Database, load_database
from specconf.compat.diff import ABSENT, Change, Difference, differences

FIRST, SECOND, BOTH = [[[0, 1]], []], [[[1, 2]], []], [[[0, 2]], []]


def option(path: str, *names: str, **more: Any) -> dict[str, Any]:
    return {"scope": "cli", "path": path, "names": list(names), "r": BOTH, "e": "source", **more}


def found(options: list[dict[str, Any]], **more: Any) -> list[Difference]:
    raw: dict[str, Any] = {"scopes": [], "methods": [], "tables": {}, "mapping": [], "steps": [], "constraints": []}
    database = Database(
        {"engine": "vllm", "releases": [("1.0", None), ("2.0", None)], "options": options, **raw, **more}
    )
    return list(differences(database, database.line.at(0), database.line.at(1)))


def test_nothing_differs() -> None:
    assert found([option("a", "--a", default=1)]) == []


def test_added_and_removed() -> None:
    new, gone = found([option("new", "--new", r=SECOND), option("gone", "--gone", r=FIRST)])[::-1]
    assert (new.change, new.name, new.values) == (Change.ADDED, "new", {"names": (None, ["--new"])})
    assert (gone.change, gone.name, gone.values) == (Change.REMOVED, "gone", {"names": (["--gone"], None)})


def test_a_renamed_flag_keeps_its_path() -> None:
    (one,) = found([option("a", "--old", r=FIRST), option("a", "--new", r=SECOND)])
    assert (one.change, one.values) == (Change.RENAMED, {"names": (["--old"], ["--new"])})


def test_a_further_spelling_is_a_change() -> None:
    (one,) = found([option("a", "--a", r=FIRST), option("a", "--a", "-a", r=SECOND)])
    assert (one.change, one.values) == (Change.CHANGED, {"names": (["--a"], ["--a", "-a"])})


def test_defaults_and_choices() -> None:
    (one,) = found(
        [option("a", "--a", r=FIRST, default=None, choices=["x"]), option("a", "--a", r=SECOND, choices=["x", "y"])]
    )
    assert one.values == {"default": (None, ABSENT), "choices": (["x"], ["x", "y"])}


def test_true_is_not_one() -> None:
    (one,) = found([option("a", "--a", r=FIRST, default=True), option("a", "--a", r=SECOND, default=1)])
    assert one.values == {"default": (True, 1)}


def test_a_spelling_on_its_way_out_is_not_the_main_one() -> None:
    (one,) = found(
        [
            option("a", "--a", r=FIRST, default=1),
            option("a", "--a", r=SECOND, deprecated=True),
            option("a", "--b", r=SECOND, default=2),
        ]
    )
    assert one.change is Change.CHANGED
    assert one.values == {"names": (["--a"], ["--b", "--a"]), "default": (1, 2)}


def test_tables_and_constraints() -> None:
    rows = [
        {"value": "m", "draft": "X", "r": FIRST, "e": "source"},
        {"value": "m", "draft": "Y", "r": SECOND, "e": "source"},
        {"value": "n", "draft": "Z", "r": SECOND, "e": "source"},
    ]
    rule = {
        "id": "vllm/x", "code": "SC206", "stage": "config", "effect": "rejects", "when": {}, "message": "", "fix": "",
        "evidence": [["source", ""]], "r": FIRST,
    }  # fmt: skip
    changed, added, ended = found([], tables={"t": {"closed": True, "rows": rows}}, constraints=[rule])
    assert (changed.change, changed.name, changed.values) == (Change.CHANGED, "m", {"draft": ("X", "Y")})
    assert (added.change, added.name, added.values) == (Change.ADDED, "n", {"draft": (None, "Z")})
    assert (ended.what, ended.change, ended.name) == ("constraints", Change.REMOVED, "vllm/x")


def test_a_known_difference() -> None:
    """SGLang 0.5.20 dropped the short spelling of the CUDA-graph limit."""
    database = load_database("sglang")
    found = list(differences(database, database.line.place("0.5.19"), database.line.place("0.5.20")))
    (one,) = [d for d in found if d.name == "cuda_graph_max_bs_decode"]
    assert one.values["names"] == (
        ["--cuda-graph-max-bs-decode", "--cuda-graph-max-bs"],
        ["--cuda-graph-max-bs-decode"],
    )
