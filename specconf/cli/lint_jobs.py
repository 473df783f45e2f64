"""Judging many files: what a linter is made of, which files are worth reading, and several processes where that pays."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct, field
from msgspec.structs import replace

from specconf.cli.common import Session, read_input
from specconf.errors import InputError
from specconf.lint.files import Candidate, around, candidates, read_bytes
from specconf.lint.globs import matches
from specconf.lint.results import FileResult
from specconf.lint.skipping import TOO_LARGE, cannot_hold_a_launch

if TYPE_CHECKING:
    from specconf.compat.database import Database
    from specconf.engines.base import Engine, Models
    from specconf.lint.run import Linter
    from specconf.models.facts import ModelFacts
    from specconf.models.hub import Unavailable
    from specconf.settings import Settings

FEWEST = 64  # files that mention an engine, below which starting processes costs more than it saves
_MOST_JOBS = 8  # each holds the database of its own
_CHUNK = 8
EXCLUDED = "excluded by the project's settings"


class Setup(Struct, frozen=True):
    """What a linter is made of; it travels to other processes."""

    overlays: tuple[Path, ...]
    online: bool
    explicit: dict[str, str]

    def linter(self, session: Session | None = None) -> Linter:
        """A linter, on a session of its own unless one is given."""
        from specconf.lint.run import Linter

        state = _State(session or Session.start(self.overlays, self.online, "-"))
        return Linter(state.database, state.models, self.explicit, state.session.project.releases)


class _State(Struct):
    """What one process judges with."""

    session: Session
    _databases: dict[str, Database] = field(default_factory=dict)

    def database(self, engine: str) -> Database:
        """An engine's database, loaded when the first launch of it is met."""
        if engine not in self._databases:
            self._databases[engine] = self.session.database(engine)
        return self._databases[engine]

    def models(self, settings: Settings, engine: Engine, folder: Path) -> Models:
        """The models that a launch names, looked for beside its file."""
        from specconf.engines.base import Models
        from specconf.models.view import written_models

        self.session.resolver.base_dir = folder
        return Models(*written_models(engine.model_path, engine.draft_path, settings, self._resolve))

    def _resolve(self, ref: str) -> ModelFacts | Unavailable:
        """A model by its name; one whose config cannot be read is not known, and no other launch suffers from it."""
        from specconf.models.hub import Cause, Unavailable

        try:
            return self.session.resolver.resolve(ref)
        except InputError as error:
            return Unavailable(f"the config.json of {ref} cannot be read: {error.message}", Cause.UNREADABLE)


def judge_files(paths: Sequence[str], setup: Setup, session: Session, *, jobs: int = 0) -> list[FileResult]:
    """Every file under the paths, judged, in the order of their names. `jobs`: 0 for as many as pay.

    With one job the results keep what the launches were judged with; from other processes only what is told of them comes.
    """
    found: list[FileResult | Candidate] = []
    for candidate in candidates(paths):
        found.append(_looked_at(candidate, session))
    waiting = [one for one in found if isinstance(one, Candidate)]
    if not waiting:
        return [one for one in found if isinstance(one, FileResult)]
    number = jobs or _worth(len(waiting))
    judged = _apart(waiting, setup, number) if number > 1 else _here(waiting, setup.linter(session))
    return [next(judged) if isinstance(one, Candidate) else one for one in found]


def _worth(files: int) -> int:
    """How many processes pay for a number of files."""
    if files < FEWEST:
        return 1
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(usable, _MOST_JOBS, files // (FEWEST // 2)))


def _looked_at(candidate: Candidate, session: Session) -> FileResult | Candidate:
    """The result of a file that need not be parsed, or what is to be judged. The bytes are looked through and let go, but
    for those that can be read only once.
    """
    if candidate.path == "-":
        return candidate
    if matches(candidate.path, session.project.exclude, session.project.folder):
        return FileResult(candidate.path, skipped=EXCLUDED)
    found = read_bytes(candidate)
    if isinstance(found, bytes):
        data = found
    elif found.data is not None:
        candidate, data = found, found.data
    else:
        return _not_read(candidate, found.unread)
    why = cannot_hold_a_launch(data)
    if why == TOO_LARGE:
        return _not_read(candidate, why)
    return FileResult(candidate.path, skipped=why) if why else candidate


def _not_read(candidate: Candidate, why: str) -> FileResult:
    return FileResult(candidate.path, skipped=why, unread=f"{candidate.path}: {why}.", named=candidate.named)


def _judge(candidate: Candidate, linter: Linter) -> FileResult:
    if candidate.path == "-":
        return _standard_input(linter)
    data = read_bytes(candidate)
    if not isinstance(data, bytes):
        return _not_read(candidate, data.unread)
    result = linter.file(candidate.path, data, around(candidate.path, candidate.under))
    result.named, result.under = candidate.named, candidate.under
    return result


def _standard_input(linter: Linter) -> FileResult:
    """What comes on standard input; where it is skipped, it keeps its text, which --fix prints as it came."""
    data = read_input("-")
    result = linter.file("-", data, around("-"))
    result.named = True
    return replace(result, text=data.decode("utf-8", "surrogateescape")) if result.skipped else result


def _here(waiting: Sequence[Candidate], linter: Linter) -> Iterator[FileResult]:
    return (_judge(candidate, linter) for candidate in waiting)


def _apart(waiting: Sequence[Candidate], setup: Setup, jobs: int) -> Iterator[FileResult]:
    """Judged by several processes, in the order given. A stopped run lets them end what they hold and no more."""
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    here = [candidate for candidate in waiting if candidate.path == "-"]
    first = {candidate.path: _judge(candidate, setup.linter()) for candidate in here}
    others = [candidate for candidate in waiting if candidate.path != "-"]
    chunks = [others[i : i + _CHUNK] for i in range(0, len(others), _CHUNK)]
    way = "fork" if "fork" in multiprocessing.get_all_start_methods() else None
    pool = ProcessPoolExecutor(jobs, multiprocessing.get_context(way), _begin, (setup,))
    try:
        judged = (result for chunk in pool.map(_judge_chunk, chunks) for result in chunk)
        for candidate in waiting:
            yield first.get(candidate.path) or next(judged)
    finally:
        pool.shutdown(cancel_futures=True)


_linter: Linter | None = None  # of this process, where it is one of several


def _begin(setup: Setup) -> None:
    global _linter  # noqa: PLW0603 - a process of a pool has no other place that outlives a task
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that started it is told, and ends it
    _linter = setup.linter()


def _judge_chunk(chunk: Sequence[Candidate]) -> list[FileResult]:
    assert _linter is not None
    return [slim(_judge(candidate, _linter)) for candidate in chunk]


def slim(result: FileResult) -> FileResult:
    """A result without what its launches were judged with, and without the text where nothing is shown of it."""
    launches = [replace(launch, chosen=replace(launch.chosen, views=()), settings=None) for launch in result.launches]
    text = result.text if result.all_findings else ""
    return replace(result, launches=launches, text=text)
