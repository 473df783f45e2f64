"""What an engine has to provide so that its releases can be asked. `specconf.engines.registry.get_oracle` hands it out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from specconf.oracle.asking import Question, Verdict
from specconf.oracle.client import Worker
from specconf.oracle.excluded import Excluded, read_excluded

if TYPE_CHECKING:
    from specconf.oracle.recipe import Recipe


@dataclass(frozen=True, slots=True)
class Canary:
    """A launch whose answer is known for every release: another one means that the environment is broken."""

    name: str
    question: Question
    verdict: Verdict
    stage: str | None = None


@dataclass(frozen=True, slots=True)
class EngineOracle:
    """How one engine is asked.

    `package` is the Python package of `specconf/engines/` that holds the adapter and the excluded classes. `gpus` are the
    kinds of GPU that a release can be shown, the usual one first; none: the engine is asked on its CPU platform.
    `effective` maps a path of the effective configuration to the names that the releases' own configurations have for it.
    """

    engine: str
    package: str
    canaries: tuple[Canary, ...]
    gpus: tuple[str, ...] = ()
    effective: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def platform(self) -> str:
        """The hardware platform that answers are about."""
        return "cuda" if self.gpus else "cpu"

    @property
    def usual_gpu(self) -> str | None:
        """The GPU that is shown where a question does not ask for another."""
        return self.gpus[0] if self.gpus else None

    @property
    def recipe(self) -> Recipe:
        """How environments of its releases are made; loaded when one is."""
        from specconf.oracle.recipe import recipe_of

        return recipe_of(self.engine)

    def excluded(self) -> tuple[Excluded, ...]:
        """The classes of questions that this way of asking cannot put."""
        return read_excluded(files(self.package).joinpath("excluded.yaml"))

    def worker(self, python: Path, release: str, *, gpu: str | None = None, cache: Path | None = None) -> Worker:
        """A release's own code, started in the environment that has this python."""
        return Worker(
            python,
            f"{self.package}.adapter",
            release,
            gpu=gpu if gpu is not None else self.usual_gpu,
            cache=cache,
            excluded=self.excluded(),
        )
