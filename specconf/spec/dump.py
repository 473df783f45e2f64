"""Specs to canonical YAML text: the set fields in the order of the spec, and nothing else.

What is written loads back as an equal spec. Text that YAML 1.2 or 1.1 would read as something else is quoted.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from specconf.patterns import pattern
from specconf.spec.core_schema import ScalarError, resolve_plain
from specconf.spec.leaves import nested
from specconf.spec.model import Spec

_PLAIN = pattern(r"[A-Za-z0-9_./][A-Za-z0-9_./@+-]*(?: [A-Za-z0-9_./@+-]+)*\Z")
_YAML_1_1 = pattern(
    r"(?:y|n|yes|no|on|off|[-+]?[0-9][0-9_,.]*(?:[eE][-+]?[0-9_]+)?|[-+]?0[box][0-9a-fA-F_]+|[-+]?\.[0-9_]+.*|"
    r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}.*|[.]+|=)\Z",
    re.IGNORECASE,
)
_ESCAPED = pattern("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


def dump_spec(spec: Spec) -> str:
    """The canonical YAML text of a spec."""
    data: dict[str, Any] = {"specconf": spec.specconf} | nested(spec.set_fields())
    engines = spec.engine_settings()
    if engines:
        data["engines"] = engines
    return "\n".join(block(data, "")) + "\n"


def block(mapping: dict[str, Any], indent: str) -> Iterator[str]:
    """The lines of a mapping, each below the other."""
    for key, value in mapping.items():
        head = f"{indent}{plain_or_quoted(key)}:"
        if isinstance(value, dict) and value:
            yield head
            yield from block(value, indent + "  ")
        elif isinstance(value, list) and any(isinstance(item, dict | list) for item in value):
            yield head
            yield from (f"{indent}- {flow(item)}" for item in value)
        else:
            yield f"{head} {flow(value)}"


def flow(value: Any) -> str:
    """A value on one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{plain_or_quoted(key)}: {flow(member)}" for key, member in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(flow(item) for item in value) + "]"
    if isinstance(value, str):
        return plain_or_quoted(value)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    return _number(value)


def _number(value: float) -> str:
    """A number with a point and a sign in front of its exponent, which YAML 1.1 wants."""
    digits, mark, exponent = repr(value).partition("e")
    return f"{digits}.0e{exponent}" if mark and "." not in digits else digits + mark + exponent


def plain_or_quoted(text: str) -> str:
    """Text without quotes where every YAML reads it back as that text."""
    if _PLAIN.match(text) and not _YAML_1_1.match(text) and _reads_as_text(text):
        return text
    quoted = json.dumps(text, ensure_ascii=False)
    return _ESCAPED.sub(lambda match: f"\\u{ord(match[0]):04x}", quoted)


def _reads_as_text(text: str) -> bool:
    try:
        return resolve_plain(text) == text
    except ScalarError:
        return False
