"""Every constraint's own examples, and the mutation of its condition: a `when` with a conjunct too many would show here."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from specconf.compat.database import Database, load_database
from specconf.compat.rows import Constraint
from specconf.compat.sources import ENGINE_NAMES
from specconf.rules.datalint import EXAMPLE_CHECKS, problems


def _executable() -> Iterator[tuple[Database, Constraint]]:
    for name in ENGINE_NAMES:
        database = load_database(name)
        for constraint in database.constraints:
            if constraint.kind == "executable":
                yield database, constraint


EXECUTABLE = [pytest.param(db, c, id=c.id) for db, c in _executable()]


@pytest.mark.parametrize("engine", ENGINE_NAMES)
def test_the_constraints_are_sound_as_far_as_reading_them_shows(engine: str) -> None:
    assert list(problems(load_database(engine), examples=False)) == []


@pytest.mark.parametrize("check", EXAMPLE_CHECKS)
@pytest.mark.parametrize(("database", "constraint"), EXECUTABLE)
def test_the_examples_show_what_the_constraint_claims(database: Database, constraint: Constraint, check: str) -> None:
    assert list(EXAMPLE_CHECKS[check](database, constraint)) == []
