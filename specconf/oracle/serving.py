"""An environment in which one engine release really serves, compiled parts and all: the value that travels."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct, field


class Serving(Struct, frozen=True):
    """Where one release can be started. `wheel` and `sha256` are of the distribution that holds the engine itself,
    `versions` of the packages that an answer may depend on; `kept` is a folder for what the engine keeps between runs.
    """

    engine: str
    release: str
    python: Path
    kept: Path
    wheel: str
    sha256: str
    versions: Mapping[str, str] = field(default_factory=dict)
