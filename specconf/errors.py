"""The errors specconf shows a user. Each class owns its exit code; the message says what, where, and what to do.

Findings about a launch are data (`specconf.findings`), not errors: an error means that specconf could not do its work.
"""

from __future__ import annotations

from specconf.words import Span


class SpecconfError(Exception):
    """Base of everything the command line turns into one clean message instead of a traceback."""

    exit_code = 4

    def __init__(self, message: str, *, where: Span | None = None, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.where = where
        self.hint = hint

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        hint = f"\n  {self.hint}" if self.hint else ""
        return f"{place}{self.message}{hint}"


class UsageError(SpecconfError):
    """The command line asks for something that does not exist or cannot be combined."""

    exit_code = 2


class InputError(SpecconfError):
    """An input named on the command line is missing, unreadable or not parseable."""

    exit_code = 2


class MissingPackage(InputError):
    """What reads a kind of file is an extra that is not installed: the file is passed over, and that is told."""


class UnknownReleaseError(UsageError):
    """A release older than the oldest known one, or text that is no version."""


class DatabaseError(SpecconfError):
    """The compatibility database itself is broken: a fault of specconf or of an overlay, never of the user's spec."""

    exit_code = 4


class OverlayError(SpecconfError):
    """A database overlay given by the user cannot be read."""

    exit_code = 2


class HarvestError(SpecconfError):
    """A release could not be fetched, or its sources do not hold what is read from them."""

    exit_code = 2


class OracleError(SpecconfError):
    """An engine release could not be asked: its environment cannot be made, or the engine cannot be imported there.

    `detail` is all that a failed process wrote, for those who want to read it.
    """

    exit_code = 2

    def __init__(self, message: str, *, hint: str | None = None, detail: str = "") -> None:
        super().__init__(message, hint=hint)
        self.detail = detail
