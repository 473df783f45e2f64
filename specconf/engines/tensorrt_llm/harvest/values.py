"""The values of expressions that a release writes down: literals, arithmetic on them, constants, enum members, and the
defaults that one class takes from another. Anything else is unknown, never guessed.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping
from typing import Any

from specconf.engines.tensorrt_llm.harvest.fields import fields_of
from specconf.engines.tensorrt_llm.harvest.source import Module, Tree, last_name

UNKNOWN: Any = object()
_DEPTH = 12
_OPERATORS: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
_LARGEST = 2**64


def value_of(tree: Tree, module: Module, node: ast.expr, depth: int = 0) -> Any:
    """The JSON value of an expression, or UNKNOWN."""
    if depth > _DEPTH:
        return UNKNOWN
    try:
        return _json(ast.literal_eval(node))
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        pass
    match node:
        case ast.BinOp(left=left, op=op, right=right):
            return _computed(op, value_of(tree, module, left, depth + 1), value_of(tree, module, right, depth + 1))
        case ast.Attribute(value=ast.Name() as owner, attr=name):
            return _member(tree, module, owner, name)
        case ast.Attribute(value=ast.Attribute(value=ast.Name() as owner, attr=name), attr="value"):
            return _member(tree, module, owner, name, plain=True)
        case ast.Attribute(value=ast.Subscript(value=ast.Attribute(value=owner, attr="model_fields")), attr="default"):
            assert isinstance(node.value, ast.Subscript)
            return _field_default(tree, module, owner, node.value.slice, depth)
        case ast.Name(id=name):
            found = tree.resolve(module, name)
            bound = getattr(found.node, "value", None) if found else None
            return value_of(tree, found.module, bound, depth + 1) if found and bound else UNKNOWN
    return UNKNOWN


def _json(value: Any) -> Any:
    """A Python literal as JSON holds it; UNKNOWN if JSON cannot."""
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else UNKNOWN
        case list() | tuple():
            items = [_json(item) for item in value]
            return UNKNOWN if UNKNOWN in items else items
        case set():
            return _json(sorted(value, key=repr))
        case dict():
            pairs = {key: _json(item) for key, item in value.items()}
            usable = all(isinstance(key, str) for key in pairs) and UNKNOWN not in pairs.values()
            return pairs if usable else UNKNOWN
    return UNKNOWN


def _computed(op: ast.operator, left: Any, right: Any) -> Any:
    apply = _OPERATORS.get(type(op))
    numbers = all(isinstance(side, int | float) and abs(side) < _LARGEST for side in (left, right))
    if apply is None or not numbers or (isinstance(op, ast.Pow) and abs(right) > 64):
        return UNKNOWN
    try:
        return _json(apply(left, right))
    except (ArithmeticError, ValueError):
        return UNKNOWN


def _member(tree: Tree, module: Module, owner: ast.Name, name: str, *, plain: bool = False) -> Any:
    """A member of an enum whose members are strings; with `plain` (`.value`), of any enum."""
    found = tree.resolve_class(module, owner)
    members = enum_members(found[1]) if found else None
    if found is None or members is None or not (plain or is_text_enum(found[1])):
        return UNKNOWN
    return members.get(name, UNKNOWN)


def is_enum(node: ast.ClassDef) -> bool:
    """Whether a class is an enum, told by the names of its bases."""
    return any(last_name(base).endswith("Enum") for base in node.bases)


def is_text_enum(node: ast.ClassDef) -> bool:
    """Whether an enum's members are strings."""
    return any(last_name(base) in ("str", "StrEnum") for base in node.bases)


def enum_members(node: ast.ClassDef) -> dict[str, Any] | None:
    """The members of an enum by name, UNKNOWN where the value is computed; None if the class is no enum."""
    if not is_enum(node):
        return None
    members: dict[str, Any] = {}
    for statement in node.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=value)):
                members[name] = value
            case ast.Assign(targets=[ast.Name(id=name)]):
                members[name] = UNKNOWN
    return members


def _field_default(tree: Tree, module: Module, owner: ast.expr, key: ast.expr, depth: int) -> Any:
    """`Config.model_fields["name"].default`: the default that another class gives a field."""
    found = tree.resolve_class(module, owner)
    if found is None or not isinstance(key, ast.Constant):
        return UNKNOWN
    field = next((field for field in fields_of(tree, *found) if field.name == key.value), None)
    if field is None or field.default is None:
        return UNKNOWN
    return value_of(tree, field.module, field.default, depth + 1)


def keys_of(tree: Tree, module: Module, node: ast.expr) -> Any:
    """The strings of a list, or of the keys of a dict that a constant or a class attribute holds; else UNKNOWN."""
    match node:
        case ast.Call(func=ast.Attribute(value=inner, attr="keys")) | ast.Call(func=ast.Name(id="list"), args=[inner]):
            return keys_of(tree, module, inner)
        case ast.Dict(keys=keys) if keys:
            found = [key.value for key in keys if isinstance(key, ast.Constant)]
            return found if len(found) == len(keys) else UNKNOWN
        case ast.Name(id=name):
            bound = tree.resolve(module, name)
            value = getattr(bound.node, "value", None) if bound else None
            return keys_of(tree, bound.module, value) if bound and value is not None else UNKNOWN
        case ast.Attribute(value=ast.Name() as owner, attr=name):
            return _attribute_keys(tree, module, owner, name)
    value = value_of(tree, module, node)
    return value if isinstance(value, list) and all(isinstance(item, str) for item in value) else UNKNOWN


def _attribute_keys(tree: Tree, module: Module, owner: ast.Name, name: str) -> Any:
    """The keys of a class attribute, if nothing in the class's module adds to it."""
    found = tree.resolve_class(module, owner)
    if found is None or _is_extended(found[0], name):
        return UNKNOWN
    for statement in found[1].body:
        match statement:
            case (
                ast.Assign(targets=[ast.Name(id=bound)], value=ast.Dict() as value)
                | ast.AnnAssign(target=ast.Name(id=bound), value=ast.Dict() as value)
            ) if bound == name:
                return keys_of(tree, found[0], value)
    return UNKNOWN


def _is_extended(module: Module, name: str) -> bool:
    """Whether a module sets items of an attribute, as decorators that register things do."""
    for statement in module.symbols.values():
        for node in ast.walk(statement):
            match node:
                case ast.Assign(targets=[ast.Subscript(value=ast.Attribute(attr=attr))]) if attr == name:
                    return True
                case ast.Call(func=ast.Attribute(value=ast.Attribute(attr=attr), attr="update" | "setdefault")):
                    if attr == name:
                        return True
    return False
