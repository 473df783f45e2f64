"""What an expression can stand for besides a plain Python value: unknowns, classes, enum members, fields, scopes."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from specconf.engines.vllm.harvest.source import Module

Value = Any
MISSING = object()
# The few values of the standard library that options use as defaults.
STANDARD = {"ssl.CERT_NONE": 0, "argparse.SUPPRESS": "==SUPPRESS=="}
SUPPRESS = STANDARD["argparse.SUPPRESS"]


class Unknown(Struct, frozen=True):
    """A value that only running the engine would show."""

    text: str


class ClassRef(Struct, frozen=True, eq=False):
    """A class of the tree."""

    module: Module
    node: ast.ClassDef


class Member(Struct, frozen=True):
    """A member of an enum class."""

    enum: str
    name: str
    value: Value


class Field(Struct, frozen=True):
    """One field of a configuration class: where it is declared and what its default expression says."""

    name: str
    annotation: ast.expr
    default: ast.expr | None
    doc: str
    module: Module
    line: int


class Scope(Struct, frozen=True):
    """Where an expression stands: its module, and the local names of the function around it."""

    module: Module
    names: Mapping[str, Value]


def contains_unknown(value: Value) -> bool:
    """Whether any part of a value is unknown or has no JSON form."""
    if isinstance(value, list | tuple | set | frozenset):
        return any(contains_unknown(item) for item in value)
    if isinstance(value, dict):
        return any(contains_unknown(item) for pair in value.items() for item in pair)
    return not (value is None or isinstance(value, bool | int | float | str))


def to_json(value: Value) -> Value:
    """The JSON form of a known value: enum members by value, sets and tuples as lists."""
    if isinstance(value, Member):
        return to_json(value.value)
    if isinstance(value, set | frozenset):
        return sorted(to_json(item) for item in value)
    if isinstance(value, list | tuple):
        return [to_json(item) for item in value]
    if isinstance(value, dict):
        return {to_json(key): to_json(item) for key, item in value.items()}
    return value
