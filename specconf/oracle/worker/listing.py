"""What a release's own parser registers, as data, and values as JSON. Runs inside an engine's environment."""

from __future__ import annotations

import argparse
import contextlib
import enum
import io
import json
from typing import Any

from specconf.oracle.worker.protocol import MESSAGE_LIMIT, Adapter


def plain(value: Any) -> Any:
    """A value as JSON; what JSON cannot hold is shown by its repr."""
    try:
        return as_json(value)
    except (TypeError, ValueError):
        return repr(value)[:MESSAGE_LIMIT]


def as_json(value: Any) -> Any:
    """A value as JSON: sets in order, enumerations by their values. Raises what json raises for anything else."""

    def known(inner: Any) -> Any:
        if isinstance(inner, set | frozenset):
            return sorted(inner)
        if isinstance(inner, enum.Enum):
            return inner.value
        raise TypeError(type(inner).__name__)

    return json.loads(json.dumps(value, allow_nan=False, default=known))


def defaulted(value: Any) -> dict[str, Any]:
    """A default: the value, or the text of one that JSON cannot hold; neither where argparse is to store none."""
    if isinstance(value, str) and value == argparse.SUPPRESS:
        return {}
    try:
        return {"default": as_json(value)}
    except (TypeError, ValueError):
        return {"default_text": repr(value)[:MESSAGE_LIMIT]}


def listed(adapter: Adapter) -> dict[str, Any]:
    """What the release registers: its parser's options, and the members of its objects and registries."""
    with contextlib.redirect_stdout(io.StringIO()):
        members = {
            scope: [{"name": row["name"], **(defaulted(row["default"]) if "default" in row else {})} for row in rows]
            for scope, rows in adapter.members().items()
        }
        return {"options": option_rows(adapter.parser()), "members": members}


def option_rows(parser: argparse.ArgumentParser) -> list[dict[str, Any]]:
    """The options a parser registers, as data. Spellings are those it takes, which are more than those in its help."""
    spellings: dict[int, list[str]] = {}
    for spelling, action in parser._option_string_actions.items():  # argparse has no public way to list them
        spellings.setdefault(id(action), []).append(spelling)
    return [option_row(parser, action, spellings.get(id(action), [])) for action in parser._actions]


def option_row(parser: argparse.ArgumentParser, action: argparse.Action, names: list[str]) -> dict[str, Any]:
    """One option. A default that is text is read as an argument, as argparse reads it."""
    kind, default = action.type, action.default
    if isinstance(default, str) and default != argparse.SUPPRESS:
        default = parser._get_value(action, default)
    marked: set[argparse.Action] = getattr(parser, "_deprecated", set())  # vLLM keeps them so before Python 3.13
    return defaulted(default) | {
        "names": names,
        "dest": action.dest,
        "nargs": action.nargs,
        "type": None if kind is None else getattr(kind, "__name__", repr(kind)),
        "choices": None if action.choices is None else [plain(choice) for choice in action.choices],
        "const": plain(action.const),
        "action": type(action).__name__,
        "required": action.required,
        "deprecated": action in marked or getattr(action, "deprecated", False) or "Deprecated" in type(action).__name__,
        "stores": {name: stored(parser, action, name) for name in names} if action.nargs in (0, "?") else {},
    }


def stored(parser: argparse.ArgumentParser, action: argparse.Action, name: str) -> dict[str, Any] | None:
    """What an option stores when it is given alone; None when the launch stops at it."""
    namespace = argparse.Namespace()
    values = parser._get_values(action, [])
    try:
        with contextlib.redirect_stderr(io.StringIO()):
            action(parser, namespace, values, name)
    except (argparse.ArgumentError, ValueError, SystemExit):
        return None
    return {dest: plain(value) for dest, value in vars(namespace).items()}
