"""What every format is given to write, and what all of them say of a launch in the same way."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from specconf.compat.view import View
from specconf.engines.base import Artifact, Engine
from specconf.findings import Finding
from specconf.settings import Settings
from specconf.words import JsonValue

if TYPE_CHECKING:
    from specconf.oracle.sided import SideBySide


class Request(Struct, frozen=True):
    """A launch to be written in one format.

    `fields`: the fields that the spec sets. `forced`: the mark of a launch written in spite of errors, empty for one without.
    `side`: what the engine itself said. `overlay`: the documents of the file that deployment.overlay names.
    """

    artifact: Artifact
    settings: Settings
    engine: Engine
    view: View
    fields: Mapping[str, JsonValue]
    findings: tuple[Finding, ...] = ()
    forced: str = ""
    side: SideBySide | None = None
    overlay: tuple[Mapping[str, Any], ...] = ()

    def text(self, name: str) -> str | None:
        """A field of the spec that holds a text."""
        value = self.fields.get(name)
        return value if isinstance(value, str) else None


def head(artifact: Artifact, forced: str) -> list[str]:
    """The first comments of a file: what it starts, and that it was forced."""
    return [f"# {artifact.engine} {artifact.release}, written by specconf", *([f"# {forced}"] if forced else [])]


def forced_mark(errors: int, left_out: Iterable[str]) -> str:
    """What a forced launch says of itself: how many errors there are, and which fields of the spec it does not hold."""
    missing = ", ".join(sorted(left_out))
    lost = f"; left out: {missing}" if missing else ""
    return f"FORCED in spite of {errors} error{'' if errors == 1 else 's'}{lost}"


def marked_files(artifact: Artifact, forced: str) -> Mapping[str, str]:
    """The artifact's files; a forced one says so in its first line."""
    if not forced:
        return artifact.files
    return {name: f"# {forced}\n{text}" for name, text in artifact.files.items()}
