"""What a release does, looked up by name in the table `behaviours` of compat/vllm/tables.yaml: releases live in data only."""

from __future__ import annotations

from specconf.compat.view import View
from specconf.kleene import Ternary

TABLE = "behaviours"


def does(view: View, name: str) -> bool:
    """Whether the release is known to do this."""
    return may(view, name) is True


def may(view: View, name: str) -> Ternary:
    """Whether the release does this, None where that is not known; an unlisted name is a fault of the code."""
    if not view.db.tables[TABLE].of(name):
        raise KeyError(f"no behaviour of vLLM is called {name}")
    return view.lookup(TABLE, name)[1]


def not_known(whether: str) -> str:
    """Of an unpublished version between two releases that differ; completes "vLLM 0.23.1.dev3 ..."."""
    return f"is a version of which it is not known whether it {whether}"
