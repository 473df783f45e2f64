"""Fields of the spec by dotted name: which there are, reading them from a spec, nesting them again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, get_args

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from specconf.spec.values import Section, Value, to_json
from specconf.words import JsonValue

_NOT_FIELDS = frozenset({"specconf", "engines"})


def section_of(info: FieldInfo) -> type[Section] | None:
    """The section class that a field opens, or None for a field that is one value."""
    for candidate in (info.annotation, *get_args(info.annotation)):
        if isinstance(candidate, type) and issubclass(candidate, Section) and not issubclass(candidate, Value):
            return candidate
    return None


@cache
def leaf_infos(model: type[BaseModel]) -> dict[str, FieldInfo]:
    """Every field of a model that is one value, by dotted name, in the order of the spec."""
    return dict(_leaf_infos(model, ""))


def _leaf_infos(model: type[BaseModel], prefix: str) -> Iterator[tuple[str, FieldInfo]]:
    for name, info in model.model_fields.items():
        if not prefix and name in _NOT_FIELDS:
            continue
        section = section_of(info)
        if section is None:
            yield prefix + name, info
        else:
            yield from _leaf_infos(section, f"{prefix}{name}.")


def read(spec: BaseModel, field: str) -> JsonValue:
    """The value of one field as JSON data; None if it is unset."""
    value: Any = spec
    for part in field.split("."):
        value = getattr(value, part)
    result: JsonValue = to_json(value)
    return result


def nested(fields: Mapping[str, JsonValue]) -> dict[str, Any]:
    """Dotted names as nested mappings, in the order given."""
    tree: dict[str, Any] = {}
    for field, value in fields.items():
        *parents, leaf = field.split(".")
        branch = tree
        for part in parents:
            branch = branch.setdefault(part, {})
        branch[leaf] = value
    return tree
