"""Asking a release: what is put to it, what of earlier answers is kept and what is asked again, and what it cost."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from specconf.oracle.asking import Answer, Question, Unanswered, Verdict
from specconf.verify.asked import Asked
from specconf.verify.observed import Observed, Row
from specconf.verify.run import Ran, ask_release
from tests.verify.pretended import VERSIONS, Pretended, accepts, pretended

RAN = Ran(Path("python"), "vllm-0.33.0.tar.gz", "ab" * 32, cost={"own_mb": 3, "shared_mb": 4})
FIRST, SECOND, THIRD = (Question(("vllm", "serve", name)) for name in ("first", "second", "third"))


def asked(*questions: Question) -> list[Asked]:
    return [Asked(f"array 1:{number}", question) for number, question in enumerate(questions)]


def run(
    oracle: Pretended, questions: Sequence[Question], before: Observed | None = None, ran: Ran = RAN, seed: int = 1
) -> Observed:
    observed, found = ask_release(
        oracle, "0.33.0", ran, asked(*questions), seed=seed, progress=lambda _: None, before=before
    )
    assert set(found) == {question.key for question in questions}
    return observed


def keys(oracle: Pretended) -> list[str]:
    return [key for _, key in oracle.log.asked]


def rows(observed: Observed) -> dict[str, Row]:
    return {row.launch: row for row in observed.rows}


def test_a_launch_is_asked_once_and_its_origins_are_kept() -> None:
    oracle = pretended()
    twice = [Asked("probe vllm/a", FIRST), Asked("array 1:0", FIRST), Asked("array 1:0", FIRST)]
    observed, _ = ask_release(oracle, "0.33.0", RAN, twice, seed=1, progress=lambda _: None)
    assert keys(oracle) == [FIRST.key]
    assert [row.origins for row in observed.rows] == [("probe vllm/a", "array 1:0")]


def test_the_header_says_what_ran() -> None:
    header = run(pretended(edition=3), [FIRST], seed=7).header
    assert (header.engine, header.release, header.sha256, header.seed) == ("vllm", "0.33.0", "ab" * 32, 7)
    assert (header.edition, header.python, header.versions) == (3, "3.11.7", VERSIONS)
    assert (header.canaries, header.broken) == (("a plain launch is accepted",), ())
    assert header.plain == {"cpu": {"max_num_seqs": 3}}


def test_each_gpu_has_a_worker_and_the_usual_one_is_always_asked() -> None:
    oracle = pretended("sglang")
    shown = [replace(FIRST, gpu="B200"), replace(SECOND, gpu="B200"), replace(THIRD, gpu="A100")]
    observed = run(oracle, shown)
    assert oracle.log.started == ["H100", "B200", "A100"]
    assert oracle.log.asked == [(question.gpu, question.key) for question in shown]
    assert set(observed.header.plain) == {"H100", "B200", "A100"}


def test_a_canary_that_does_not_sing_ends_it() -> None:
    oracle = pretended(says=lambda _: Answer(Verdict.REJECTS, "parse", "SystemExit", "no"))
    observed = run(oracle, [FIRST])
    assert observed.header.broken == ("a plain launch is accepted: rejects at parse: no",)
    assert (observed.rows, keys(oracle)) == ((), [])


def test_only_new_launches_are_asked_of_the_same_thing() -> None:
    before = run(pretended(), [FIRST, SECOND])
    oracle = pretended(says=lambda _: Answer(Verdict.ACCEPTS, "config"))
    later = run(oracle, [SECOND, THIRD], before)
    assert keys(oracle) == [THIRD.key]
    assert rows(later)[SECOND.key].values == rows(before)[SECOND.key].values
    assert rows(later)[SECOND.key].origins == ("array 1:0",)
    assert set(rows(later)) == {SECOND.key, THIRD.key}


def test_a_gpu_all_of_whose_answers_are_there_is_not_started() -> None:
    shown = [replace(FIRST, gpu="H100"), replace(SECOND, gpu="B200")]
    before = run(pretended("sglang"), shown)
    oracle = pretended("sglang")
    later = run(oracle, [*shown, replace(THIRD, gpu="H100")], before)
    assert oracle.log.started == ["H100"]
    assert set(later.header.plain) == {"H100", "B200"}
    assert len(later.rows) == 3


CHANGES: dict[str, tuple[dict[str, Any], Ran]] = {
    "another archive": ({}, replace(RAN, sha256="cd" * 32)),
    "another torch": ({"installed": {**VERSIONS, "torch": "2.14.0"}}, RAN),
    "another transformers": ({"installed": {**VERSIONS, "transformers": "5.21.0"}}, RAN),
    "another pydantic": ({"installed": {**VERSIONS, "pydantic": "2.15.0"}}, RAN),
    "another way of asking": ({"edition": 2}, RAN),
}


@pytest.mark.parametrize("change", CHANGES)
def test_of_another_thing_everything_is_asked_again(change: str) -> None:
    changes, ran = CHANGES[change]
    oracle = pretended(**changes)
    run(oracle, [FIRST, SECOND], run(pretended(edition=1), [FIRST, SECOND]), ran)
    assert keys(oracle) == [FIRST.key, SECOND.key]


def test_a_file_of_a_time_before_the_ways_were_numbered_is_of_the_present_one() -> None:
    before = run(pretended(), [FIRST])
    oracle = pretended(edition=2)
    later = run(oracle, [FIRST], Observed(replace(before.header, edition=None), before.rows))
    assert keys(oracle) == []
    assert later.header.edition == 2


def test_what_had_no_answer_is_asked_again_and_so_is_what_is_a_class_by_now() -> None:
    def first(question: Question) -> Answer | Unanswered:
        if question is FIRST:
            return Unanswered("no module x", "missing-package")
        if question is SECOND:
            return Answer(Verdict.REJECTS, "config", "ImportError", "Please install x")
        return accepts(question)

    before = run(pretended(says=first), [FIRST, SECOND, THIRD])
    assert rows(before)[FIRST.key].unanswered == "missing-package"
    oracle = pretended()
    run(oracle, [FIRST, SECOND, THIRD], before)
    assert keys(oracle) == [FIRST.key, SECOND.key]


def test_a_load_is_no_answer_to_the_question_up_to_the_config() -> None:
    before = run(pretended(), [FIRST])
    loaded = replace(before.rows[0], origins=("load a",), stage="request")
    oracle = pretended()
    run(oracle, [FIRST], replace(before, rows=(loaded,)))
    assert keys(oracle) == [FIRST.key]


def test_the_seconds_are_those_of_the_run_that_put_most_questions(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(0, 10_000, 5))
    monkeypatch.setattr("specconf.verify.run.time.monotonic", lambda: next(clock))
    whole = run(pretended(), [FIRST, SECOND])
    seconds = {"asked": 2, "import_seconds": 2.0, "ask_seconds": 5.0}
    assert whole.header.cost == {**RAN.cost, **seconds}
    few = run(pretended(), [FIRST, SECOND, THIRD], whole, replace(RAN, cost={"own_mb": 9}))
    assert few.header.cost == {"own_mb": 9, **seconds}
    again = run(pretended(), [FIRST, SECOND, THIRD])
    assert again.header.cost["asked"] == 3


def test_the_seconds_of_building_are_kept_where_the_environment_does_not_tell_them() -> None:
    whole = run(pretended(), [FIRST], ran=replace(RAN, cost={"build_seconds": 90.0}))
    assert run(pretended(), [FIRST, SECOND], whole).header.cost["build_seconds"] == 90.0
    rebuilt = run(pretended(), [FIRST], whole, replace(RAN, cost={"build_seconds": 40.0}))
    assert rebuilt.header.cost["build_seconds"] == 40.0


def test_seconds_of_old_files_are_of_as_many_questions_as_they_call_answers() -> None:
    before = run(pretended(), [FIRST, SECOND])
    old = replace(before.header, cost={"answers": 2, "import_seconds": 8.0, "ask_seconds": 90.0})
    cost = run(pretended(), [FIRST, SECOND, THIRD], replace(before, header=old)).header.cost
    assert (cost["asked"], cost["ask_seconds"]) == (2, 90.0)
    assert "answers" not in cost
