"""Putting questions to a release and keeping what it answers. Nothing is compared here."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from specconf.oracle.asking import Answer, Question, Unanswered
from specconf.oracle.client import Worker
from specconf.oracle.engine import EngineOracle
from specconf.verify.asked import Asked
from specconf.verify.observed import Header, Observed, Row, row_of

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Ran:
    """What is asked: the python of a release's environment, the archive that its code is from, a folder for the engine, and
    what the environment cost.
    """

    python: Path
    archive: str
    sha256: str
    kept: Path | None = None
    cost: Mapping[str, Any] = field(default_factory=dict)


@dataclass
class _Run:
    """What has been gathered over the workers of one release."""

    rows: list[Row] = field(default_factory=list)
    plain: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    canaries: dict[str, None] = field(default_factory=dict)
    broken: list[str] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=lambda: {"import": 0.0, "ask": 0.0})


def ask_release(
    oracle: EngineOracle,
    release: str,
    ran: Ran,
    asked: Iterable[Asked],
    *,
    seed: int,
    progress: Progress,
    before: Observed | None = None,
) -> tuple[Observed, dict[str, Question]]:
    """Put every question to a release; the same launch is asked once. One worker for each GPU that is shown.

    `before`: what was recorded of the same archive, whose answers are kept where a launch is asked again.
    """
    questions: dict[str, Question] = {}
    origins: dict[str, list[str]] = defaultdict(list)
    for one in asked:
        questions.setdefault(one.question.key, one.question)
        origins[one.question.key].append(one.origin)
    run, ready = _Run(), None
    known = _known(before, oracle) if before is not None and before.header.sha256 == ran.sha256 else {}
    by_gpu: dict[str | None, list[str]] = {oracle.usual_gpu: []}
    for key, question in questions.items():
        if key in known:
            run.rows.append(replace(known[key], origins=tuple(dict.fromkeys(origins[key]))))
        else:
            by_gpu.setdefault(question.gpu, []).append(key)
    if before is not None and known:
        run.plain.update(before.header.plain)
    for gpu, keys in by_gpu.items():
        with oracle.worker(ran.python, release, gpu=gpu, cache=ran.kept) as worker:
            ready = worker.ready
            run.seconds["import"] += ready.seconds
            _check_canaries(oracle, worker, gpu, run)
            if run.broken:
                break
            began = time.monotonic()
            for number, key in enumerate(keys, 1):
                answer = worker.ask(questions[key])
                values = oracle.in_force(answer.effective) if isinstance(answer, Answer) else {}
                run.rows.append(row_of(key, origins[key], answer, values))
                if number % 200 == 0:
                    progress(f"{oracle.engine} {release} {gpu or ''}: {number} of {len(keys)} launches")
            run.seconds["ask"] += time.monotonic() - began
    assert ready is not None
    header = Header(
        engine=oracle.engine,
        release=release,
        archive=ran.archive,
        sha256=ran.sha256,
        python=ready.python,
        versions=ready.versions,
        standins=ready.standins,
        seed=seed,
        canaries=tuple(run.canaries),
        broken=tuple(run.broken),
        cost=_cost(run, ran, before if known else None, len(run.rows)),
        plain=run.plain,
    )
    return Observed(header, () if run.broken else tuple(run.rows)), questions


def _known(before: Observed, oracle: EngineOracle) -> dict[str, Row]:
    """The verdicts of before, but those of a class that is known by now to be none."""
    classes = oracle.excluded()

    def is_one(row: Row) -> bool:
        if row.verdict is None:
            return False
        return not any(each.matches(f"{row.exception}: {row.says}") for each in classes if row.exception)

    return {row.launch: row for row in before.rows if is_one(row) and not row.loaded}


def _cost(run: _Run, ran: Ran, before: Observed | None, answers: int) -> dict[str, Any]:
    """What the environment cost, and the seconds of importing the engine and of all answers; of several runs the first's."""
    if before is not None and before.header.cost:
        return {**ran.cost, **before.header.cost}
    seconds = {f"{name}_seconds": round(each, 1) for name, each in run.seconds.items()}
    return {**ran.cost, **seconds, "answers": answers}


def _check_canaries(oracle: EngineOracle, worker: Worker, gpu: str | None, run: _Run) -> None:
    """The launches whose answers are known; the first is a plain one, whose values in force are kept."""
    for number, canary in enumerate(oracle.canaries):
        answer = worker.ask(_shown(canary.question, gpu))
        sings = isinstance(answer, Answer) and answer.verdict is canary.verdict and canary.stage in (None, answer.stage)
        if not sings:
            said = (
                answer.reason
                if isinstance(answer, Unanswered)
                else f"{answer.verdict} at {answer.stage}: {answer.message}"
            )
            run.broken.append(f"{canary.name}: {' '.join(said.split())[:160]}")
            continue
        run.canaries[canary.name] = None
        if number == 0 and isinstance(answer, Answer):
            run.plain[gpu or "cpu"] = oracle.in_force(answer.effective)


def _shown(question: Question, gpu: str | None) -> Question:
    return Question(question.argv, question.env, question.files, question.models, gpu)


def chosen(own: Sequence[Asked], lifted: Sequence[Asked], array: Sequence[Asked], least: int) -> list[Asked]:
    """All our own launches, and at least as many that nobody wrote a verdict for: lifted ones, the rest from the array."""
    wanted = max(len({one.question.key for one in own}), least)
    texts = lifted[: wanted // 2]
    return [*own, *texts, *array[: wanted - len(texts)]]
