"""Putting questions to a release and keeping what it answers. Nothing is compared here."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct, field
from msgspec.structs import asdict, replace

from specconf.oracle.asking import Answer, Question, Unanswered
from specconf.oracle.client import Ready, Worker
from specconf.oracle.engine import EngineOracle
from specconf.verify.asked import Asked
from specconf.verify.observed import Header, Observed, Row, row_of

Progress = Callable[[str], None]


class Ran(Struct, frozen=True):
    """What is asked: the python of a release's environment, the archive that its code is from, a folder for the engine, and
    what the environment cost.
    """

    python: Path
    archive: str
    sha256: str
    kept: Path | None = None
    cost: Mapping[str, Any] = field(default_factory=dict)


class _Run(Struct):
    """What has been gathered over the workers of one release. `asked` counts the questions that were put now."""

    rows: list[Row] = field(default_factory=list)
    plain: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    canaries: dict[str, None] = field(default_factory=dict)
    broken: list[str] = field(default_factory=list)
    asked: int = 0
    import_seconds: float = 0.0
    ask_seconds: float = 0.0


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

    `before`: what was recorded of it, whose answers are kept where the same thing would be asked the same launch again.
    Where a canary fails the header names it in `broken`, and there are no answers.
    """
    questions: dict[str, Question] = {}
    origins: dict[str, list[str]] = defaultdict(list)
    for one in asked:
        questions.setdefault(one.question.key, one.question)
        origins[one.question.key].append(one.origin)
    by_gpu: dict[str | None, list[str]] = {oracle.usual_gpu: []}
    for key, question in questions.items():
        by_gpu.setdefault(question.gpu, []).append(key)
    run, ready, known = _Run(), None, dict[str, Row]()
    for gpu, keys in by_gpu.items():
        # What is there is known once it runs, and then whether the answers of before are its own.
        if ready is None or not known.keys() >= set(keys):
            with oracle.worker(ran.python, release, gpu=gpu, cache=ran.kept) as worker:
                run.import_seconds += worker.ready.seconds
                if ready is None:
                    ready = worker.ready
                    before = before if before is not None and _same(before.header, oracle, ran, ready) else None
                    known = _known(before, oracle)
                _check_canaries(oracle, worker, gpu, run)
                if run.broken:
                    break
                _ask(oracle, worker, {key: questions[key] for key in keys if key not in known}, origins, run, progress)
        run.rows += [replace(known[key], origins=tuple(dict.fromkeys(origins[key]))) for key in keys if key in known]
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
        edition=oracle.edition,
        canaries=tuple(run.canaries),
        broken=tuple(run.broken),
        cost=_cost(run, ran, before),
        plain={**(before.header.plain if before is not None else {}), **run.plain},
    )
    return Observed(header, () if run.broken else tuple(run.rows)), questions


def _ask(
    oracle: EngineOracle,
    worker: Worker,
    questions: Mapping[str, Question],
    origins: Mapping[str, list[str]],
    run: _Run,
    progress: Progress,
) -> None:
    """Put questions to one worker."""
    began = time.monotonic()
    for number, (key, question) in enumerate(questions.items(), 1):
        answer = worker.ask(question)
        values = oracle.in_force(answer.effective) if isinstance(answer, Answer) else {}
        run.rows.append(row_of(key, origins[key], answer, values))
        if number % 200 == 0:
            progress(f"{oracle.engine} {worker.release} {worker.gpu or ''}: {number} of {len(questions)} launches")
    run.ask_seconds += time.monotonic() - began
    run.asked += len(questions)


# What an answer may depend on beside the release's own code.
_BESIDE = ("torch", "transformers", "pydantic")


def _same(before: Header, oracle: EngineOracle, ran: Ran, ready: Ready) -> bool:
    """Whether the answers of before are of the same code beside the same packages, asked in the same way.

    Files of a time before the ways were numbered are of the first.
    """
    return (
        before.sha256 == ran.sha256
        and before.edition in (None, oracle.edition)
        and all(before.versions.get(name) == ready.versions.get(name) for name in _BESIDE)
    )


def _known(before: Observed | None, oracle: EngineOracle) -> dict[str, Row]:
    """The verdicts of before, but those of a class that is known by now to be none."""
    if before is None:
        return {}
    classes = oracle.excluded()

    def is_one(row: Row) -> bool:
        if row.verdict is None:
            return False
        return not any(each.matches(f"{row.exception}: {row.says}") for each in classes if row.exception)

    return {row.launch: row for row in before.rows if is_one(row) and not row.loaded}


class _Seconds(Struct, frozen=True):
    """What one run took: `asked` questions, importing the engine for them, and asking them."""

    asked: int
    import_seconds: float
    ask_seconds: float


def _cost(run: _Run, ran: Ran, before: Observed | None) -> dict[str, Any]:
    """What the environment cost, and the seconds of the run that put most questions.

    A later run that asks the few that are new says nothing of what a release costs; how many answers there are is in the file.
    """
    now = _Seconds(run.asked, round(run.import_seconds, 1), round(run.ask_seconds, 1))
    earlier: Mapping[str, Any] = before.header.cost if before is not None else {}
    most = max((now, _seconds(earlier)), key=lambda each: each.asked)
    built = {name: earlier[name] for name in ("build_seconds",) if name in earlier}
    return {**built, **ran.cost, **asdict(most)}


def _seconds(cost: Mapping[str, Any]) -> _Seconds:
    """The seconds of an earlier run, which called its questions `answers` once."""
    asked = cost.get("asked", cost.get("answers", 0))
    return _Seconds(asked, cost.get("import_seconds", 0.0), cost.get("ask_seconds", 0.0))


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
