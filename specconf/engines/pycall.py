"""A launch as one call in Python: the class, and its keywords from the same settings. What has no keyword is refused."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from specconf.compat.view import View
from specconf.errors import UsageError
from specconf.words import JsonValue


class PyObject(Struct, frozen=True):
    """An object that is made by a class of its own with these keywords."""

    name: str
    keywords: Mapping[str, JsonValue]


class PyCall(Struct, frozen=True):
    """`from MODULE import CLASS`, and the keywords with which it is called; `beside`: names that are imported too, with
    their modules. `must_shut`: whether processes stay until the engine is told to stop."""

    module: str
    name: str
    keywords: Mapping[str, JsonValue | PyObject]
    beside: Mapping[str, str]
    env: Mapping[str, str]
    must_shut: bool = False


def refused(view: View, title: str, path: str, call: str) -> UsageError:
    """The error for a setting that the call takes no keyword for."""
    return UsageError(
        f"{call} of {title} {view.release} takes no keyword for {path}.",
        hint="Leave it out for Python, or use another format, which starts a server.",
    )
