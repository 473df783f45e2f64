"""The engine's own option file, beside the script that starts the engine with it."""

from __future__ import annotations

from collections.abc import Mapping

from specconf.emit import shell
from specconf.emit.request import Request, marked_files


def write(request: Request, *, alone: bool) -> Mapping[str, str]:
    """The option files; in a folder with the script that uses them."""
    return marked_files(request.artifact, request.forced) if alone else shell.write(request, alone=False)
