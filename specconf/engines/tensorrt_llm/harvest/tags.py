"""Which class reads a mapping whose members depend on a tag: by a discriminated union, by tags on the classes, or by
the table of a `from_dict`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from msgspec import Struct

from specconf.engines.tensorrt_llm.harvest.annotations import Shape
from specconf.engines.tensorrt_llm.harvest.fields import ClassAt, lineage, tag_literal, tag_names
from specconf.engines.tensorrt_llm.harvest.source import Module, Tree, last_name


class Tagged(Struct, frozen=True, eq=False):
    """The classes by tag: the tag's name, whether a file writes it and must, and where each tag is declared."""

    name: str
    written: bool
    required: bool
    classes: Mapping[str, ClassAt]
    places: Mapping[str, tuple[str, int]]


class Alias(Struct, frozen=True):
    """A tag that is read as another one, in some launches at least."""

    value: str
    key: str
    file: str
    line: int


def tagged(tree: Tree, shape: Shape) -> Tagged | None:
    """The tags of a field's classes; None if it holds one class without tags, or if the tags cannot be told."""
    if len(shape.classes) < 2 or not shape.discriminator:
        for at in shape.classes:
            found = _dispatched(tree, at)
            if found is not None:
                return found
    if len(shape.classes) < 2:
        return None
    names = [shape.discriminator] if shape.discriminator else _common_names(tree, shape)
    for name in names:
        tags = [tag_literal(tree, at, name) for at in shape.classes]
        if all(tags):
            classes = {text: at for at, tag in zip(shape.classes, tags, strict=True) if tag for text in tag[0]}
            places = {
                text: (at[0].file, tag[1])
                for at, tag in zip(shape.classes, tags, strict=True)
                if tag
                for text in tag[0]
            }
            return Tagged(name, _is_field(tree, shape.classes[0], name), bool(shape.discriminator), classes, places)
    return None


def _common_names(tree: Tree, shape: Shape) -> list[str]:
    """Names that could be the tag: literals in every class."""
    sets = [[name for _, above in lineage(tree, *at) for name in tag_names(above)] for at in shape.classes]
    return [name for name in dict.fromkeys(sets[0]) if all(name in others for others in sets[1:])]


def _is_field(tree: Tree, at: ClassAt, name: str) -> bool:
    """Whether the tag is a field that a file writes: a class variable is not."""
    for _, above in lineage(tree, *at):
        for statement in above.body:
            match statement:
                case ast.AnnAssign(target=ast.Name(id=bound), annotation=annotation) if bound == name:
                    return (
                        last_name(annotation.value if isinstance(annotation, ast.Subscript) else annotation)
                        == "Literal"
                    )
    return False


def _dispatched(tree: Tree, at: ClassAt) -> Tagged | None:
    """The table of the nearest `from_dict` above a class that has one."""
    for module, above in lineage(tree, *at):
        for function in above.body:
            if isinstance(function, ast.FunctionDef) and function.name == "from_dict":
                table, name = _table(tree, module, function), _asked(function)
                if table and name:
                    classes = {tag: found for tag, (found, _) in table.items()}
                    return Tagged(
                        name, True, True, classes, {tag: (module.file, line) for tag, (_, line) in table.items()}
                    )
    return None


def _table(tree: Tree, module: Module, function: ast.FunctionDef) -> dict[str, tuple[ClassAt, int]]:
    """The first mapping from tags to classes in a function."""
    for node in ast.walk(function):
        if isinstance(node, ast.Dict) and node.keys:
            found: dict[str, tuple[ClassAt, int]] = {}
            for key, value in zip(node.keys, node.values, strict=True):
                at = tree.resolve_class(module, value)
                if isinstance(key, ast.Constant) and at is not None:
                    found[str(key.value)] = (at, key.lineno)
            if len(found) == len(node.keys):
                return found
    return {}


def _asked(function: ast.FunctionDef) -> str:
    """The first key that a function asks its mapping for."""
    for node in ast.walk(function):
        match node:
            case ast.Call(func=ast.Attribute(attr="get" | "pop"), args=[ast.Constant(value=str(name)), *_]):
                return name
            case ast.Subscript(slice=ast.Constant(value=str(name))):
                return name
    return ""


def aliases(tree: Tree, module: Module, found: Tagged) -> Iterator[Alias]:
    """Branches `if tag == "A"` that make the class of tag B, or put B in its place."""
    names = {id(at[1]): tag for tag, at in found.classes.items()}
    seen: set[tuple[str, str]] = set()
    for statement in dict.fromkeys(module.symbols.values()):
        for node in ast.walk(statement):
            if not isinstance(node, ast.If):
                continue
            tag = next((text for text in _compared(node.test) if text in found.classes), "")
            for other in _made(tree, module, node, names) if tag else ():
                if other != tag and other in found.classes and (tag, other) not in seen:
                    seen.add((tag, other))
                    yield Alias(tag, other, module.file, node.lineno)


def _compared(test: ast.expr) -> Iterator[str]:
    for node in ast.walk(test):
        match node:
            case ast.Compare(ops=[ast.Eq()], comparators=[ast.Constant(value=str(text))]):
                yield text


def _made(tree: Tree, module: Module, node: ast.If, names: Mapping[int, str]) -> Iterator[str]:
    for statement in node.body:
        for inner in ast.walk(statement):
            match inner:
                case ast.Call(func=ast.Name() as callee):
                    at = tree.resolve_class(module, callee)
                    if at is not None and id(at[1]) in names:
                        yield names[id(at[1])]
                case ast.Assign(targets=[ast.Subscript()], value=ast.Constant(value=str(text))):
                    yield text
