"""What an annotation says of a field: its type, choices and bounds, whether None is legal, and which classes it may hold."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from specconf.engines.tensorrt_llm.harvest.fields import ClassAt, is_model
from specconf.engines.tensorrt_llm.harvest.source import Module, Tree, last_name
from specconf.engines.tensorrt_llm.harvest.values import UNKNOWN, enum_members, is_enum, is_text_enum, value_of

_SCALARS = {"str": "str", "int": "int", "float": "float", "bool": "bool", "Path": "str", "PathLike": "str"}
_CONTAINERS = frozenset(
    {"dict", "list", "set", "tuple", "frozenset", "Dict", "List", "Set", "Tuple", "FrozenSet"}
    | {"Sequence", "Mapping", "Iterable", "defaultdict"}
)
_OPEN = frozenset({"Any", "object", "Callable", "Type", "type"})  # Python objects: nothing that a file can hold
_LIMITED: Mapping[str, tuple[str, dict[str, Any]]] = {
    "PositiveInt": ("int", {"gt": 0}),
    "NonNegativeInt": ("int", {"ge": 0}),
    "NegativeInt": ("int", {"lt": 0}),
    "NonPositiveInt": ("int", {"le": 0}),
    "PositiveFloat": ("float", {"gt": 0}),
    "NonNegativeFloat": ("float", {"ge": 0}),
    "StrictInt": ("int", {}),
    "StrictStr": ("str", {}),
    "StrictBool": ("bool", {}),
}
_LIMITING = {"conint": "int", "confloat": "float"}
LIMITS = ("gt", "ge", "lt", "le")
_DEPTH = 12


class Shape(Struct, frozen=True):
    """What a field may hold. `type` is empty when it is not one type that a file can write."""

    type: str = ""
    nullable: bool = False
    choices: tuple[Any, ...] | None = None
    bounds: Mapping[str, Any] = field(default_factory=dict)
    classes: tuple[ClassAt, ...] = ()
    discriminator: str = ""


_NOTHING = Shape()


def shape_of(tree: Tree, module: Module, node: ast.expr, depth: int = 0) -> Shape:
    """The shape that an annotation describes."""
    if depth > _DEPTH:
        return _NOTHING
    match node:
        case ast.Constant(value=None):
            return Shape(nullable=True)
        case ast.Constant(value=str(text)):
            return _forward(tree, module, text, depth)
        case ast.BinOp(op=ast.BitOr(), left=left, right=right):
            return _union(tree, module, [left, right], depth)
        case ast.Subscript(value=head, slice=inner):
            return _subscript(tree, module, last_name(head), inner, depth)
        case ast.Call(func=func, keywords=keywords) if last_name(func) in _LIMITING:
            given = {keyword.arg: keyword.value for keyword in keywords if keyword.arg}
            return Shape(_LIMITING[last_name(func)], bounds=limits(tree, module, given))
        case ast.Name() | ast.Attribute():
            return _name(tree, module, node, depth)
    return _NOTHING


def _forward(tree: Tree, module: Module, text: str, depth: int) -> Shape:
    try:
        return shape_of(tree, module, ast.parse(text, mode="eval").body, depth + 1)
    except SyntaxError:
        return _NOTHING


def _name(tree: Tree, module: Module, node: ast.expr, depth: int) -> Shape:
    name = last_name(node)
    if name in _SCALARS:
        return Shape(_SCALARS[name])
    if name in _LIMITED:
        kind, bounds = _LIMITED[name]
        return Shape(kind, bounds=bounds)
    if name in _CONTAINERS:
        return Shape("json")
    found = tree.resolve(module, name) if isinstance(node, ast.Name) else None
    if found is None:
        if name not in _OPEN:
            tree.note(f"{module.file}: {name} is not defined in these sources: fields of this type have none")
        return _NOTHING
    match found.node:
        case ast.ClassDef() as bound if is_enum(bound):
            return _enum(tree, found.module, bound)
        case ast.ClassDef() as bound:
            return Shape("json", classes=((found.module, bound),)) if is_model(tree, found.module, bound) else _NOTHING
        case ast.Assign(value=value) | ast.AnnAssign(value=ast.expr() as value):
            return shape_of(tree, found.module, value, depth + 1)
    return _NOTHING


def _enum(tree: Tree, module: Module, node: ast.ClassDef) -> Shape:
    members = enum_members(node) or {}
    values = tuple(members.values())
    if not is_text_enum(node) or UNKNOWN in values:
        tree.note(f"{module.file}:{node.lineno}: the values of {node.name} are not all strings that are written down")
        return _NOTHING
    return Shape("str", choices=values)


def _subscript(tree: Tree, module: Module, head: str, inner: ast.expr, depth: int) -> Shape:
    items = inner.elts if isinstance(inner, ast.Tuple) else [inner]
    match head:
        case "Optional":
            return replace(shape_of(tree, module, inner, depth + 1), nullable=True)
        case "Union":
            return _union(tree, module, items, depth)
        case "Literal":
            return _literal(tree, module, items)
        case "Annotated":
            return _annotated(tree, module, items, depth)
    return Shape("json") if head in _CONTAINERS else _NOTHING


def _literal(tree: Tree, module: Module, items: list[ast.expr]) -> Shape:
    values = [value_of(tree, module, item) for item in items]
    if UNKNOWN in values:
        return _NOTHING
    written = tuple(value for value in values if value is not None)
    kinds = {type(value).__name__ for value in written}
    return Shape(kinds.pop() if len(kinds) == 1 else "", None in values, written or None)


def _annotated(tree: Tree, module: Module, items: list[ast.expr], depth: int) -> Shape:
    shape = shape_of(tree, module, items[0], depth + 1)
    for extra in items[1:]:
        if isinstance(extra, ast.Call):
            shape = constrained(
                tree, module, shape, {keyword.arg: keyword.value for keyword in extra.keywords if keyword.arg}
            )
    return shape


def constrained(tree: Tree, module: Module, shape: Shape, keywords: Mapping[str, ast.expr]) -> Shape:
    """A shape with what the keywords of a `Field(...)` add to it."""
    tag = keywords.get("discriminator")
    name = tag.value if isinstance(tag, ast.Constant) and isinstance(tag.value, str) else shape.discriminator
    return replace(shape, bounds={**shape.bounds, **limits(tree, module, keywords)}, discriminator=name)


def limits(tree: Tree, module: Module, keywords: Mapping[str, ast.expr]) -> dict[str, Any]:
    """The bounds among the keywords of a call."""
    found = {name: value_of(tree, module, keywords[name]) for name in LIMITS if name in keywords}
    return {name: value for name, value in found.items() if isinstance(value, int | float)}


def _union(tree: Tree, module: Module, items: list[ast.expr], depth: int) -> Shape:
    """Several shapes as one: what only one alternative says does not hold of the whole."""
    shapes = [shape_of(tree, module, item, depth + 1) for item in items]
    nullable = any(shape.nullable for shape in shapes)
    present = [shape for shape in shapes if replace(shape, nullable=False) != _NOTHING or not shape.nullable]
    if len(present) == 1:
        return replace(present[0], nullable=nullable)
    kinds = {shape.type for shape in present}
    kind = kinds.pop() if len(kinds) == 1 else "float" if kinds == {"int", "float"} else ""
    chosen = [shape.choices for shape in present]
    return Shape(
        kind,
        nullable,
        tuple(dict.fromkeys(value for each in chosen for value in each or ())) if all(chosen) and kind else None,
        present[0].bounds if present and all(shape.bounds == present[0].bounds for shape in present) else {},
        tuple(dict.fromkeys(each for shape in present for each in shape.classes)),
        next((shape.discriminator for shape in present if shape.discriminator), ""),
    )
