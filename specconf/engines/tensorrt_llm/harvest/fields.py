"""The fields of one configuration class, inherited ones included: pydantic models and dataclasses.

A field here is syntax: its annotation, its default, and the keywords of its `Field(...)` call. What they mean is read in
`annotations` and `attributes`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, TypeAlias

from msgspec import Struct

from specconf.engines.tensorrt_llm.harvest.source import Module, Tree, last_name

ClassAt: TypeAlias = tuple[Module, ast.ClassDef]
UnknownMember: TypeAlias = Literal["rejects", "drops", "passes_on", "unknown"]

_CALLS = ("Field", "PydanticField", "field")
_EXTRA: Mapping[str, UnknownMember] = {"forbid": "rejects", "ignore": "drops", "allow": "passes_on"}


class Field(Struct, frozen=True, eq=False):
    """One field as it is declared: `default` is None where a value must be given, or a factory gives it."""

    name: str
    annotation: ast.expr
    default: ast.expr | None
    keywords: Mapping[str, ast.expr]
    module: Module
    line: int


def lineage(tree: Tree, module: Module, node: ast.ClassDef) -> list[ClassAt]:
    """A class and its bases, nearest first; bases outside the archive are left out."""
    found: list[ClassAt] = [(module, node)]
    for base in node.bases:
        above = tree.resolve_class(module, base)
        if above is not None and above[1] is not node:
            found += [entry for entry in lineage(tree, *above) if all(entry[1] is not seen[1] for seen in found)]
    return found


def is_model(tree: Tree, module: Module, node: ast.ClassDef) -> bool:
    """Whether a class holds configuration: a pydantic model or a dataclass."""
    return is_dataclass(node) or any(
        last_name(base).endswith("BaseModel") for _, above in lineage(tree, module, node) for base in above.bases
    )


def is_dataclass(node: ast.ClassDef) -> bool:
    """Whether a class is made by the `dataclass` decorator."""
    return any(
        last_name(each.func if isinstance(each, ast.Call) else each) == "dataclass" for each in node.decorator_list
    )


def fields_of(tree: Tree, module: Module, node: ast.ClassDef) -> list[Field]:
    """The fields of a class; the nearest declaration of a name counts."""
    found: dict[str, Field] = {}
    for at, above in lineage(tree, module, node):
        for field in _declared(at, above):
            found.setdefault(field.name, field)
    return list(found.values())


def _declared(module: Module, node: ast.ClassDef) -> Iterator[Field]:
    for statement in node.body:
        match statement:
            case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation, value=value):
                if name.startswith("_") or name == "model_config" or is_class_variable(annotation):
                    continue
                default, keywords = _call(value)
                inner, extra = _annotated(annotation)
                yield Field(name, inner, default, {**extra, **keywords}, module, statement.lineno)


def is_class_variable(annotation: ast.expr) -> bool:
    """Whether an annotation says that the name is no field."""
    return last_name(annotation.value if isinstance(annotation, ast.Subscript) else annotation) == "ClassVar"


def _call(value: ast.expr | None) -> tuple[ast.expr | None, dict[str, ast.expr]]:
    """The default of a field, and the keywords of the call that declares it."""
    if not (isinstance(value, ast.Call) and last_name(value.func) in _CALLS):
        return value, {}
    keywords = {keyword.arg: keyword.value for keyword in value.keywords if keyword.arg}
    default = value.args[0] if value.args else keywords.pop("default", None)
    missing = isinstance(default, ast.Constant) and default.value is Ellipsis
    return (None if missing else default), keywords


def _annotated(annotation: ast.expr) -> tuple[ast.expr, dict[str, ast.expr]]:
    """`Annotated[T, Field(ge=1)]` as T and the keywords."""
    match annotation:
        case ast.Subscript(value=head, slice=ast.Tuple(elts=[inner, *extra])) if last_name(head) == "Annotated":
            keywords: dict[str, ast.expr] = {}
            for each in extra:
                keywords |= _call(each)[1]
            return inner, keywords
    return annotation, {}


def tag_literal(tree: Tree, at: ClassAt, name: str) -> tuple[list[str], int] | None:
    """The values and the line of a class's own tag: `name: Literal["MTP"]`, or `name: ClassVar[str] = "MTP"`."""
    for module, above in lineage(tree, *at):
        for statement in above.body:
            match statement:
                case ast.AnnAssign(target=ast.Name(id=bound), annotation=annotation, value=value) if bound == name:
                    texts = _texts(annotation, value)
                    if not texts:
                        tree.note(f"{module.file}:{statement.lineno}: the tag {name} of {at[1].name} is no literal")
                    return (texts, statement.lineno) if texts else None
    return None


