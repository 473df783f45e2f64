"""Every constraint's own examples, and the mutation of its condition: a `when` with a conjunct too many would show here."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from specconf.codes import CODES
from specconf.compat.database import Database, load_database
from specconf.compat.rows import Constraint
from specconf.compat.sources import ENGINE_NAMES
from specconf.engines.registry import get_engine
from specconf.findings import EvidenceKind
from specconf.rules.checker import condition_of
from specconf.rules.conditions import All, Named
from specconf.rules.probes import meets, run_probe


def _all() -> Iterator[tuple[Database, Constraint]]:
    for name in ENGINE_NAMES:
        database = load_database(name)
        for constraint in database.constraints:
            yield database, constraint


CONSTRAINTS = list(_all())
EXECUTABLE = [pytest.param(db, c, id=c.id) for db, c in CONSTRAINTS if c.kind == "executable"]


def test_ids_are_unique_and_name_their_engine() -> None:
    ids = [c.id for _, c in CONSTRAINTS]
    assert len(ids) == len(set(ids))
    assert all(c.id.startswith(f"{db.engine}/") for db, c in CONSTRAINTS)


def test_codes_are_registered() -> None:
    assert {c.code for _, c in CONSTRAINTS} <= set(CODES)


def test_few_conditions_call_a_predicate() -> None:
    """More than one in ten would mean that the language is too weak."""
    executable = [c for _, c in CONSTRAINTS if c.kind == "executable"]
    calling = [c for c in executable if any(isinstance(leaf, Named) for leaf in condition_of(c).leaves())]
    assert len(calling) * 10 <= len(executable)


@pytest.mark.parametrize(("database", "constraint"), EXECUTABLE)
def test_the_probe_meets_the_constraint(database: Database, constraint: Constraint) -> None:
    assert constraint.probe is not None
    _, judgement = run_probe(database, get_engine(database.engine), constraint.probe)
    assert meets(judgement, constraint.id), [f.message for f in judgement.findings]


@pytest.mark.parametrize(("database", "constraint"), EXECUTABLE)
def test_the_twin_does_not(database: Database, constraint: Constraint) -> None:
    assert constraint.twin is not None
    _, judgement = run_probe(database, get_engine(database.engine), constraint.twin)
    assert not meets(judgement, constraint.id)
    assert not any(item.constraint == constraint.id for item in judgement.result.not_checked)


@pytest.mark.parametrize(("database", "constraint"), EXECUTABLE)
def test_the_probe_needs_every_conjunct(database: Database, constraint: Constraint) -> None:
    """Negating any one conjunct of `when` must let the probe go."""
    condition = condition_of(constraint)
    count = len(condition.parts) if isinstance(condition, All) else 1
    for index in range(count):
        mutated = _mutated(database, constraint, index)
        _, judgement = run_probe(mutated, get_engine(database.engine), constraint.probe or {})
        assert not meets(judgement, constraint.id), f"conjunct {index + 1} of {constraint.id} decides nothing"


def _mutated(database: Database, constraint: Constraint, index: int) -> Database:
    raw = database._raw  # the raw index is what an overlay replaces, too
    rows = [_mutated_row(row, index) if row["id"] == constraint.id else row for row in raw["constraints"]]
    return Database({**raw, "constraints": rows})


def _mutated_row(row: dict[str, Any], index: int) -> dict[str, Any]:
    when = row["when"]
    if set(when) == {"all"}:
        parts = list(when["all"])
        parts[index] = {"not": parts[index]}
        return {**row, "when": {"all": parts}}
    keys = list(when)
    parts = [{key: when[key]} for key in keys]
    parts[index] = {"not": parts[index]}
    return {**row, "when": {"all": parts}}


@pytest.mark.parametrize(("database", "constraint"), EXECUTABLE)
def test_the_probe_holds_over_the_whole_range(database: Database, constraint: Constraint) -> None:
    """In the first, a middle and the last release of every range, in a spelling which that release knows."""
    probes = [constraint.probe or {}, *({**(constraint.probe or {}), **other} for other in constraint.also)]
    positions = {p for low, high in constraint.ranges.holds_in for p in (low, (low + high) // 2, high - 1)}
    for position in sorted(positions):
        release = database.line.names[position]
        runs = [run_probe(database, get_engine(database.engine), {**probe, "release": release}) for probe in probes]
        met = any(meets(judgement, constraint.id) for _, judgement in runs)
        misspelt = [any(f.code in _SPELLING for f in j.findings) or bool(s.problems) for s, j in runs]
        assert met or all(misspelt), f"{constraint.id} claims {release}, where its probe does not meet it"


_SPELLING = {"SC101", "SC102", "SC103", "SC106"}


@pytest.mark.parametrize(("database", "constraint"), EXECUTABLE)
def test_messages_are_one_sentence_with_a_way_out(database: Database, constraint: Constraint) -> None:
    assert constraint.message.rstrip().endswith("."), constraint.id
    assert constraint.fix, constraint.id
    assert all(e.kind in EvidenceKind for e in constraint.evidence)
