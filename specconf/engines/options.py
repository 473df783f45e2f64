"""Values and objects of options: from text to a typed value, from a mapping to members, from a name to an option.

Shared by reading argv, reading option files and laying `engines.<e>.options` of a spec over what was lowered.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from msgspec import Struct

from specconf.compat.rows import Option
from specconf.compat.view import View
from specconf.patterns import pattern
from specconf.words import JsonValue

_TRUE = {"true", "1", "yes"}
_FALSE = {"false", "0", "no"}


class BadValue(ValueError):
    """A text that is no value of the option's type; the message says what would be."""


def from_text(option: Option, text: str) -> JsonValue:
    """The typed value of one argv word or variable.

    Raises BadValue. An option whose type is not known keeps the text.
    """
    if option.nullable and text == "None":
        return None
    try:
        return _typed(option, text)
    except BadValue:
        if option.own_parser:
            return text
        raise


def _typed(option: Option, text: str) -> JsonValue:
    kind = option.type
    if option.parser == "human_readable_int":
        return _with_suffix(text)
    if kind == "int":
        return _number(text, int, "a whole number")
    if kind == "float":
        return _number(text, float, "a number")
    if kind == "bool":
        return _boolean(text)
    if kind == "json" or option.kind == "object":
        return from_json(text)
    return text


def _number(text: str, kind: type[int] | type[float], expected: str) -> int | float:
    try:
        return kind(text)
    except ValueError:
        raise BadValue(expected) from None


_SUFFIXED = pattern(r"(\d+(?:\.\d+)?)(k|M|G|T)|(\d+)(Ki|Mi|Gi|Ti)", re.ASCII)
_FACTORS = {"k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}


def _with_suffix(text: str) -> int:
    """A whole number, or a number with a decimal (k, M, ...) or binary (Ki, Mi, ...) suffix."""
    match = _SUFFIXED.fullmatch(text.strip())
    if match is None:
        return int(_number(text, int, "a whole number, or one with a suffix such as 8k or 8Ki"))
    if match[4]:
        return int(match[3]) * _FACTORS[match[4]]
    return int(Decimal(match[1]) * _FACTORS[match[2]])


def _boolean(text: str) -> bool:
    if text.lower() in _TRUE:
        return True
    if text.lower() in _FALSE:
        return False
    raise BadValue("true or false")


def from_json(text: str) -> JsonValue:
    """A JSON value; NaN and infinities are refused as the strict format does."""

    def refuse(name: str) -> None:
        raise BadValue(f"JSON without {name}")

    try:
        value: JsonValue = json.loads(text, parse_constant=refuse)
    except json.JSONDecodeError as error:
        raise BadValue(f"JSON ({error.msg} at character {error.pos + 1})") from None
    except RecursionError:
        raise BadValue("JSON that is less deeply nested") from None
    return value


class Member(Struct, frozen=True):
    """One leaf of an object: its destination path, the key as written, the value."""

    path: str
    key: str
    value: JsonValue


def members(option: Option, value: JsonValue, view: View) -> Iterator[Member]:
    """The leaves of an object option's value.

    An object whose members are not known stays one leaf at its own path. Unknown keys of a known object get the path that
    a key of that name would have, and rules report them.
    """
    if not isinstance(value, dict) or not option.members or not view.names.get(option.members):
        yield Member(option.path, option.key, value)
        return
    dashes = "dotted_dashes" in view.scope(option.members).forms
    for key, item in value.items():
        member = member_named(option, key, view, dashes=dashes)
        if member is not None and member.members and isinstance(item, dict):
            yield from members(member, item, view)
        else:
            yield Member(member.path if member else f"{option.path}.{key}", key, item)


def member_named(option: Option, key: str, view: View, *, dashes: bool) -> Option | None:
    """The member of an object option by its key; `dashes`: dashes in the key count as underscores."""
    names = view.names.get(option.members, {})
    return names.get(key) or (names.get(key.replace("-", "_")) if dashes else None)


def written_key(path: str, view: View) -> str:
    """The key that writes a member path at this release: its own name, less the mark of a changed meaning."""
    option = view.option(path)
    if option is not None and option.names and not option.names[0].startswith("-"):
        return option.names[0]
    return path.rpartition(".")[2].partition("@")[0]


def parent_object(path: str, view: View) -> Option | None:
    """The object option that a member path belongs to at this release, if it can be written as an object."""
    parent = path.rpartition(".")[0]
    while parent:
        rows = [o for o in view.by_path.get(parent, ()) if o.kind == "object"]
        if rows:
            return rows[0]
        parent = parent.rpartition(".")[0]
    return None


def by_loose_name(view: View, scope: str) -> Mapping[str, Option]:
    """The options of a scope by name and path with separators made equal, for keys of a spec's `options`."""
    table: dict[str, Option] = {}
    for option, _ in view.options_of(scope):
        for name in (option.path, *option.names, *option.no_names):
            table.setdefault(loose(name), option)
    return table


def loose(name: str) -> str:
    """A name with leading dashes gone and separators made equal."""
    return name.lstrip("-").replace("-", "_")


def as_text(value: Any) -> str:
    """A value as one argv word."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value
    if value is None:
        return "None"
    if isinstance(value, int | float):
        return repr(value)
    return compact_json(value)


def compact_json(value: JsonValue) -> str:
    """JSON without spaces; characters outside ASCII stay readable."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def python_literal(text: str) -> str:
    """The JSON object in a text as Python writes it, keys and texts in double quotes; empty for any other text."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return ""
    return _as_python(value) if isinstance(value, dict) else ""


def _as_python(value: JsonValue) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(k, ensure_ascii=False)}: {_as_python(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_as_python, value)) + "]"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)
