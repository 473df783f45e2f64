"""Where the compiled index lies: inside the installed package, or in the user cache for a checkout."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from specconf.errors import DatabaseError

PACKAGED = Path(__file__).resolve().parent.parent / "_index"
CHECKOUT = Path(__file__).resolve().parent.parent.parent / "compat"


@cache
def index_folder() -> Path:
    """The folder of the compiled index; a checkout builds it on first use.

    Raises DatabaseError when the package carries no index and is no checkout.
    """
    if (PACKAGED / "checkpoints.json").is_file():
        return PACKAGED
    if not CHECKOUT.is_dir():
        raise DatabaseError("this installation carries no compatibility database; reinstall specconf")
    import platformdirs

    from specconf.compat.index import build_index
    from specconf.compat.sources import SourceTree

    folder = Path(platformdirs.user_cache_dir("specconf")) / f"index-{SourceTree(CHECKOUT).digest()}"
    if not (folder / "checkpoints.json").is_file():
        build_index(CHECKOUT, folder)
    return folder


def load_json(name: str) -> Any:
    """One file of the compiled index."""
    return json.loads((index_folder() / f"{name}.json").read_bytes())
