"""Type annotations as the engine's own `get_kwargs` sees them: the flat set of alternatives of one field."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from msgspec import Struct

from specconf.engines.vllm.harvest.source import Found, Module
from specconf.engines.vllm.harvest.symbols import ClassRef, Value
from specconf.engines.vllm.harvest.values import Evaluator

_PLAIN = ("bool", "int", "float", "str", "dict", "list", "set", "tuple")
_CONTAINERS = {"List": "list", "Set": "set", "Tuple": "tuple", "Dict": "dict"}
_TRANSPARENT = ("Annotated", "SkipValidation", "Final", "InitVar", "Required")
_DATACLASS_DECORATORS = ("dataclass", "config")


class Hint(Struct, frozen=True):
    """One alternative of an annotation.

    `kind` is a builtin's name, `none`, `literal`, `dataclass`, or `class` for anything else; `values` are a literal's,
    `items` the element types of a container, `open_ended` marks `tuple[X, ...]`, and `generic` a type of `typing`,
    which the engine does not take for a builtin.
    """

    kind: str
    name: str = ""
    values: tuple[Value, ...] = ()
    items: tuple[tuple[Hint, ...], ...] = ()
    open_ended: bool = False
    generic: bool = False


def read_hints(evaluator: Evaluator, node: ast.expr, module: Module) -> tuple[Hint, ...]:
    """The alternatives of an annotation, aliases followed, `Optional`, `Union` and `|` flattened."""
    if isinstance(node, ast.Constant):
        if isinstance(node.value, str):
            return read_hints(evaluator, ast.parse(node.value, mode="eval").body, module)
        return (Hint("none"),) if node.value is None else (Hint("class", str(node.value)),)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return _flat(read_hints(evaluator, side, module) for side in (node.left, node.right))
    if isinstance(node, ast.Subscript):
        return _subscript(evaluator, node, module)
    if isinstance(node, ast.Name | ast.Attribute):
        return _named(evaluator, node, module)
    return (Hint("class", ast.unparse(node)),)


def kinds(hints: tuple[Hint, ...]) -> set[str]:
    """The kinds among some alternatives."""
    return {hint.kind for hint in hints}


def _flat(groups: Iterable[tuple[Hint, ...]]) -> tuple[Hint, ...]:
    found: list[Hint] = []
    for group in groups:
        found.extend(hint for hint in group if hint not in found)
    return tuple(found)


def _subscript(evaluator: Evaluator, node: ast.Subscript, module: Module) -> tuple[Hint, ...]:
    written = ast.unparse(node.value).rpartition(".")[2]
    elements = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if written == "Literal":
        return (Hint("literal", values=tuple(evaluator.literal_values(node, module))),)
    if written in _TRANSPARENT:
        return read_hints(evaluator, elements[0], module)
    if written in ("Optional", "Union"):
        found = _flat(read_hints(evaluator, element, module) for element in elements)
        return (*found, Hint("none")) if written == "Optional" and Hint("none") not in found else found
    kind = _CONTAINERS.get(written, written)
    if kind in _PLAIN:
        open_ended = any(isinstance(element, ast.Constant) and element.value is Ellipsis for element in elements)
        items = tuple(
            read_hints(evaluator, element, module)
            for element in elements
            if not (isinstance(element, ast.Constant) and element.value is Ellipsis)
        )
        return (Hint(kind, items=items, open_ended=open_ended, generic=written in _CONTAINERS),)
    return (Hint("class", ast.unparse(node)),)


def _named(evaluator: Evaluator, node: ast.Name | ast.Attribute, module: Module) -> tuple[Hint, ...]:
    name = ast.unparse(node)
    if name in _PLAIN:
        return (Hint(name),)
    if name in _CONTAINERS:
        return (Hint(_CONTAINERS[name], generic=True),)
    found = _definition(evaluator, node, module)
    if not isinstance(found, Found):
        return (Hint("class", name),)
    if isinstance(found.node, ast.ClassDef):
        return (_class_hint(evaluator, ClassRef(found.module, found.node)),)
    if isinstance(found.node, ast.expr) and not isinstance(found.node, ast.Call):
        return read_hints(evaluator, found.node, found.module)
    return (Hint("class", name),)


def _definition(evaluator: Evaluator, node: ast.Name | ast.Attribute, module: Module) -> Found | Module | None:
    if isinstance(node, ast.Name):
        return evaluator.tree.resolve(module, node.id)
    if isinstance(node.value, ast.Name | ast.Attribute):
        owner = _definition(evaluator, node.value, module)
        if isinstance(owner, Module):
            return evaluator.tree.resolve(owner, node.attr)
    return None


def _class_hint(evaluator: Evaluator, owner: ClassRef) -> Hint:
    for cls in evaluator.bases(owner):
        decorators = [item.func if isinstance(item, ast.Call) else item for item in cls.node.decorator_list]
        if any(ast.unparse(item).rpartition(".")[2] in _DATACLASS_DECORATORS for item in decorators):
            return Hint("dataclass", owner.node.name)
        if any(ast.unparse(base).partition("[")[0] == "dict" for base in cls.node.bases):
            return Hint("dict", owner.node.name, generic=True)
    return Hint("class", owner.node.name)
