"""What a deploy file has to know of an engine's server: where it listens, how it is watched, how many GPUs it takes."""

from __future__ import annotations

from collections.abc import Callable
from math import prod

from msgspec import Struct

from specconf.settings import Settings


class Serving(Struct, frozen=True):
    """One engine's server. `host` and `port` are destination paths, `gpus` counts those of one launch.

    `health`: the path that says whether it serves; `answers_within`: the seconds that one answer of it may take in a server
    that is well.
    """

    host: str
    port: str
    gpus: Callable[[Settings], int]
    health: str
    answers_within: int


def product(settings: Settings, *paths: str) -> int:
    """The product of the sizes at these paths; what is not set is one."""
    sizes = (settings.get(path) for path in paths)
    return prod(size for size in sizes if isinstance(size, int) and not isinstance(size, bool))
