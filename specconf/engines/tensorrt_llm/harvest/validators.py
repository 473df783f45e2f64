"""What a class's validators say of single fields, where it can be read off: plain limits, keys of old that are still
read, and functions that turn the written word into something else. Everything else a validator does is for people.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct, field

from specconf.engines.tensorrt_llm.harvest.fields import ClassAt, lineage
from specconf.engines.tensorrt_llm.harvest.source import Tree, last_name

_FIELD, _MODEL = ("field_validator", "validator"), ("model_validator", "root_validator")
# What must hold for the validator not to raise, and the same with the sides exchanged.
_OPPOSITE: Mapping[type[ast.cmpop], str] = {ast.Lt: "ge", ast.LtE: "gt", ast.Gt: "le", ast.GtE: "lt"}
_HOLDS: Mapping[type[ast.cmpop], str] = {ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge"}
_SWAPPED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}


class Validators(Struct, frozen=True):
    """What the validators of a class say: bounds and parsers by field, and keys that are accepted but retired.

    `rewriters` see the whole mapping before its fields are read; `rewritten` are all the words in them, a key's perhaps.
    """

    bounds: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    parsers: Mapping[str, str] = field(default_factory=dict)
    retired: frozenset[str] = frozenset()
    rewriters: Mapping[str, int] = field(default_factory=dict)
    rewritten: frozenset[str] = frozenset()
    functions: Mapping[str, ast.FunctionDef] = field(default_factory=dict)


def validators_of(tree: Tree, at: ClassAt) -> Validators:
    """The validators of a class and its bases; the nearest function of a name counts."""
    bounds: dict[str, dict[str, Any]] = {}
    parsers: dict[str, str] = {}
    functions: dict[str, ast.FunctionDef] = {}
    retired: set[str] = set()
    rewriters: dict[str, int] = {}
    rewritten: set[str] = set()
    seen: set[str] = set()
    for _, above in lineage(tree, *at):
        for function in above.body:
            if not isinstance(function, ast.FunctionDef) or function.name in seen:
                continue
            seen.add(function.name)
            call = _validator(function, (*_FIELD, *_MODEL))
            if call is None:
                continue
            if last_name(call.func) in _MODEL:
                if _is_early(call):
                    retired |= _retired(function)
                    rewriters[function.name] = function.lineno
                    rewritten |= _words(function)
                continue
            for name in (item.value for item in call.args if isinstance(item, ast.Constant)):
                functions[str(name)] = function
                if _is_early(call):
                    parsers[str(name)] = function.name
                else:
                    bounds[str(name)] = {**bounds.get(str(name), {}), **_limits(function)}
    return Validators(bounds, parsers, frozenset(retired), rewriters, frozenset(rewritten), functions)


def _validator(function: ast.FunctionDef, names: tuple[str, ...]) -> ast.Call | None:
    return next(
        (each for each in function.decorator_list if isinstance(each, ast.Call) and last_name(each.func) in names), None
    )


def _is_early(call: ast.Call) -> bool:
    """Whether a validator sees the word as it was written, before its type is checked."""
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    mode, pre = given.get("mode"), given.get("pre")
    early = isinstance(mode, ast.Constant) and mode.value in ("before", "plain", "wrap")
    return early or (isinstance(pre, ast.Constant) and pre.value is True)


def _limits(function: ast.FunctionDef) -> dict[str, Any]:
    """The limits that a validator sets by raising on a comparison of its value with a number."""
    value = function.args.args[1].arg if len(function.args.args) > 1 else ""
    found: dict[str, Any] = {}
    for test in _refusals(function.body, value):
        match test:
            case ast.Compare(left=ast.Name(id=name), ops=[op], comparators=[limit]) if name == value:
                found |= _limit(_OPPOSITE.get(type(op), ""), limit)
            case ast.UnaryOp(op=ast.Not(), operand=ast.Compare() as inside):
                found |= _inside(inside, value)
    return found


def _refusals(body: list[ast.stmt], value: str) -> Iterator[ast.expr]:
    """The tests on whose success alone a body raises; a test that the value is set may stand before them."""
    for statement in body:
        match statement:
            case ast.If(test=ast.BoolOp(op=ast.And(), values=[first, second]), body=[ast.Raise()]) if _is_set(
                first, value
            ):
                yield second
            case ast.If(test=test, body=[ast.Raise()]):
                yield test
            case ast.If(test=test, body=inner) if _is_set(test, value):
                yield from _refusals(inner, value)


def _is_set(test: ast.expr, value: str) -> bool:
    match test:
        case ast.Compare(left=ast.Name(id=name), ops=[ast.IsNot()], comparators=[ast.Constant(value=None)]):
            return name == value
    return False


def _inside(test: ast.Compare, value: str) -> dict[str, Any]:
    """`0 < v <= 1` as bounds."""
    match test:
        case ast.Compare(left=low, ops=[first, second], comparators=[ast.Name(id=name), high]) if name == value:
            return {
                **_limit(_SWAPPED.get(_HOLDS.get(type(first), ""), ""), low),
                **_limit(_HOLDS.get(type(second), ""), high),
            }
        case ast.Compare(left=ast.Name(id=name), ops=[op], comparators=[limit]) if name == value:
            return _limit(_HOLDS.get(type(op), ""), limit)
    return {}


def _limit(name: str, node: ast.expr) -> dict[str, Any]:
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError):
        return {}
    usable = name and isinstance(value, int | float) and not isinstance(value, bool)
    return {name: value} if usable else {}


def _retired(function: ast.FunctionDef) -> set[str]:
    """Keys that a class looks for before its fields are read, and calls deprecated in a message of the same function."""
    sought: set[str] = set()
    said: list[str] = []
    for node in ast.walk(function):
        match node:
            case ast.Compare(left=ast.Constant(value=str(name)), ops=[ast.In()]):
                sought.add(name)
            case ast.Constant(value=str(text)) if "deprecated" in text.lower():
                said.append(text)
    return {name for name in sought if any(name in text for text in said)}


def _words(function: ast.FunctionDef) -> set[str]:
    return {node.value for node in ast.walk(function) if isinstance(node, ast.Constant) and isinstance(node.value, str)}
