"""The checks of written rows: each finds what it is for, in a database of two releases or in an overlay of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from specconf.compat import filelint
from specconf.compat.columns import COLUMNS
from specconf.compat.index import compile_engine
from specconf.compat.names import ENGINE_NAMES
from specconf.compat.rowlint import BROKEN, CHECKS, problems
from specconf.compat.sources import SourceTree
from specconf.errors import DatabaseError, OverlayError

SOURCE = [{"kind": "source", "release": "2.0", "file": "a.py"}]
ALL: Mapping[str, Any] = {"releases": [{}], "evidence": SOURCE}
RULE = {
    **ALL, "id": "vllm/x", "code": "SC206", "kind": "executable", "stage": "config", "effect": "rejects",
    "when": {"option.a": "set"}, "message": "It stops.", "fix": "Do not.",
    "probe": {"release": "2.0", "argv": ["vllm"]}, "twin": {"release": "2.0", "argv": ["vllm"]},
}  # fmt: skip

SOUND: dict[str, Any] = {
    "harvested/releases.jsonl": [{"version": v, "date": None, "source": "sdist"} for v in ("1.0", "2.0")],
    "harvested/options.jsonl": [{**ALL, "scope": "vllm.cli", "path": "a", "names": ["--a"], "kind": "value"}],
    "harvested/tables.jsonl": [{**ALL, "table": "method_words", "value": "ngram", "in": "METHODS"}],
    "harvested/messages.jsonl": [{**ALL, "kind": "raise", "fragment": "no", "where": "a.py: f"}],
    "scopes.yaml": {"scopes": {"vllm.cli": [{**ALL, "completeness": "complete", "unknown_member": "rejects"}]}},
    "methods.yaml": {"methods": [{**ALL, "value": "ngram", "spec_method": "ngram"}]},
    "mapping.yaml": {"mapping": [{**ALL, "field": "f", "action": "refuse", "changes": "k", "because": "has none"}]},
    "steps.yaml": {"steps": [{**ALL, "stage": "config", "order": ["a"]}]},
    "tables.yaml": {"tables": {"t": {"about": "`does` says it", "closed": True, "rows": [{**ALL, "value": 1, "does": 1}]}}},
    "constraints/x.yaml": {"constraints": [RULE]},
}  # fmt: skip


def first(data: Any) -> dict[str, Any]:
    """The first row of a file's data."""
    while isinstance(data, dict) and "releases" not in data:
        data = data["rows"] if "rows" in data else next(iter(data.values()))
        data = data[0] if isinstance(data, list) else data
    found: dict[str, Any] = data if isinstance(data, dict) else data[0]
    return found


def tree(
    folder: Path, name: str = "", change: Callable[[dict[str, Any]], object] = dict, files: Any = SOUND
) -> SourceTree:
    """The files on disk; in the file `name`, the first row is changed."""
    for place, data in json.loads(json.dumps(files)).items():
        if place == name:
            change(first(data))
        path = folder / "vllm" / place
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = place.endswith(".jsonl")
        path.write_text(
            "".join(json.dumps(row) + "\n" for row in data) if lines else yaml.safe_dump(data), encoding="utf-8"
        )
    return SourceTree(folder)


FILES = [name for name in SOUND if name != "harvested/releases.jsonl"]
HARVESTED = [name for name in FILES if name.startswith("harvested/")]
CURATED = [name for name in FILES if name not in HARVESTED]
PLAIN = [name for name in CURATED if name != "constraints/x.yaml"]


def setting(column: str, value: Any) -> Callable[[dict[str, Any]], object]:
    return lambda row: row.update({column: value})


def misspelling(column: str) -> Callable[[dict[str, Any]], object]:
    return lambda row: row.update({column[:-1]: row.pop(column)})


