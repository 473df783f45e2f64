"""`--ask-engine`: environments, workers and notices around a question that `specconf.verify.side_by_side` makes.

Imported only where it is asked for.
"""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

import click
from msgspec import Struct, field
from msgspec.structs import replace

from specconf.engines.registry import get_engine, get_oracle
from specconf.errors import OracleError, UsageError
from specconf.oracle import building, environment
from specconf.oracle.pythons import interpreter_at
from specconf.oracle.sided import Limits, SideBySide
from specconf.verify.side_by_side import Case, Put, beside, limits, put
from specconf.verify.spec_case import case_of_spec

if TYPE_CHECKING:
    from specconf.compat.view import View
    from specconf.engines.base import Engine, Models
    from specconf.oracle.asking import Answer, Unanswered
    from specconf.oracle.client import Worker
    from specconf.oracle.engine import EngineOracle
    from specconf.rules.judge import Judgement
    from specconf.spec.model import Spec

_COST = "up to 3 minutes and 2 GB, most of which further releases share"


class Asker(Struct):
    """Asks releases for the length of one command; a context manager, since processes are started.

    `builds`: an environment that is absent is built; else its release is not asked. `python`: of an environment of the user's
    own, asked in place of a built one. `verbose`: where an engine does not start, all that its process wrote is printed.
    """

    builds: bool = True
    python: Path | None = None
    verbose: bool = False
    asked: dict[str, Limits] = field(default_factory=dict)
    _stack: ExitStack = field(default_factory=ExitStack)
    _own: Worker | None = None

    def __enter__(self) -> Asker:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    @property
    def limits(self) -> list[Limits]:
        """What asking could not say, for the engines that were asked."""
        return list(self.asked.values())

    def hold(self, engines: tuple[str, ...], releases: list[str]) -> None:
        """With a python of the user's own: start it, and see that its release is among those that are judged."""
        if self.python is None:
            return
        if len(engines) != 1:
            raise UsageError(
                f"--engine-python holds one engine, and {', '.join(engines)} are asked for.",
                hint="Name one with --engine.",
            )
        interpreter_at(self.python)
        _notice(f"importing {engines[0]} in the environment of {self.python}, which takes some seconds")
        worker = self._stack.enter_context(
            self._started(get_oracle(engines[0]), self.python, None, f"{engines[0]}-own")
        )
        if worker.release not in releases:
            raise OracleError(
                f"{self.python} holds {engines[0]} {worker.release}, and {' and '.join(releases)} is to be judged.",
                hint=f"Write --release {engines[0]}={worker.release}, or name another python.",
            )
        self._own = worker

    def ask(self, case: Case) -> SideBySide:
        """Put a case to its release; what keeps it from being put is said in the result."""
        oracle = get_oracle(case.view.engine)
        sees = "" if self._own is None else self._own.ready.platform
        asked = put(case, oracle, sees=sees)
        answer: Answer | Unanswered | None = None
        if asked.question is not None:
            try:
                answer = self._answer(case.view, oracle, asked)
            except OracleError as error:
                asked = replace(asked, not_asked=" ".join(str(error).split()))
        if answer is not None and oracle.engine not in self.asked:
            self.asked[oracle.engine] = limits(oracle, get_engine(oracle.engine).title, sees=sees)
        return beside(case, oracle, asked, answer)

    def ask_spec(self, spec: Spec, engine: Engine, view: View, models: Models, judgement: Judgement) -> SideBySide:
        """Put what a spec was lowered to to its release."""
        case = case_of_spec(spec, engine, view, models, judgement)
        return case if isinstance(case, SideBySide) else self.ask(case)

    def _answer(self, view: View, oracle: EngineOracle, asked: Put) -> Answer | Unanswered:
        assert asked.question is not None
        gpu = asked.question.gpu
        if self._own is not None and self._own.release != view.release:
            raise OracleError(f"{self.python} holds {view.engine} {self._own.release}.")
        if self._own is not None and self._own.gpu == gpu:
            return _sung(oracle, self._own).ask(asked.question)
        python = self.python or self._python(oracle, view.release)
        kept = f"{view.engine}-{'own' if self.python else view.release}"
        _notice(f"importing {view.engine} {view.release}, which takes some seconds; it is asked {asked.shown}")
        with self._started(oracle, python, view.release, kept, gpu=gpu) as worker:
            return _sung(oracle, worker).ask(asked.question)

    def _started(
        self, oracle: EngineOracle, python: Path, release: str | None, kept: str, *, gpu: str | None = None
    ) -> Worker:
        """A worker that has imported its engine."""
        try:
            return oracle.worker(python, release, gpu=gpu, cache=_kept(kept))
        except OracleError as error:
            if self.verbose and error.detail:
                click.echo(error.detail, err=True)
            raise

    def _python(self, oracle: EngineOracle, release: str) -> Path:
        """The python of a release's environment, which is built where that is wanted."""
        name = f"{oracle.engine} {release}"
        if oracle.own_python_only:
            raise OracleError(
                f"no environment of {get_engine(oracle.engine).title} can be built: its package needs a GPU's libraries.",
                hint="Name the python of an environment that has it with --engine-python PATH.",
            )
        found = environment.find(oracle.engine, release)
        if found is not None:
            return found.python
        if not self.builds:
            raise OracleError(f"no environment of {name} is built, and none is built for all releases at once.")
        _notice(f"building an environment of {name} under {environment.cache_root()}: {_COST}")
        try:
            return building.build(oracle.engine, release, progress=_notice).python
        except OracleError as error:
            raise OracleError(f"no environment of {name} could be built: {error.message}", hint=error.hint) from None


def _kept(name: str) -> Path:
    """A folder for what an engine keeps between runs, such as what it found out about its model classes."""
    folder = environment.cache_root() / "kept" / name
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OracleError(
            f"what the engine keeps between runs cannot be written: {error.filename or folder}: "
            f"{(error.strerror or str(error)).lower()}.",
            hint="Name a folder that can be written in SPECCONF_ENGINE_CACHE.",
        ) from None
    return folder


def _sung(oracle: EngineOracle, worker: Worker) -> Worker:
    """A worker whose canaries sing. OracleError where one does not: its answers are worth nothing."""
    broken = oracle.broken(worker)
    if broken:
        raise OracleError(f"the environment of {oracle.engine} {worker.release} is broken: {broken}")
    return worker


def _notice(text: str) -> None:
    click.echo(f"specconf: {text}", err=True)
