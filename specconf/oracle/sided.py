"""What specconf says to a launch and what the engine's own code says, side by side: a value that travels to every report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from specconf.findings import Finding
from specconf.oracle.asking import Answer


class Differing(Struct, frozen=True):
    """An option in force that is not what we say; `ours` is a value or candidates as an effective configuration shows them."""

    option: str
    engine: Any
    ours: Mapping[str, Any]


class SideBySide(Struct, frozen=True):
    """One launch at one release.

    `shown` says on what the release was asked ("on a CPU"), empty where nothing was put to it.

    Of our errors `refusals` are those about the launch up to the stage that was asked for, on that hardware, and those that
    name no stage; `unwritten` those about parts of a spec that the launch does not hold; `later` those that stop it at a later
    stage, `elsewhere` on the spec's own hardware alone, `starting` those about a launch that starts. `undecided` are the rules
    that could have refused and lacked a fact.

    Without an answer `not_asked` says why, and `excluded` names the class of such questions where it is a known one. `compared`
    counts the values in force that both name, None where none were compared; `filled` are values of which we do not know or
    say nothing, `notes` say what the launch lacks and in what the question differs from it.
    """

    engine: str
    release: str
    shown: str = ""
    refusals: tuple[Finding, ...] = ()
    unwritten: tuple[Finding, ...] = ()
    later: tuple[Finding, ...] = ()
    elsewhere: tuple[Finding, ...] = ()
    starting: tuple[Finding, ...] = ()
    undecided: tuple[str, ...] = ()
    answer: Answer | None = None
    not_asked: str = ""
    excluded: str = ""
    compared: int | None = None
    differing: tuple[Differing, ...] = ()
    filled: tuple[tuple[str, Any], ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def agree(self) -> bool | None:
        """Whether both take the launch, or both refuse it; None where the engine was not asked, or its answer settles nothing.

        It settles nothing where the launch passed but our errors name no stage, so that they may come later; and where it
        lacks a part of the spec, unless we refuse what is there, too.
        """
        if self.answer is None:
            return None
        if not self.answer.accepts:
            return True if self.refusals else None if self.unwritten else False
        if any(finding.stage is not None for finding in self.refusals):
            return False
        return None if self.refusals or self.unwritten else True

    @property
    def overruled(self) -> bool:
        """Whether the engine refuses a launch of which we say no such thing: the engine wins."""
        return self.answer is not None and not self.answer.accepts and not self.refusals


class Limits(Struct, frozen=True):
    """What asking one engine cannot say: a sentence, and the classes of questions that cannot be put, with why."""

    engine: str
    text: str
    excluded: tuple[tuple[str, str], ...]
