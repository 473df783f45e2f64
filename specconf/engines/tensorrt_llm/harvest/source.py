"""The modules of one release and what the names in them stand for: classes, functions, constants, imports, followed
from file to file as far as the archive goes. Values and annotations are read elsewhere.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from msgspec import Struct

from specconf.harvest.archive import Archive

_HOPS = 8  # an import that is re-exported more often than this goes in circles


class Module(Struct, frozen=True, eq=False):
    """One file: its dotted name, whether it is a package, and its statements by the name that they bind."""

    file: str
    name: str
    symbols: dict[str, ast.stmt]

    @property
    def is_package(self) -> bool:
        return self.file.endswith("/__init__.py")


class Found(Struct, frozen=True, eq=False):
    """What a name stands for: the statement that binds it, and the module it stands in."""

    module: Module
    node: ast.stmt


class Tree:
    """All modules of a release, parsed when they are first asked for; `notes` collect what could not be settled."""

    def __init__(self, archive: Archive) -> None:
        self.archive = archive
        self.notes: list[str] = []
        self._modules: dict[str, Module] = {}

    def note(self, text: str) -> None:
        """Remember, once, what could not be settled."""
        if text not in self.notes:
            self.notes.append(text)

    def module(self, file: str) -> Module | None:
        """The module in a file; None if the archive does not have the file."""
        if file not in self.archive:
            return None
        if file not in self._modules:
            tree = self.archive.parsed(file)
            dotted = file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
            self._modules[file] = Module(file, dotted, dict(_bindings(tree.body)))
        return self._modules[file]

    def named(self, dotted: str) -> Module | None:
        """The module of a dotted name."""
        base = dotted.replace(".", "/")
        return self.module(f"{base}.py") or self.module(f"{base}/__init__.py")

    def resolve(self, module: Module, name: str) -> Found | None:
        """What a name of a module stands for, through imports; None if it is bound outside the archive."""
        for _ in range(_HOPS):
            node = module.symbols.get(name)
            if not isinstance(node, ast.ImportFrom):
                return Found(module, node) if node is not None else None
            name = next(alias.name for alias in node.names if (alias.asname or alias.name) == name)
            source = self.named(_target(module, node))
            if source is None:
                return None
            module = source
        return None

    def resolve_class(self, module: Module, node: ast.expr) -> tuple[Module, ast.ClassDef] | None:
        """The class that an expression names."""
        found = self.resolve(module, node.id) if isinstance(node, ast.Name) else None
        return (found.module, found.node) if found and isinstance(found.node, ast.ClassDef) else None


def _bindings(body: Iterable[ast.stmt]) -> Iterator[tuple[str, ast.stmt]]:
    """Names bound at the top of a module, also below conditions; of two bindings of a name the dict keeps the last."""
    for node in body:
        match node:
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name):
                yield name, node
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                yield name, node
            case ast.ImportFrom(names=names):
                yield from ((alias.asname or alias.name, node) for alias in names)
            case ast.If(body=first, orelse=second) | ast.Try(body=first, handlers=_, orelse=second):
                yield from _bindings(second)
                yield from _bindings(first)


def _target(module: Module, node: ast.ImportFrom) -> str:
    """The dotted name of the module that an import reads from."""
    if not node.level:
        return node.module or ""
    parts = module.name.split(".")
    drop = node.level - 1 if module.is_package else node.level
    return ".".join([*parts[: len(parts) - drop], *([node.module] if node.module else [])])


def last_name(node: ast.expr) -> str:
    """The last part of a dotted name: `Field` of `pydantic.Field`; empty for anything else."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""