OLD = [{"kind": "source", "release": "1.0", "file": "a.py"}]
CASES: list[tuple[str, list[str], Callable[[dict[str, Any]], object], str]] = [
    ("row", FILES, lambda row: row.pop("evidence"), "without evidence"),
    ("row", FILES, setting("evidence", []), "`evidence` is no list"),
    ("row", FILES, setting("evidence", [{"kind": "hearsay"}]), "hearsay"),
    ("row", FILES, lambda row: row.pop("releases"), "without releases"),
    ("row", FILES, setting("releases", "1.0"), "`releases` is no list"),
    ("row", FILES, setting("releases", [{"since": "2.0", "before": "1.0"}]), "runs backwards"),
    ("row", FILES, setting("releases", [{"since": "1.0"}, {"since": "2.0"}]), "overlap"),
    ("row", FILES, setting("releases", [{"since": 1.0}]), "a bound is a release or a bracket"),
    ("row", FILES, setting("releases", [{"since": "one"}]), "is not a version"),
    ("row", ["harvested/options.jsonl"], setting("kind", "valu"), "kind is one of append"),
    ("row", ["harvested/options.jsonl"], setting("names", "--a"), "names is a list"),
    ("row", ["harvested/messages.jsonl"], setting("kind", "rais"), "kind is one of assert"),
    ("row", ["constraints/x.yaml"], setting("kind", "exectable"), "kind is one of described"),
    ("row", ["constraints/x.yaml"], setting("stage", "confg"), "stage is one of config"),
    ("row", ["constraints/x.yaml"], setting("twin", {"release": "2.0"}), "twin: argv is missing"),
    ("row", ["mapping.yaml"], setting("action", "wriet"), "action is one of default"),
    ("row", ["scopes.yaml"], setting("unknown_member", "reject"), "unknown_member is one of drops"),
    ("row", ["harvested/options.jsonl"], misspelling("names"), "without names"),
    ("row", ["harvested/tables.jsonl", "tables.yaml", "methods.yaml"], misspelling("value"), "without value"),
    ("column", FILES, setting("knd", "value"), "the column knd"),
    ("column", FILES, setting("evidence", [{**SOURCE[0], "fil": "a.py"}]), "evidence: no row of this kind has the column fil"),
    ("column", ["harvested/tables.jsonl"], setting("table", "method_word"), "method_word is not described"),
    ("column", FILES, setting("evidence", [{**SOURCE[0], "line": "x"}]), "line is 'x', no number"),
    ("column", ["constraints/x.yaml"], setting("probe", {**RULE["probe"], "envs": {}}), "probe: "),
    ("column", ["constraints/x.yaml"], setting("also", [{"argvs": []}]), "also: "),
    ("bound", FILES, setting("releases", [{"since": "1.0.post7"}]), "since 1.0.post7 is no release"),
    ("bound", CURATED, setting("releases", [{"since": {"not_in": "1.1", "in": "2.0"}}]), "since 1.1 is no release"),
    ("bound", CURATED, setting("releases", [{"since": "0"}]), "since 0 is no release"),
    ("empty-range", FILES, setting("releases", [{"since": "2.0", "before": "2.0"}]), "begins and ends at 2.0"),
    ("harvested-evidence", HARVESTED, setting("evidence", OLD), "the last release of its range is 2.0"),
    ("harvested-evidence", HARVESTED, setting("releases", [{"before": "2.0"}]), "the last release of its range is 1.0"),
    ("harvested-evidence", HARVESTED, setting("evidence", [*OLD, *SOURCE]), "1 ranges and evidence for 2"),
    ("evidence", CURATED, setting("evidence", [{"kind": "source", "release": "1.5"}]), "1.5, which is no release"),
    ("evidence", CURATED, setting("releases", [{"before": "2.0"}]), "but its evidence is of 2.0"),
]  # fmt: skip
EACH = [
    pytest.param(check, name, change, said, id=f"{check}-{name}-{said}")
    for check, names, change, said in CASES
    for name in names
]


def test_sound_files_have_no_problems(tmp_path: Path) -> None:
    assert list(problems(tree(tmp_path), "vllm")) == []


@pytest.mark.parametrize(("check", "name", "change", "said"), EACH)
def test_a_check_finds_what_it_is_for(
    tmp_path: Path, check: str, name: str, change: Callable[[dict[str, Any]], object], said: str
) -> None:
    found = [p for p in problems(tree(tmp_path, name, change), "vllm") if p.check == check]
    assert any(said in problem.message for problem in found), list(problems(SourceTree(tmp_path), "vllm"))
    assert all(problem.about.startswith(f"vllm/{name}") for problem in found)


def test_every_check_has_a_case() -> None:
    assert {check for check, *_ in CASES} == {*CHECKS, *BROKEN, "column"} - {"file"}


