"""The value types that the spec's models share: bounded numbers, one-line text, lists, open mappings, sections.

All strict: no text for a number, no number for a switch, no switch for a number.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, JsonValue, StringConstraints
from pydantic_core import PydanticCustomError

from specconf.spec.core_schema import INTEGER_LIMIT, ScalarError, check_characters

INT_MAX = 2**31 - 1
MAX_OPTION_DEPTH = 32
MAX_KEY_LENGTH = 128  # six times that, all escaped, still fits YAML's limit of 1024 characters for a key

# One line without control characters; a leading dash would read as a flag in a launch.
_ONE_LINE = r"^[^-\s\x00-\x1f\x7f]([^\x00-\x1f\x7f]*[^\s\x00-\x1f\x7f])?$"


class Section(BaseModel):
    """A mapping of the spec whose keys are fields of their own; None in a field leaves it to the engine."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, allow_inf_nan=False, hide_input_in_errors=True, defer_build=True
    )


class Value(Section):
    """A mapping of the spec that counts as one value, for example a row of the schedule."""


SectionT = TypeVar("SectionT", bound=Section)


def _empty_section(value: Any) -> Any:
    return {} if value is None else value


def _as_tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _characters(value: str) -> str:
    try:
        check_characters(value)
    except ScalarError as error:
        raise PydanticCustomError("characters", "{reason}", {"reason": str(error)}) from None
    return value


EmptyIsUnset = BeforeValidator(_empty_section)
"""A section written without anything under it is a section with nothing set."""

ListIsTuple = BeforeValidator(_as_tuple)
"""A list of the file becomes an immutable tuple."""

Text = Annotated[str, StringConstraints(min_length=1, pattern=_ONE_LINE), AfterValidator(_characters)]
"""One line of text that does not start with a dash."""

Name = Annotated[str, StringConstraints(max_length=63, pattern=r"^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$")]
"""A name that also serves as a file or resource name."""

Count = Annotated[int, Field(ge=1, le=INT_MAX)]
"""A whole number of at least one."""

CountOrZero = Annotated[int, Field(ge=0, le=INT_MAX)]
"""A whole number of at least zero."""


def check_open_value(value: Any, depth: int = MAX_OPTION_DEPTH) -> None:
    """Refuse what YAML and JSON cannot hold: other types, NaN, oversize integers, half characters, deep nesting."""
    if depth < 0:
        raise PydanticCustomError(
            "too_deep", "values are nested more than {limit} levels deep", {"limit": MAX_OPTION_DEPTH}
        )
    if isinstance(value, str):
        _characters(value)
    elif isinstance(value, bool) or value is None:
        return
    elif isinstance(value, int):
        if abs(value) >= INTEGER_LIMIT:
            raise PydanticCustomError("integer_size", "an integer beyond 64 bits")
    elif isinstance(value, float):
        if not -float("inf") < value < float("inf"):
            raise PydanticCustomError("finite_number", "must be a finite number")
    elif isinstance(value, list):
        for item in value:
            check_open_value(item, depth - 1)
    elif isinstance(value, dict):
        for key, item in value.items():
            _check_open_key(key)
            check_open_value(item, depth - 1)
    else:
        raise PydanticCustomError("invalid_json", "must be text, a number, true, false, null, a list or a mapping")


def _check_open_key(key: Any) -> None:
    if not isinstance(key, str) or not 0 < len(key) <= MAX_KEY_LENGTH:
        raise PydanticCustomError(
            "open_key", "a key must be text of 1 to {limit} characters", {"limit": MAX_KEY_LENGTH}
        )
    _characters(key)


def _checked_open(value: Any) -> Any:
    check_open_value(value)
    return value


OpenMapping = Annotated[
    dict[str, JsonValue], BeforeValidator(_checked_open, json_schema_input_type=dict[str, JsonValue])
]
"""A mapping whose keys and values are not the spec's own."""


def set_members(section: BaseModel) -> Iterator[tuple[str, Any]]:
    """The fields of a section that are not None, in the order of the spec."""
    for name in type(section).model_fields:
        value = getattr(section, name)
        if value is not None:
            yield name, value


def to_json(value: Any) -> Any:
    """A value of the model as plain JSON data, without unset members."""
    if isinstance(value, BaseModel):
        own = {name: to_json(member) for name, member in set_members(value)}
        return own | {name: to_json(member) for name, member in (value.model_extra or {}).items()}
    if isinstance(value, Mapping):
        return {str(key): to_json(member) for key, member in value.items()}
    if isinstance(value, list | tuple):
        return [to_json(item) for item in value]
    if isinstance(value, str):
        return str(value)
    return value
