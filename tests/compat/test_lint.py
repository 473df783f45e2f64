"""Every consistency check of the data: it is silent on the shipped data, and it finds what it is for."""

from __future__ import annotations

from typing import Any

import pytest

from specconf.compat.database import Database, load_database
from specconf.compat.lint import CHECKS, problems
from specconf.compat.names import ENGINE_NAMES

FIRST, SECOND, BOTH = [[[0, 1]], []], [[[1, 2]], []], [[[0, 2]], []]
NEITHER: list[list[list[int]]] = [[], []]


def option(name: str, **more: Any) -> dict[str, Any]:
    return {"scope": "cli", "path": name.strip("-"), "names": [name], "r": BOTH, "e": "source", **more}


def scope(name: str, **more: Any) -> dict[str, Any]:
    return {"scope": name, "completeness": "complete", "unknown_member": "rejects", "r": BOTH, "e": "source", **more}


def constraint(*evidence: str, **more: Any) -> dict[str, Any]:
    return {
        "id": "vllm/x", "code": "SC206", "stage": "config", "effect": "rejects", "when": {"option.a": "set"},
        "message": "It stops.", "fix": "Do not.", "evidence": [["source", text] for text in evidence], "r": BOTH, **more,
    }  # fmt: skip


def database(**parts: Any) -> Database:
    """A database of two releases."""
    raw: dict[str, Any] = {
        "options": [],
        "scopes": [scope("cli")],
        "methods": [],
        "tables": {},
        "mapping": [],
        "steps": [],
    }
    return Database({"engine": "vllm", "releases": [("1.0", None), ("2.0", None)], "constraints": [], **raw, **parts})


def table(*rows: dict[str, Any]) -> dict[str, Any]:
    return {"t": {"closed": True, "rows": [{"value": "a", "e": "source", **row} for row in rows]}}


def said(*ranges: Any) -> list[dict[str, Any]]:
    """A message of one place, once for each of the ranges."""
    return [
        {"kind": "raise", "exception": "ValueError", "fragment": "no ~", "where": "a.py: f", "r": r} for r in ranges
    ]


def mapped(field: str, ranges: Any) -> dict[str, Any]:
    return {"field": field, "action": "write", "path": "x", "r": ranges, "e": "source"}


