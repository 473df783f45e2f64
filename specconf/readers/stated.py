"""The release that a file states for a launch: where, how, and how firmly. What the release does is not known here."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from specconf.words import Span

IMAGE_TAG = "image tag"  # how a release is stated by the image that a launch runs in


class Firmness(StrEnum):
    """What a stated release is: one version, a range of them, a name that moves, or a build of somebody's own."""

    EXACT = "exact"
    RANGE = "range"
    FLOATING = "floating"
    FORK = "fork"


class Stated(Struct, frozen=True):
    """A release as written. `how` names the place in the reader's words: image tag, pin, variable, comment."""

    engine: str
    text: str
    firmness: Firmness
    how: str
    where: Span | None = None
