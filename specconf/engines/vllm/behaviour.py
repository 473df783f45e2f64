"""What a release does, looked up by name in the table `behaviours` of compat/vllm/tables.yaml: releases live in data only."""

from __future__ import annotations

from specconf.compat.database import View

TABLE = "behaviours"


def does(view: View, name: str) -> bool:
    """Whether the release is known to do this; a name that the table does not hold is a fault of the code."""
    if name not in {row.value for row in view.db.tables[TABLE].rows}:
        raise KeyError(f"no behaviour of vLLM is called {name}")
    return view.lookup(TABLE, name)[1] is True