CASES = [
    ("empty-range", database(options=[option("--a", r=NEITHER)]), "holds in no known release"),
    ("overlap", database(options=[option("--a"), option("--a", r=SECOND)]), "two rows hold in 2.0"),
    ("overlap", database(options=[option("--a", methods=["x", "y"]), option("--a", methods=["y"])]), "two rows"),
    ("overlap", database(tables=table({"r": BOTH}, {"r": FIRST})), "two rows hold in 1.0"),
    ("overlap", database(methods=[{"value": "m", "r": BOTH}, {"value": "m", "r": BOTH}]), "two rows"),
    ("overlap", database(scopes=[scope("cli"), scope("cli", r=FIRST)]), "two rows"),
    ("overlap", database(tables=table({"r": BOTH, "by": "x"}, {"r": SECOND, "by": "y"})), "two rows hold in 2.0"),
    ("overlap", database(messages=said(BOTH, SECOND)), "two rows hold in 2.0"),
    ("overlap", database(steps=[{"stage": "config", "order": ["a"], "r": r} for r in (BOTH, FIRST)]), "two rows"),
    ("empty-range", database(messages=said(NEITHER)), "holds in no known release"),
    ("empty-range", database(scopes=[scope("cli"), scope("env", r=NEITHER)]), "holds in no known release"),
    ("mapping", database(mapping=[mapped("f", FIRST)]), "no row covers 2.0"),
    ("mapping", database(mapping=[mapped("f", BOTH), mapped("f", SECOND)]), "two rows hold in 2.0"),
    ("parent", database(options=[option("--a", scope="elsewhere")]), "is not in scopes.yaml"),
    (
        "parent",
        database(
            options=[option("--o", kind="object", members="o", r=FIRST), option("k", scope="o")],
            scopes=[scope("cli"), scope("o")],
        ),
        "exists in 2.0, where no option is the object",
    ),
    (
        "parent",
        database(options=[option("--a"), option("k", scope="cli.o")], scopes=[scope("cli"), scope("cli.o")]),
        "exists in 1.0, where no option is the object",
    ),
    ("parent", database(scopes=[scope("cli"), scope("cli.o")]), "no option is the object that holds it"),
    ("parent", database(options=[option("--o", kind="object", members="o")]), "is not in scopes.yaml"),
    ("parent", database(options=[option("--a")], scopes=[scope("cli", r=FIRST)]), "does not describe its scope"),
    (
        "replacement",
        database(
            options=[option("--old", deprecated=True, replaced_by="NEW"), option("NEW", scope="env")],
            scopes=[scope("cli"), scope("env")],
        ),
        "names NEW in 1.0, but that exists in no known release",
    ),
    (
        "replacement",
        database(options=[option("--old", deprecated=True, replaced_by="--new"), option("--new", r=SECOND)]),
        "names --new in 1.0, but that exists in 2.0 on",
    ),
    ("replacement", database(options=[option("--old", replaced_by="--never")]), "no known release"),
    ("evidence", database(constraints=[constraint("1.0 a.py", r=SECOND)]), "its evidence is of 1.0"),
    (
        "scope-rule",
        database(
            tables={"scope_rules": table({"value": "cli", "unknown_member": "drops", "r": SECOND})["t"]},
        ),
        "drops in 2.0 by its source, scopes.yaml says rejects",
    ),
    ("method-word", database(tables={"method_words": table({"r": SECOND})["t"]}), "the source of 2.0 lists it"),
]  # fmt: skip


@pytest.mark.parametrize(("check", "broken", "said"), CASES)
def test_a_check_finds_what_it_is_for(check: str, broken: Database, said: str) -> None:
    assert any(said in message for _, message in CHECKS[check](broken)), list(CHECKS[check](broken))
    assert {problem.check for problem in problems(broken)} == {check}


SOUND = [
    database(options=[option("--a", r=FIRST), option("--a", r=SECOND, default=1)]),
    database(options=[option("--a", methods=["x"]), option("--a", methods=["y"])]),
    database(options=[option("--a"), option("--a", layer="an overlay")]),
    database(options=[option("--a", r=NEITHER, ahead=True)]),
    database(tables=table({"r": BOTH, "where": "x"}, {"r": BOTH, "where": "y"})),
    database(mapping=[mapped("f", [[[0, 1]], [[1, 2]]])]),
    database(options=[option("--old", deprecated=True, replaced_by="--new=x"), option("--new")]),
    database(options=[option("--old", replaced_by="--new"), option("--new", r=SECOND)]),
    database(constraints=[constraint("1.0 a.py", "2.0 a.py", r=SECOND)]),
    database(messages=said(FIRST, SECOND)),
    database(
        options=[option("OLD", scope="env", deprecated=True, replaced_by="--new"), option("--new")],
        scopes=[scope("cli"), scope("env")],
    ),
    database(
        options=[option("OLD", scope="env", replaced_by="NEW"), option("NEW", scope="env")],
        scopes=[scope("cli"), scope("env")],
    ),
]


@pytest.mark.parametrize("sound", SOUND)
def test_nothing_is_found_in_sound_data(sound: Database) -> None:
    assert list(problems(sound)) == []


def test_every_check_has_a_case() -> None:
    assert {check for check, _, _ in CASES} == set(CHECKS)


@pytest.mark.parametrize("engine", ENGINE_NAMES)
def test_the_shipped_data_is_sound(engine: str) -> None:
    assert [f"{p.about}: {p.message}" for p in problems(load_database(engine))] == []
