"""What is left unsaid: infos about a start that never comes, and a second word on a cause that is already named."""

from __future__ import annotations

from typing import Any

import pytest

from specconf.findings import Effect, Finding, NotChecked, Severity, Stage
from specconf.rules.datalint import problems
from specconf.rules.silence import heard
from tests import fakes


def finding(name: str, stage: Stage, effect: Effect, severity: Severity) -> Finding:
    return Finding("SC202", severity, "Said.", constraint=name, effect=effect, stage=stage)


def names(found: list[Finding], gives_way: dict[str, frozenset[str]] | None = None) -> list[str]:
    return [f.constraint for f in heard(found, [], gives_way or {})[0]]


LATER = [
    finding("v/slower", Stage.REQUEST, Effect.DEGRADES, Severity.INFO),
    finding("v/slower-warned", Stage.REQUEST, Effect.DEGRADES, Severity.WARNING),
    finding("v/crash", Stage.LOAD, Effect.CRASHES, Severity.ERROR),
    finding("v/fallback", Stage.LOAD, Effect.FALLS_BACK, Severity.INFO),
    finding("v/default", Stage.CONFIG, Effect.OVERRIDES, Severity.INFO),
]


@pytest.mark.parametrize(
    ("stage", "severity", "effect", "unsaid"),
    [
        (Stage.PARSE, Severity.ERROR, Effect.REJECTS, {"v/slower", "v/default"}),
        (Stage.CONFIG, Severity.ERROR, Effect.REJECTS, {"v/slower"}),
        (Stage.CONFIG, Severity.WARNING, Effect.REJECTS, set()),
        (Stage.CONFIG, Severity.ERROR, Effect.LOSSY, set()),
        (Stage.WORKER, Severity.ERROR, Effect.REJECTS, set()),
    ],
)
def test_infos_about_later_stages_are_unsaid_where_the_launch_is_refused_before(
    stage: Stage, severity: Severity, effect: Effect, unsaid: set[str]
) -> None:
    said = names([*LATER, finding("v/first", stage, effect, severity)])
    assert {f.constraint for f in LATER} - set(said) == unsaid
    assert "v/first" in said


def test_a_constraint_gives_way_to_the_one_that_names_its_cause() -> None:
    first = finding("v/cause", Stage.CONFIG, Effect.REJECTS, Severity.ERROR)
    second = finding("v/symptom", Stage.LOAD, Effect.CRASHES, Severity.ERROR)
    gives_way = {"v/symptom": frozenset({"v/cause"})}
    assert names([first, second], gives_way) == ["v/cause"]
    assert names([second], gives_way) == ["v/symptom"]
    open_question = NotChecked("v/symptom", "SC202")
    assert heard([first], [open_question], gives_way)[1] == []
    assert heard([second], [open_question], {})[1] == [open_question]


def test_giving_way_to_nothing_is_a_fault_of_the_data() -> None:
    row: dict[str, Any] = fakes.constraint("v/a", {"option.a": {"eq": 1}}) | {"unless": ["v/none"]}
    database = fakes.database([fakes.option("a", "--a", type="int", default=0)], [row])
    found = [problem.message for problem in problems(database, examples=False)]
    assert "it gives way to v/none, which does not exist" in found
