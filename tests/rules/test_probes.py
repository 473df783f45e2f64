"""Every constraint's own examples, and the mutation of its condition: a `when` with a conjunct too many would show here."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from msgspec.structs import replace

from specconf.compat.database import Database, load_database
from specconf.compat.names import ENGINE_NAMES
from specconf.compat.rows import Constraint
from specconf.rules.datalint import EXAMPLE_CHECKS, problems, range_faults


def _executable() -> Iterator[tuple[Database, Constraint]]:
    for name in ENGINE_NAMES:
        database = load_database(name)
        for constraint in database.constraints:
            if constraint.evaluated:
                yield database, constraint


EXECUTABLE = [pytest.param(db, c, id=c.id) for db, c in _executable()]


@pytest.mark.parametrize("engine", ENGINE_NAMES)
def test_the_constraints_are_sound_as_far_as_reading_them_shows(engine: str) -> None:
    assert list(problems(load_database(engine), examples=False)) == []


@pytest.mark.parametrize("check", EXAMPLE_CHECKS)
@pytest.mark.parametrize(("database", "constraint"), EXECUTABLE)
def test_the_examples_show_what_the_constraint_claims(database: Database, constraint: Constraint, check: str) -> None:
    assert list(EXAMPLE_CHECKS[check](database, constraint)) == []


def _with_examples(name: str, **changed: Any) -> tuple[Database, Constraint]:
    """A constraint of vLLM with other examples; None takes one away."""
    database = load_database("vllm")
    constraint = database.constraint(name)
    assert constraint is not None
    examples = {**constraint.examples(), **changed}
    return database, replace(constraint, examples=lambda: {key: value for key, value in examples.items() if value})


def _flags(*words: str) -> list[str]:
    return ["vllm", "serve", "/models/target", "--speculative-model", "/models/draft", *words]


def test_a_release_that_refuses_every_spelling_of_the_probe_shows_nothing() -> None:
    broken = _with_examples("vllm/length-not-positive", also=None)
    assert list(range_faults(*broken)) == ["it claims 0.4.1, where no spelling of its probe is taken and meets it"]


def test_a_probe_that_meets_it_in_a_spelling_that_is_refused_shows_nothing() -> None:
    refused = _flags("--num-speculative-tokens", "-1")  # `vllm serve` begins with 0.5.2
    broken = _with_examples("vllm/length-not-positive", also=[{"argv": refused}])
    assert list(range_faults(*broken)) == ["it claims 0.4.1, where no spelling of its probe is taken and meets it"]


@pytest.mark.parametrize("example", ["probe", "twin"])
def test_an_example_with_an_option_that_its_release_does_not_have_is_found(example: str) -> None:
    database, constraint = _with_examples("vllm/length-missing-flags")
    launch = {**constraint.examples()[example]}
    launch["argv"] = [*launch["argv"], "--no-such-option"]
    broken = _with_examples("vllm/length-missing-flags", **{example: launch})
    assert any(f"its {example} is refused" in fault for fault in EXAMPLE_CHECKS[example](*broken))
    assert list(EXAMPLE_CHECKS[example](database, constraint)) == []


def test_a_condition_that_cannot_be_read_is_found() -> None:
    name = "vllm/length-not-positive"
    broken = load_database("vllm").with_constraint(name, lambda _: {"option.a": {"equals": 1}})
    found = [(problem.about, problem.message) for problem in problems(broken, examples=False)]
    assert found == [(name, "its condition cannot be read: option.a: no operator is called 'equals'")]
