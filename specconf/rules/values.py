"""Whether a value fits an option by its type, choices and bounds, and what the option takes instead."""

from __future__ import annotations

from specconf.compat.rows import Option
from specconf.engines.near import near_names
from specconf.engines.options import as_text
from specconf.words import JsonValue

_TYPES: dict[str, tuple[type, ...]] = {"int": (int,), "float": (int, float), "bool": (bool,), "str": (str,)}
# The mark of a member whose value the engine keeps as it is given, whatever its type.
AS_GIVEN = "SkipValidation"
_ALL_SHOWN, _SHOWN_OF_MANY = 12, 6  # choices
_OPERATORS = {"gt": ">", "ge": ">=", "lt": "<", "le": "<="}


def wrong_value(option: Option, value: JsonValue) -> str:
    """What the option takes instead, when the value does not fit; empty when it fits or that is not known."""
    if option.kind == "optional" and value == option.const:
        return ""  # the flag stands alone
    if option.parser == AS_GIVEN:
        # Kept without a look at its type; a number that is compared cannot be text.
        return _type_text(option) if isinstance(value, str) and option.type in ("int", "float") else ""
    if option.own_parser:
        return ""
    if value is None:
        return "" if option.nullable or option.default is None or option.type is None else _type_text(option)
    if option.kind in {"list", "append"}:
        items = value if isinstance(value, list) else [value]
        return next((wrong for item in items if (wrong := _wrong_scalar(option, item))), "")
    return _wrong_scalar(option, value)


def _wrong_scalar(option: Option, value: JsonValue) -> str:
    if option.choices is not None:
        if any(value == choice and isinstance(value, bool) == isinstance(choice, bool) for choice in option.choices):
            return ""
        if option.type in _TYPES and _fits(option.type, value) and option.type != "str" and not isinstance(value, str):
            return _choices_text(option, value)
        return _choices_text(option, value) if isinstance(value, str) or option.type is None else _type_text(option)
    if option.type in _TYPES and not _fits(option.type, value):
        return _type_text(option)
    if isinstance(value, int | float) and not isinstance(value, bool) and not _within(option, value):
        return " and ".join(f"{_OPERATORS[op]} {bound:g}" for op, bound in option.bounds.items())
    return ""


def out_of_bounds(option: Option, value: JsonValue) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and not _within(option, value)


_WORDS = {
    **dict.fromkeys(("true", "1", "yes", "y", "on", "t"), True),
    **dict.fromkeys(("false", "0", "no", "n", "off", "f"), False),
}


def coerced(value: JsonValue, kind: str) -> JsonValue:
    """A value as pydantic's lax mode reads it for a type; a value that it refuses is left as it is."""
    if kind == "bool":
        if isinstance(value, str):
            return _WORDS.get(value.lower(), value)
        return bool(value) if isinstance(value, int | float) and value in (0, 1) else value
    if kind not in ("int", "float") or not isinstance(value, str | int | float):
        return value
    try:
        number = float(value)
    except ValueError:
        return value
    if kind == "float":
        return number
    return int(number) if number.is_integer() else value


def _fits(kind: str, value: JsonValue) -> bool:
    if isinstance(value, bool):
        return kind == "bool"
    return isinstance(value, _TYPES[kind])


def _within(option: Option, value: float) -> bool:
    tests = {"gt": value.__gt__, "ge": value.__ge__, "lt": value.__lt__, "le": value.__le__}
    return all(tests[op](bound) is True for op, bound in option.bounds.items())


def _type_text(option: Option) -> str:
    words = {"int": "a whole number", "float": "a number", "bool": "true or false", "str": "text"}
    return words.get(option.type or "", "another type")


def _choices_text(option: Option, value: JsonValue) -> str:
    """All choices, or of many those that come close to a value and then the first of the engine's own order."""
    assert option.choices is not None
    shown = [as_text(choice) for choice in option.choices]
    if len(shown) <= _ALL_SHOWN:
        return "one of " + ", ".join(shown)
    near = near_names(value, shown) if isinstance(value, str) else ()
    first = list(dict.fromkeys((*near, *shown)))[:_SHOWN_OF_MANY]
    return f"one of {len(shown)} values such as {', '.join(first)}"