TEXTS = [
    ("methods.yaml", "methods: [", "while parsing"),
    ("methods.yaml", "method: []", "it holds methods and nothing else"),
    ("methods.yaml", "methods: {a: 1}", "a list of rows is missing"),
    ("constraints/x.yaml", "constraints:\n- id: vllm/x\n  id: vllm/y\n", "the key id is written twice"),
    ("harvested/options.jsonl", "{]", "options.jsonl:1"),
    ("harvested/releases.jsonl", '{"source": "sdist"}', "is not a version"),
    ("harvested/releases.jsonl", '{"version": "2.0"}\n{"version": "1.0"}', "not in order"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text", "said"), TEXTS)
def test_a_file_that_cannot_be_read_is_a_problem_of_the_file(tmp_path: Path, name: str, text: str, said: str) -> None:
    files = tree(tmp_path)
    (tmp_path / "vllm" / name).write_text(text, encoding="utf-8")
    found = [problem for problem in problems(files, "vllm") if problem.check == "file"]
    assert any(said in problem.message for problem in found), found


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("column", ["releases", "evidence"])
def test_no_index_is_made_of_a_row_that_cannot_be_read(tmp_path: Path, name: str, column: str) -> None:
    with pytest.raises(DatabaseError):
        compile_engine(tree(tmp_path, name, lambda row: row.pop(column)), "vllm")


def test_a_row_that_is_no_mapping_and_a_column_of_a_table_are_found(tmp_path: Path) -> None:
    files = tree(tmp_path)
    (tmp_path / "vllm" / "methods.yaml").write_text("methods: [ngram]", encoding="utf-8")
    (tmp_path / "vllm" / "tables.yaml").write_text("tables: {t: {closd: true, rows: []}}", encoding="utf-8")
    found = {(problem.check, problem.message) for problem in problems(files, "vllm")}
    assert found == {("row", "row 1 is no mapping of columns"), ("column", "a table has no closd")}


def test_bounds_may_be_newer_than_every_release_and_a_bracket_may_begin_before_them(tmp_path: Path) -> None:
    ranges = [{"since": {"not_in": "0", "in": "2.0"}, "before": "3.0"}]
    assert list(problems(tree(tmp_path, "methods.yaml", setting("releases", ranges)), "vllm")) == []


def test_several_broken_rows_are_all_reported(tmp_path: Path) -> None:
    rows = [{key: value for key, value in RULE.items() if key != "evidence"} | {"id": f"vllm/{n}"} for n in range(3)]
    found = list(problems(tree(tmp_path, files={**SOUND, "constraints/x.yaml": {"constraints": rows}}), "vllm"))
    assert [problem.about for problem in found] == [f"vllm/constraints/x.yaml: vllm/{n}" for n in range(3)]


@pytest.mark.parametrize("engine", ENGINE_NAMES)
def test_the_shipped_files_are_sound(engine: str) -> None:
    database, found = filelint.read(engine, ())
    assert [f"{problem.about}: {problem.message}" for problem in found] == []
    assert database is not None


def test_an_engine_whose_files_are_broken_has_no_database_and_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree(tmp_path, "methods.yaml", lambda row: row.pop("evidence"))
    monkeypatch.setattr(filelint, "PACKAGED", tmp_path / "none")
    monkeypatch.setattr(filelint, "CHECKOUT", tmp_path)
    database, found = filelint.read("vllm", ())
    assert (database, [problem.check for problem in found]) == (None, ["row"])


def test_an_engine_is_checked_while_the_files_of_another_are_broken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> None:
        raise DatabaseError("another engine's file cannot be read")

    tree(tmp_path)
    monkeypatch.setattr(filelint, "PACKAGED", tmp_path / "none")
    monkeypatch.setattr(filelint, "CHECKOUT", tmp_path)
    monkeypatch.setattr(filelint, "load_database", broken)
    database, found = filelint.read("vllm", ())
    assert database is not None
    assert database.line.names == ("1.0", "2.0")
    assert found == []


def test_a_broken_overlay_is_a_problem_and_a_folder_that_is_none_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "vllm"
    folder.mkdir()
    (folder / "methods.yaml").write_text("methods: [{value: x, spec_method: null, releases: [{}]}]", encoding="utf-8")
    database, found = filelint.read("vllm", (tmp_path,))
    assert database is None
    assert [(problem.about, problem.message) for problem in found] == [
        ("vllm/methods.yaml: x", "a row without evidence")
    ]
    assert filelint.read("sglang", (tmp_path,))[1] == []
    with pytest.raises(OverlayError):
        filelint.read("vllm", (tmp_path / "none",))


def test_every_column_is_documented() -> None:
    text = (Path(__file__).resolve().parents[2] / "docs" / "database.md").read_text(encoding="utf-8")
    unknown = {column for columns in COLUMNS.values() for column in columns.known if column not in text}
    assert unknown == set()