def _texts(annotation: ast.expr, value: ast.expr | None) -> list[str]:
    match annotation, value:
        case ast.Subscript(value=head, slice=ast.Tuple(elts=items)), _ if last_name(head) == "Literal":
            return [str(item.value) for item in items if isinstance(item, ast.Constant)]
        case ast.Subscript(value=head, slice=ast.Constant(value=str(text))), _ if last_name(head) == "Literal":
            return [text]
        case _, ast.Constant(value=str(text)) if is_class_variable(annotation):
            return [text]
    return []


def tag_names(node: ast.ClassDef) -> list[str]:
    """The names of a class's own fields that could be a tag."""
    return [
        statement.target.id
        for statement in node.body
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name)
        if _texts(statement.annotation, statement.value) and not statement.target.id.startswith("_")
    ]


def unknown_member(tree: Tree, at: ClassAt) -> UnknownMember:
    """What a class does with a member that it does not know."""
    chain = lineage(tree, *at)
    for _, above in chain:
        extra = _extra(above)
        if extra is not None:
            return extra
    if is_dataclass(at[1]):
        return "rejects" if _passes_all(at[1]) else "unknown"
    bases = [base for _, above in chain for base in above.bases]
    if any(last_name(base) == "StrictBaseModel" and tree.resolve_class(at[0], base) is None for base in bases):
        return "rejects"
    return "drops" if any(last_name(base) == "BaseModel" for base in bases) else "unknown"


def _extra(node: ast.ClassDef) -> UnknownMember | None:
    """`extra=` of a class's own configuration, in the three ways of writing it."""
    pairs: list[tuple[str, ast.expr]] = [(keyword.arg, keyword.value) for keyword in node.keywords if keyword.arg]
    for statement in node.body:
        match statement:
            case (
                ast.Assign(targets=[ast.Name(id="model_config")], value=value)
                | ast.AnnAssign(target=ast.Name(id="model_config"), value=value)
            ):
                pairs += configuration(value)
            case ast.ClassDef(name="Config", body=body):
                pairs += [
                    (target.id, inner.value)
                    for inner in body
                    if isinstance(inner, ast.Assign)
                    for target in inner.targets
                    if isinstance(target, ast.Name)
                ]
    written = next((value for name, value in pairs if name == "extra"), None)
    if written is None:
        return None
    return _EXTRA.get(str(written.value) if isinstance(written, ast.Constant) else last_name(written), "unknown")


def configuration(value: ast.expr | None) -> Sequence[tuple[str, ast.expr]]:
    """The pairs of `{"extra": "forbid"}` or `ConfigDict(extra="forbid")`."""
    match value:
        case ast.Call(keywords=keywords):
            return [(keyword.arg, keyword.value) for keyword in keywords if keyword.arg]
        case ast.Dict(keys=keys, values=values):
            return [
                (key.value, item)
                for key, item in zip(keys, values, strict=True)
                if isinstance(key, ast.Constant) and isinstance(key.value, str)
            ]
    return ()


def _passes_all(node: ast.ClassDef) -> bool:
    """Whether a dataclass's `from_dict` hands every key to the constructor, which refuses those that it lacks."""
    for statement in node.body:
        if isinstance(statement, ast.FunctionDef) and statement.name == "from_dict":
            match statement.body[-1]:
                case ast.Return(value=ast.Call(func=ast.Name(id="cls"), args=[], keywords=[ast.keyword(arg=None)])):
                    return True
    return False
