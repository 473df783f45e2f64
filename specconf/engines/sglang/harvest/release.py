"""One release's sources as the readers of the declaration styles see them, and what those readers have in common."""

import ast
from collections.abc import Iterator
from typing import Any

from msgspec import Struct, field

from specconf.engines.sglang.harvest.evaluate import ClassIn, Evaluator, Module, NotStatic, Scope, Sources
from specconf.engines.sglang.harvest.model import Computed, Known, Place, Value
from specconf.harvest.archive import Archive

_SERVER_ARGS = "sglang.srt.server_args"


class Field(Struct, frozen=True):
    """One field of the argument record: its annotation and default, and the module they are read in."""

    name: str
    annotation: ast.expr
    default: ast.expr | None
    module: Module
    line: int


class Release(Struct):
    """The sources of one release with what both readers need from them; `unread` collects what was not understood."""

    name: str
    archive: Archive
    evaluator: Evaluator
    module: Module
    owner: ClassIn
    unread: list[str] = field(default_factory=list)

    @classmethod
    def read(cls, archive: Archive, name: str) -> "Release":
        """Open the release's argument module."""
        sources = Sources(archive)
        module = sources.module(_SERVER_ARGS)
        if module is None:
            raise NotStatic(f"{name} has no {_SERVER_ARGS}")
        owner = next(node for node in module.tree.body if isinstance(node, ast.ClassDef) and node.name == "ServerArgs")
        return cls(name, archive, Evaluator(sources), module, ClassIn(module, owner))

    def place(self, module: Module, line: int) -> Place:
        """A place in this release."""
        return Place(self.name, module.file, line)

    def method(self, name: str) -> ast.FunctionDef | None:
        """A method of the argument record."""
        found = (node for node in self.owner.node.body if isinstance(node, ast.FunctionDef) and node.name == name)
        return next(found, None)

    def fields(self) -> dict[str, Field]:
        """Every field of the argument record: its own, then those of the split modules."""
        owners = [self.owner]
        if "_INPUT_NAMESPACES" in self.module.symbols:
            names = self.module.symbols["_INPUT_NAMESPACES"]
            assert isinstance(names, ast.List)
            owners += [self.evaluator.class_of(name, Scope(self.module)) for name in names.elts]
        return {found.name: found for owner in owners for found in _fields_of(owner)}


def _fields_of(owner: ClassIn) -> Iterator[Field]:
    """The annotated fields in a class body."""
    for node in owner.node.body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield Field(node.target.id, node.annotation, node.value, owner.module, node.lineno)


def field_default(release: Release, one: Field) -> Value:
    """The default of a field: its value, the result of its factory, or the source text of either."""
    node = one.default
    if node is None:
        return None
    scope = Scope(one.module)
    if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] == "field":
        words = {keyword.arg: keyword.value for keyword in node.keywords}
        if "default" in words:
            return evaluated(release, words["default"], scope)
        factory = words.get("default_factory")
        match factory:
            case ast.Name(id="list"):
                return Known([])
            case ast.Name(id="dict"):
                return Known({})
            case ast.Lambda(body=body):
                return evaluated(release, body, scope)
            case _:
                return Computed(ast.unparse(factory if factory is not None else node))
    return evaluated(release, node, scope)


def evaluated(release: Release, node: ast.expr, scope: Scope) -> Value:
    """The value of an expression, or its text where it is computed at start."""
    try:
        return Known(release.evaluator.plain(node, scope))
    except NotStatic:
        return Computed(ast.unparse(node))


def choices_of(release: Release, node: ast.expr | None, scope: Scope, names: tuple[str, ...]) -> tuple[Any, ...] | None:
    """The accepted values, or None where any is accepted or the list is not known (then noted as unread)."""
    if node is None or ast.unparse(node) == "None":
        return None
    try:
        return tuple(release.evaluator.plain(node, scope))
    except NotStatic as reason:
        release.unread.append(f"{names[0]} choices: {reason}")
        return None


def optional_of(node: ast.expr) -> ast.expr | None:
    """The inner type of an optional one (`A[...]` is looked through), else None."""
    match node:
        case ast.Subscript(value=ast.Name(id="A" | "Annotated"), slice=ast.Tuple(elts=[inner, *_])):
            return optional_of(inner)
        case ast.Subscript(value=ast.Name(id="Optional"), slice=inner):
            return inner
        case ast.Subscript(value=ast.Name(id="Union"), slice=ast.Tuple(elts=parts)):
            pass
        case ast.BinOp(op=ast.BitOr()):
            parts = _alternatives(node)
        case _:
            return None
    rest = [part for part in parts if ast.unparse(part) != "None"]
    return rest[0] if len(rest) == 1 and len(rest) < len(parts) else None


def _alternatives(node: ast.expr) -> list[ast.expr]:
    """The parts of `a | b | c`."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return [*_alternatives(node.left), *_alternatives(node.right)]
    return [node]


def text_of(node: ast.expr) -> str:
    """A constant's text, or an expression's source."""
    return str(node.value) if isinstance(node, ast.Constant) else ast.unparse(node)


def prose_of(node: ast.expr | None) -> str:
    """The fixed text in a string expression."""
    if node is None:
        return ""
    parts = [part.value for part in ast.walk(node) if isinstance(part, ast.Constant) and isinstance(part.value, str)]
    return " ".join(parts)
