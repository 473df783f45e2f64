"""How YAML 1.2's core schema reads one scalar: null, booleans, integers, floats; everything else is text.

So `yes`, `no`, `on`, `off`, `1_000`, `12:30` and dates are text, `0o17` is octal and `1e-3` is a number. Numbers that
no JSON document can hold (NaN, infinities, integers beyond 64 bits) are refused.
"""

from __future__ import annotations

import math

from specconf.patterns import pattern
from specconf.spec.nodes import ScalarValue

TAG_PREFIX = "tag:yaml.org,2002:"
INTEGER_LIMIT = 2**64

_NULL = frozenset({"", "~", "null", "Null", "NULL"})
_TRUE = frozenset({"true", "True", "TRUE"})
_FALSE = frozenset({"false", "False", "FALSE"})
_DECIMAL = pattern(r"[-+]?[0-9]+\Z")
_OCTAL = pattern(r"0o[0-7]+\Z")
_HEX = pattern(r"0x[0-9a-fA-F]+\Z")
_FLOAT = pattern(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?\Z")
_NOT_FINITE = pattern(r"([-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN))\Z")


class ScalarError(ValueError):
    """A scalar that is recognised and cannot be used; the text says why."""


def resolve_plain(text: str) -> ScalarValue:
    """The value of an unquoted scalar."""
    if text in _NULL:
        return None
    if text in _TRUE:
        return True
    if text in _FALSE:
        return False
    if _DECIMAL.match(text):
        return _integer(text, 10)
    if _OCTAL.match(text):
        return _integer(text[2:], 8)
    if _HEX.match(text):
        return _integer(text[2:], 16)
    if _FLOAT.match(text):
        return _float(text)
    if _NOT_FINITE.match(text):
        raise ScalarError(f"{text} is not a finite number")
    return text


def resolve_tagged(tag: str, text: str) -> ScalarValue:
    """The value of a scalar with an explicit tag of the core schema."""
    kind = tag.removeprefix(TAG_PREFIX)
    if kind == "str" or tag == "!":
        return text
    value = resolve_plain(text)
    if kind == "float" and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    types: dict[str, type] = {"null": type(None), "bool": bool, "int": int, "float": float}
    if kind not in types:
        raise ScalarError(f"the tag {tag} is not one of YAML 1.2's core schema")
    if type(value) is not types[kind]:
        raise ScalarError(f"{text!r} does not fit its tag !!{kind}")
    return value


def check_characters(text: str) -> None:
    """Refuse half of a surrogate pair, which an escape can write and no file can hold."""
    if any(0xD800 <= ord(character) < 0xE000 for character in text):
        raise ScalarError("an escape that is no character")


def _integer(digits: str, base: int) -> int:
    value = int(digits, base) if len(digits) <= 80 else INTEGER_LIMIT
    if abs(value) >= INTEGER_LIMIT:
        raise ScalarError("an integer beyond 64 bits")
    return value


def _float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ScalarError(f"{text} is too large for a number")
    return value
