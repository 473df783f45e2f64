"""What specconf says to a launch and what the engine's own code says, side by side: a value that travels to every report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from specconf.findings import Finding
from specconf.oracle.asking import Answer


@dataclass(frozen=True, slots=True)
class Differing:
    """An option in force that is not what we say; `ours` is a value or candidates as an effective configuration shows them."""

    option: str
    engine: Any
    ours: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class SideBySide:
    """One launch at one release.

    `shown` says on what the release was asked ("on a CPU"). `refusals` are our errors up to the stage that was asked for, on
    that hardware; `undecided` the rules that could have refused there and lacked a fact. Without an answer `not_asked` says
    why, and `excluded` names the class of such questions where it is a known one. `filled` are values
    in force of which we do not know or say nothing, `notes` say in what the question differs from the launch.
    """

    engine: str
    release: str
    shown: str = ""
    refusals: tuple[Finding, ...] = ()
    undecided: tuple[str, ...] = ()
    answer: Answer | None = None
    not_asked: str = ""
    excluded: str = ""
    differing: tuple[Differing, ...] = ()
    filled: tuple[tuple[str, Any], ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def agree(self) -> bool | None:
        """Whether both take the launch, or both refuse it; None where the engine was not asked."""
        return None if self.answer is None else self.answer.accepts is not bool(self.refusals)

    @property
    def overruled(self) -> bool:
        """Whether the engine refuses what we pass: the engine wins."""
        return self.answer is not None and not self.answer.accepts and not self.refusals


@dataclass(frozen=True, slots=True)
class Limits:
    """What asking one engine cannot say: a sentence, and the classes of questions that cannot be put, with why."""

    engine: str
    text: str
    excluded: tuple[tuple[str, str], ...]
