"""The columns of an option row that one field of a configuration class gives."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from specconf.engines.tensorrt_llm.harvest.annotations import Shape, constrained, shape_of
from specconf.engines.tensorrt_llm.harvest.fields import ClassAt, Field, configuration, lineage
from specconf.engines.tensorrt_llm.harvest.source import Tree
from specconf.engines.tensorrt_llm.harvest.validators import Validators
from specconf.engines.tensorrt_llm.harvest.values import UNKNOWN, value_of
from specconf.harvest.intervals import Row

_EMPTY = {"dict": dict, "list": list, "set": list}


def field_shape(tree: Tree, field: Field) -> Shape:
    """What a field may hold, by its annotation and the keywords of its declaration."""
    return constrained(tree, field.module, shape_of(tree, field.module, field.annotation), field.keywords)


def attributes(tree: Tree, field: Field, shape: Shape, validators: Validators) -> Row:
    """Kind, type, default and limits of a field: everything but its names and its place."""
    row: Row = {"kind": "object" if shape.classes else "value"}
    if shape.type:
        row["type"] = shape.type
    bounds = {**shape.bounds, **validators.bounds.get(field.name, {})}
    if bounds:
        row["bounds"] = bounds
    parser = validators.parsers.get(field.name)
    if parser:
        row["parser"] = parser
    elif shape.choices is not None:
        row["choices"] = list(shape.choices)
    row |= _default(tree, field)
    if shape.nullable or row.get("default", UNKNOWN) is None:
        row["nullable"] = True
    return row | _standing(field, validators)


def _default(tree: Tree, field: Field) -> Row:
    factory = field.keywords.get("default_factory")
    if field.default is not None:
        value = value_of(tree, field.module, field.default)
        return {"default_expr": ast.unparse(field.default)} if value is UNKNOWN else {"default": value}
    if factory is None:
        return {"required": True}
    if isinstance(factory, ast.Name) and factory.id in _EMPTY:
        return {"default": _EMPTY[factory.id]()}
    if isinstance(factory, ast.Lambda):
        value = value_of(tree, field.module, factory.body)
        return {"default_expr": ast.unparse(factory.body)} if value is UNKNOWN else {"default": value}
    return {"default_expr": f"{ast.unparse(factory)}()"}


def _standing(field: Field, validators: Validators) -> Row:
    """Whether a field is for users: retired ones are deprecated, those that only the engine sets are internal."""
    if "deprecated" in field.keywords or _says(field, "status") == "deprecated" or field.name in validators.retired:
        return {"deprecated": True}
    hidden = _says(field, "init") is False or _says(field, "exclude") is True
    return {"internal": True} if hidden else {}


def _says(field: Field, keyword: str) -> Any:
    value = field.keywords.get(keyword)
    return value.value if isinstance(value, ast.Constant) else None


def names_of(tree: Tree, field: Field, owner: ClassAt) -> list[str]:
    """The keys that write a field, the canonical one first."""
    for keyword in ("validation_alias", "alias"):
        alias = field.keywords.get(keyword)
        if alias is None:
            continue
        names = _aliases(alias)
        if not names:
            tree.note(f"{field.module.file}:{field.line}: the alias of {field.name} is not a literal")
            return [field.name]
        by_name = _accepts_names(tree, owner)
        return list(dict.fromkeys([field.name, *names] if by_name else names))
    return [field.name]


def _aliases(node: ast.expr) -> list[str]:
    match node:
        case ast.Constant(value=str(text)):
            return [text]
        case ast.Call(args=args):
            texts = [arg.value for arg in args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)]
            return texts if len(texts) == len(args) else []
    return []


def _accepts_names(tree: Tree, owner: ClassAt) -> bool:
    """Whether a class reads a field under its own name too when it has an alias."""
    for _, above in lineage(tree, *owner):
        for statement in above.body:
            match statement:
                case ast.Assign(targets=[ast.Name(id="model_config")], value=value):
                    pairs: Mapping[str, ast.expr] = dict(configuration(value))
                    given = pairs.get("populate_by_name", pairs.get("validate_by_name"))
                    if isinstance(given, ast.Constant):
                        return given.value is True
    return False
