"""One cause is said once: no two constraints that end a start are each met by the other's own example."""

from __future__ import annotations

from itertools import combinations

import pytest

from specconf.compat.database import Database, load_database
from specconf.compat.names import ENGINE_NAMES
from specconf.engines.registry import get_engine
from specconf.findings import Effect
from specconf.rules.probes import run_probe

_ENDS = {Effect.REJECTS, Effect.CRASHES}


def _doubles(database: Database) -> list[tuple[str, str]]:
    """Pairs of constraints of one stage that are both found in the example of either."""
    engine = get_engine(database.engine)
    found = {
        constraint.id: {
            finding.constraint for finding in run_probe(database, engine, constraint.examples()["probe"])[1].findings
        }
        for constraint in database.constraints
        if constraint.evaluated and constraint.effect in _ENDS
    }
    stages = {constraint.id: constraint.stage for constraint in database.constraints}
    return [
        (first, second)
        for first, second in combinations(sorted(found), 2)
        if stages[first] == stages[second] and second in found[first] and first in found[second]
    ]


@pytest.mark.parametrize("engine", ENGINE_NAMES)
def test_no_two_constraints_end_a_start_for_one_cause(engine: str) -> None:
    assert _doubles(load_database(engine)) == []
