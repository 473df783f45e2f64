"""An engine whose releases answer by a table, in place of workers: what asks, records and compares is tested with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from specconf.engines.registry import get_oracle
from specconf.errors import OracleError
from specconf.oracle.asking import Answer, Question, Unanswered, Verdict
from specconf.oracle.client import Ready
from specconf.oracle.engine import Canary, EngineOracle

Said = Callable[[Question], Answer | Unanswered]
VERSIONS = {"torch": "2.13.0+cpu", "transformers": "5.20.2", "pydantic": "2.14.3"}
PLAIN = Question(("vllm", "serve", "plain"))
CANARIES = (Canary("a plain launch is accepted", PLAIN, Verdict.ACCEPTS, "config"),)


def accepts(question: Question) -> Answer:
    """What a release says that takes everything."""
    return Answer(Verdict.ACCEPTS, "config", effective={"scheduler_config.max_num_seqs": len(question.argv)})


class Log(Struct):
    """What was asked: launches by the GPU that was shown, and the GPUs for which a worker was started."""

    asked: list[tuple[str | None, str]] = field(default_factory=list)
    started: list[str | None] = field(default_factory=list)


class PretendedWorker:
    """Stands for `specconf.oracle.client.Worker`."""

    def __init__(self, oracle: Pretended, release: str, gpu: str | None) -> None:
        self.release, self.gpu = release, gpu
        self.ready = Ready(release, oracle.platform, "3.11.7", oracle.installed, (), 2.0)
        self._oracle = oracle

    def ask(self, question: Question) -> Answer | Unanswered:
        """The answer of the table; what a canary asks is not counted."""
        assert question.gpu == self.gpu
        if question.argv not in {canary.question.argv for canary in self._oracle.canaries}:
            self._oracle.log.asked.append((self.gpu, question.key))
        return self._oracle.says(question)

    def __enter__(self) -> PretendedWorker:
        return self

    def __exit__(self, *_: object) -> None:
        pass


class Pretended(EngineOracle, frozen=True):
    """An engine's oracle whose workers answer by `says`, beside `installed` packages; releases in `fails` do not start."""

    says: Said = accepts
    installed: Mapping[str, str] = field(default_factory=lambda: dict(VERSIONS))
    fails: frozenset[str] = frozenset()
    log: Log = field(default_factory=Log)

    def worker(  # type: ignore[override]
        self, python: Path, release: str | None, *, gpu: str | None = None, cache: Path | None = None
    ) -> PretendedWorker:
        """A worker that is no process."""
        if release in self.fails:
            raise OracleError(f"the process that asks {release} ended with 1.")
        shown = gpu if gpu is not None else self.usual_gpu
        self.log.started.append(shown)
        return PretendedWorker(self, str(release), shown)


def pretended(engine: str = "vllm", **changes: Any) -> Pretended:
    """The oracle of a real engine, with its own canaries' launch or one plain launch."""
    real = get_oracle(engine)
    given = {name: getattr(real, name) for name in real.__struct_fields__}
    return Pretended(**{**given, "canaries": CANARIES, **changes})
