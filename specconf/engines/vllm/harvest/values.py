"""Static values of expressions: literals, names followed through imports, class attributes, enum members, fields.

What cannot be known without running the engine becomes an `Unknown` that keeps its source text.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

from specconf.engines.vllm.harvest.source import Found, Module, Tree
from specconf.engines.vllm.harvest.symbols import (
    MISSING,
    STANDARD,
    ClassRef,
    Field,
    Member,
    Scope,
    Unknown,
    Value,
    contains_unknown,
)

_MAX_DEPTH = 40
_ENUM_BASES = ("Enum", "IntEnum", "StrEnum")
_FIELD_CALLS = ("field", "Field", "PydanticField")
_BOUNDS = ("gt", "ge", "lt", "le")

_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Pow: operator.pow,
    ast.LShift: operator.lshift,
}


class Evaluator:
    """Evaluates expressions of one release's tree."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self._depth = 0

    def evaluate(self, node: ast.expr, scope: Scope) -> Value:
        """The value of an expression, or an `Unknown` with its source text."""
        if self._depth > _MAX_DEPTH:
            return Unknown(ast.unparse(node))
        self._depth += 1
        try:
            value = self._known(node, scope)
        finally:
            self._depth -= 1
        return Unknown(ast.unparse(node)) if value is MISSING else value

    def _known(self, node: ast.expr, scope: Scope) -> Value:
        handler = _HANDLERS.get(type(node))
        return handler(self, node, scope) if handler else MISSING

    def constant(self, node: ast.Constant, _: Scope) -> Value:
        return MISSING if node.value is Ellipsis else node.value

    def sequence(self, node: ast.List | ast.Tuple | ast.Set, scope: Scope) -> Value:
        items: list[Value] = []
        for element in node.elts:
            if isinstance(element, ast.Starred):
                inner = self.evaluate(element.value, scope)
                if not isinstance(inner, list | tuple | dict | set):
                    return MISSING
                items.extend(inner)
            else:
                items.append(self.evaluate(element, scope))
        return set(items) if isinstance(node, ast.Set) else items

    def mapping(self, node: ast.Dict, scope: Scope) -> Value:
        found: dict[Value, Value] = {}
        for key, value in zip(node.keys, node.values, strict=True):
            result = self.evaluate(value, scope)
            if key is not None:
                name = self.evaluate(key, scope)
                try:
                    found[name] = result
                except TypeError:
                    return MISSING
            elif isinstance(result, dict):
                found.update(result)
            else:
                return MISSING
        return found

    def unary(self, node: ast.UnaryOp, scope: Scope) -> Value:
        operand = self.evaluate(node.operand, scope)
        if contains_unknown(operand):
            return MISSING
        if isinstance(node.op, ast.Not):
            return not operand
        return -operand if isinstance(node.op, ast.USub) else MISSING

    def binary(self, node: ast.BinOp, scope: Scope) -> Value:
        left, right = self.evaluate(node.left, scope), self.evaluate(node.right, scope)
        apply = _BINARY.get(type(node.op))
        if apply is None or contains_unknown(left) or contains_unknown(right):
            return MISSING
        try:
            return apply(left, right)
        except TypeError:
            return MISSING

    def compare(self, node: ast.Compare, scope: Scope) -> Value:
        if len(node.ops) != 1:
            return MISSING
        left, right = self.evaluate(node.left, scope), self.evaluate(node.comparators[0], scope)
        if isinstance(node.ops[0], ast.In | ast.NotIn) and isinstance(right, dict | list | tuple | set):
            return (left in right) == isinstance(node.ops[0], ast.In)
        return MISSING

    def joined(self, node: ast.JoinedStr, scope: Scope) -> Value:
        parts = []
        for piece in node.values:
            inner = piece.value if isinstance(piece, ast.FormattedValue) else piece
            value = self.evaluate(inner, scope)
            if not isinstance(value, str):
                return MISSING
            parts.append(value)
        return "".join(parts)

    def name(self, node: ast.Name, scope: Scope) -> Value:
        if node.id in scope.names:
            return scope.names[node.id]
        return self.symbol(scope.module, node.id)

    def attribute(self, node: ast.Attribute, scope: Scope) -> Value:
        text = ast.unparse(node)
        if text in STANDARD:
            return STANDARD[text]
        owner = self.evaluate(node.value, scope)
        if isinstance(owner, Module):
            return self.symbol(owner, node.attr)
        if isinstance(owner, Member) and node.attr in ("value", "name"):
            return owner.value if node.attr == "value" else owner.name
        if isinstance(owner, ClassRef):
            return self.class_attribute(owner, node.attr)
        return MISSING

    def subscript(self, node: ast.Subscript, scope: Scope) -> Value:
        owner = self.evaluate(node.value, scope)
        index = self.evaluate(node.slice, scope)
        if isinstance(owner, dict):
            return owner.get(index, MISSING)
        return MISSING

    def comprehension(self, node: ast.ListComp, scope: Scope) -> Value:
        """`[member.value for member in Enum]` and its like over known lists."""
        generator = node.generators[0]
        if len(node.generators) != 1 or generator.ifs or not isinstance(generator.target, ast.Name):
            return MISSING
        source = self.evaluate(generator.iter, scope)
        items = self.members(source) if isinstance(source, ClassRef) else source
        if not isinstance(items, list | tuple | dict):
            return MISSING
        return [
            self.evaluate(node.elt, Scope(scope.module, {**scope.names, generator.target.id: item})) for item in items
        ]

    def call(self, node: ast.Call, scope: Scope) -> Value:
        function = ast.unparse(node.func)
        tail = function.rpartition(".")[2]
        if tail in _FIELD_CALLS:
            return self._field_default(node, scope)
        if tail == "get_field" and len(node.args) == 2:
            owner, name = (self.evaluate(argument, scope) for argument in node.args)
            return self.class_attribute(owner, name) if isinstance(owner, ClassRef) else MISSING
        if tail == "cast" and len(node.args) == 2:
            return self.evaluate(node.args[1], scope)
        if tail == "get_args" and len(node.args) == 1:
            return self._literal_arguments(node.args[0], scope)
        if isinstance(node.func, ast.Attribute):
            return self._method(node.func, node.args, scope)
        if function in ("list", "sorted", "int", "tuple", "set", "frozenset", "dict") and not node.keywords:
            return self._conversion(function, node.args, scope)
        return MISSING

    def symbol(self, module: Module, name: str) -> Value:
        """The value of a module-level name."""
        found = self.tree.resolve(module, name)
        if isinstance(found, Module):
            return found
        if found is None:
            return MISSING
        if isinstance(found.node, ast.ClassDef):
            return ClassRef(found.module, found.node)
        if isinstance(found.node, ast.FunctionDef):
            return found
        value = self.evaluate(found.node, Scope(found.module, {}))
        return MISSING if isinstance(value, Unknown) else value

    def bases(self, owner: ClassRef) -> list[ClassRef]:
        """The class and its bases in the tree, nearest first."""
        found = [owner]
        for base in owner.node.bases:
            value = self.evaluate(base, Scope(owner.module, {}))
            if isinstance(value, ClassRef):
                found.extend(self.bases(value))
        return found

    def is_enum(self, owner: ClassRef) -> bool:
        """Whether a class is an enumeration."""
        names = [ast.unparse(base).rpartition(".")[2] for cls in self.bases(owner) for base in cls.node.bases]
        return any(name in _ENUM_BASES for name in names)

    def members(self, owner: ClassRef) -> list[Member]:
        """An enum's members in the order of their definition."""
        found = []
        for node in owner.node.body:
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                value = self.evaluate(node.value, Scope(owner.module, {}))
                found.append(Member(owner.node.name, node.targets[0].id, value))
        return found

    def fields(self, owner: ClassRef) -> dict[str, Field]:
        """The annotated fields of a class, those of its bases first, as `dataclasses.fields` orders them."""
        found: dict[str, Field] = {}
        for cls in reversed(self.bases(owner)):
            body = cls.node.body
            for position, node in enumerate(body):
                if not isinstance(node, ast.AnnAssign) or not isinstance(node.target, ast.Name):
                    continue
                if "ClassVar" in ast.unparse(node.annotation):
                    continue
                doc = _docstring(body[position + 1]) if position + 1 < len(body) else ""
                name = node.target.id
                found[name] = Field(name, node.annotation, node.value, doc, cls.module, node.lineno)
        return found

    def default(self, field: Field) -> Value:
        """A field's default; `MISSING` if it has none."""
        return MISSING if field.default is None else self.evaluate(field.default, Scope(field.module, {}))

    def bounds(self, field: Field) -> dict[str, Value]:
        """The numeric limits that a field's declaration states."""
        node = field.default
        if not isinstance(node, ast.Call) or ast.unparse(node.func).rpartition(".")[2] not in _FIELD_CALLS:
            return {}
        limits = {
            keyword.arg: self.evaluate(keyword.value, Scope(field.module, {}))
            for keyword in node.keywords
            if keyword.arg in _BOUNDS
        }
        return {str(name): value for name, value in limits.items() if not contains_unknown(value)}

    def class_attribute(self, owner: ClassRef, name: str) -> Value:
        """`Class.name`: an enum member, a field's default, a method or a plain class attribute."""
        if self.is_enum(owner):
            return next((member for member in self.members(owner) if member.name == name), MISSING)
        fields = self.fields(owner)
        if name in fields:
            return self.default(fields[name])
        for cls in self.bases(owner):
            for node in cls.node.body:
                if isinstance(node, ast.FunctionDef) and node.name == name:
                    return Found(cls.module, node)
                if isinstance(node, ast.Assign) and any(ast.unparse(target) == name for target in node.targets):
                    return self.evaluate(node.value, Scope(cls.module, {}))
        return MISSING

    def _field_default(self, node: ast.Call, scope: Scope) -> Value:
        given = {keyword.arg: keyword.value for keyword in node.keywords}
        if "default" in given:
            return self.evaluate(given["default"], scope)
        if node.args:
            return self.evaluate(node.args[0], scope)
        if "default_factory" not in given:
            return MISSING
        return self._made(given["default_factory"], scope)

    def _made(self, factory: ast.expr, scope: Scope) -> Value:
        """What a default factory returns: an empty container, a lambda's body, or unknown."""
        if isinstance(factory, ast.Lambda):
            return self.evaluate(factory.body, scope)
        if isinstance(factory, ast.Name) and factory.id in ("list", "dict", "set"):
            return {"list": [], "dict": {}, "set": []}[factory.id]
        made = self.evaluate(factory, scope)
        if isinstance(made, ClassRef) and any(ast.unparse(base).startswith("dict") for base in made.node.bases):
            return {}
        return Unknown(f"{ast.unparse(factory)}()")

    def literal_values(self, node: ast.expr, module: Module) -> list[Value]:
        """The values of a `Literal[...]`, of an alias of one, or of a Literal that holds further ones; else none."""
        if isinstance(node, ast.Name):
            found = self.tree.resolve(module, node.id)
            if isinstance(found, Found) and isinstance(found.node, ast.expr):
                return self.literal_values(found.node, found.module)
            return []
        if not isinstance(node, ast.Subscript) or ast.unparse(node.value).rpartition(".")[2] != "Literal":
            return []
        elements = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        values: list[Value] = []
        for element in elements:
            inner = self.literal_values(element, module) or [self.evaluate(element, Scope(module, {}))]
            values.extend(value for value in inner if value not in values)
        return values

    def _literal_arguments(self, node: ast.expr, scope: Scope) -> Value:
        return self.literal_values(node, scope.module) or MISSING

    def _method(self, function: ast.Attribute, arguments: list[ast.expr], scope: Scope) -> Value:
        owner = self.evaluate(function.value, scope)
        given = [self.evaluate(argument, scope) for argument in arguments]
        if isinstance(owner, str) and function.attr in ("replace", "lower", "join"):
            known = not any(contains_unknown(item) for item in given)
            return getattr(owner, function.attr)(*given) if known else MISSING
        if isinstance(owner, dict) and function.attr in ("keys", "values", "items"):
            return list(getattr(owner, function.attr)())
        if isinstance(owner, dict) and function.attr == "pop" and given:
            return owner.pop(given[0], given[1] if len(given) > 1 else MISSING)
        return MISSING

    def _conversion(self, function: str, arguments: list[ast.expr], scope: Scope) -> Value:
        if not arguments:
            return {"list": [], "tuple": [], "set": [], "frozenset": [], "dict": {}}.get(function, MISSING)
        value = self.evaluate(arguments[0], scope)
        if isinstance(value, ClassRef) and self.is_enum(value):
            value = self.members(value)
        if function == "int" and isinstance(value, int | str):
            return int(value)
        if function in ("list", "tuple", "set", "frozenset") and isinstance(value, list | tuple | set | dict):
            return list(value)
        if function == "sorted" and isinstance(value, list | tuple | set | dict) and not contains_unknown(list(value)):
            return sorted(value)
        return MISSING


def _docstring(node: ast.stmt) -> str:
    """The text of a string statement, which the engine takes as the documentation of the field above it."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
        return node.value.value
    return ""


_HANDLERS: dict[type[ast.expr], Callable[[Evaluator, Any, Scope], Value]] = {
    ast.Constant: Evaluator.constant,
    ast.List: Evaluator.sequence,
    ast.Tuple: Evaluator.sequence,
    ast.Set: Evaluator.sequence,
    ast.Dict: Evaluator.mapping,
    ast.UnaryOp: Evaluator.unary,
    ast.BinOp: Evaluator.binary,
    ast.Compare: Evaluator.compare,
    ast.JoinedStr: Evaluator.joined,
    ast.Name: Evaluator.name,
    ast.Attribute: Evaluator.attribute,
    ast.Subscript: Evaluator.subscript,
    ast.ListComp: Evaluator.comprehension,
    ast.Call: Evaluator.call,
}
