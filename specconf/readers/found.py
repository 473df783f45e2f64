"""What reading a deploy file gives: launches, with what the file says of each beside its words."""

from __future__ import annotations

from msgspec import Struct

from specconf.readers.mistakes import Mistake
from specconf.readers.stated import Firmness, Stated
from specconf.words import Launch, Span, Word


class ReadLaunch(Struct, frozen=True):
    """A launch found in a file, with the releases that are stated for it, the firmest first.

    `orphans`: words of a command right after it that starts with an option. Such a command is what a comment or a missing
    backslash cuts off: the shell runs it as a program of its own. `env_files`: files not read that may set variables for
    the launch. `name`: what its file calls it. `in_script`: whether a shell reads its words. `mistakes`: what its file
    does to its words before the engine gets them.
    """

    launch: Launch
    stated: tuple[Stated, ...] = ()
    orphans: tuple[Word, ...] = ()
    env_files: tuple[Word, ...] = ()
    name: str = ""
    in_script: bool = True
    mistakes: tuple[Mistake, ...] = ()

    @property
    def release(self) -> str | None:
        """The one release that is stated, None where it is a range, moves, or is not said."""
        exact = next((one for one in self.stated if one.firmness is Firmness.EXACT), None)
        return exact.text if exact else None

    @property
    def release_where(self) -> Span | None:
        """Where that one is stated."""
        exact = next((one for one in self.stated if one.firmness is Firmness.EXACT), None)
        return exact.where if exact else None
