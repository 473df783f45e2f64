"""What a covering array of launches is made of: factors of a launch, and levels of each. Values only.

A launch is one level of every factor. `Factors.words` writes the chosen levels as an engine's own words; which levels go
into one launch is decided in `specconf.verify`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Struct, field

from specconf.words import JsonValue


class Level(Struct, frozen=True):
    """One way in which a launch can be.

    `argv`, `env` and `keys` (members of the object of speculation) are what it writes. `target` names a tiny config, `draft`
    a kind of draft, `folder` what the draft's folder is called where that matters, `gpu` the GPU that is shown.

    A release offers a level if it has the flags, variables and keys that the level writes and takes the words written for
    them. `listed`: table of the database → the row that it needs besides; `scope`: a list of options that it must have.
    `{drawn}` in `keys` is one of the option's choices that match `draws`.

    `needs`: factor → the levels of it that this one can be written with at all. `suits`: those it goes well with. Another is
    odd, as is a level that hardly any launch survives (`odd`, or in a release before `sound_since`). A launch holds one odd
    thing at most, or its first fault hides the rest.
    """

    name: str
    argv: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    keys: Mapping[str, JsonValue] = field(default_factory=dict)
    target: str = ""
    draft: str = ""
    folder: str = ""
    gpu: str | None = None
    weight: int = 2
    odd: bool = False
    needs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    suits: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    listed: Mapping[str, str] = field(default_factory=dict)
    scope: str = ""
    sound_since: str = ""
    draws: str = ""


class Factor(Struct, frozen=True):
    """One thing in which launches differ, and its levels: the first is the plain one, which every release has."""

    name: str
    levels: tuple[Level, ...]


class Written(Struct, frozen=True):
    """A launch in an engine's words: `{target}` and `{draft}` of levels are folders by now."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    files: Mapping[str, str]


class Factors(Struct, frozen=True):
    """The factors of one engine.

    `cli` and `members` are the scopes of its command line and of its object of speculation (none: all are flags).
    `words` writes chosen levels, by factor, for a target's and a draft's folder. `stray` names option-like words that no
    release has.
    """

    engine: str
    factors: tuple[Factor, ...]
    cli: str
    members: str
    words: Callable[[Mapping[str, Level], str, str], Written]
    stray: tuple[str, ...] = ()


def flag(
    *argv: str,
    weight: int = 1,
    odd: bool = False,
    sound_since: str = "",
    label: str = "",
    needs: Mapping[str, tuple[str, ...]] | None = None,
    **suits: tuple[str, ...],
) -> Level:
    """A flag with its values as a level of that name; `suits` by the factors' names, with underscores for blanks."""
    asked = {factor.replace("_", " "): levels for factor, levels in suits.items()}
    name = label or " ".join(argv).lstrip("-")
    return Level(name, argv, weight=weight, odd=odd, suits=asked, needs=needs or {}, sound_since=sound_since)
