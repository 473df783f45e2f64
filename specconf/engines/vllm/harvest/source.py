"""A release's source tree as modules with symbol tables: which statement binds a name at run time, and in which file.

This module follows imports; it evaluates nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from msgspec import Struct, field

from specconf.harvest.archive import Archive

PACKAGE = "vllm"


class Import(Struct, frozen=True):
    """A name bound to a module (`member` is None) or to a member of one."""

    module: str
    member: str | None


Binding = ast.expr | ast.ClassDef | ast.FunctionDef | Import


class Module(Struct, frozen=True, eq=False):
    """One parsed file: its dotted name, its path in the archive, what its top level binds, and its syntax."""

    name: str
    file: str
    symbols: dict[str, Binding]
    tree: ast.Module


class Found(Struct, frozen=True):
    """What a name stands for, and the module whose names its own expressions use."""

    module: Module
    node: ast.expr | ast.ClassDef | ast.FunctionDef


class Tree(Struct):
    """The modules of one release, parsed on first use."""

    archive: Archive
    release: str
    _modules: dict[str, Module | None] = field(default_factory=dict)

    def module(self, name: str) -> Module | None:
        """The module of this dotted name, or None if the tree has no file for it."""
        if name not in self._modules:
            self._modules[name] = self._load(name)
        return self._modules[name]

    def resolve(self, module: Module, name: str) -> Found | Module | None:
        """Follow a name through imports to the statement that defines it; None if that lies outside the tree."""
        bound = module.symbols.get(name)
        seen: set[tuple[str, str]] = set()
        while isinstance(bound, Import):
            if bound.member is None:
                return self.module(bound.module)
            if (bound.module, bound.member) in seen:
                return None
            seen.add((bound.module, bound.member))
            origin = self.module(bound.module)
            if origin is None or bound.member not in origin.symbols:
                submodule = self.module(f"{bound.module}.{bound.member}")
                return submodule or (self._starred(origin, bound.member) if origin else None)
            module, bound = origin, origin.symbols[bound.member]
        return self._starred(module, name) if bound is None else Found(module, bound)

    def _starred(self, module: Module, name: str) -> Found | Module | None:
        """What a name stands for if one of the module's `from ... import *` brings it."""
        for bound in list(module.symbols.values()):
            if isinstance(bound, Import) and bound.member == "*":
                origin = self.module(bound.module)
                found = self.resolve(origin, name) if origin and origin is not module else None
                if found is not None:
                    return found
        return None

    def _load(self, name: str) -> Module | None:
        parts = name.split(".")
        if parts[0] != PACKAGE:
            return None
        stem = "/".join(parts)
        for file, package in ((f"{stem}.py", False), (f"{stem}/__init__.py", True)):
            if file in self.archive:
                tree = self.archive.parsed(file)
                symbols = dict(_bindings(tree.body, name if package else name.rpartition(".")[0]))
                return Module(name, file, symbols, tree)
        return None


def _bindings(body: Iterable[ast.stmt], package: str) -> Iterator[tuple[str, Binding]]:
    """The names that statements bind, in the order in which the later one wins at run time."""
    for node in body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            yield node.name, node
        elif isinstance(node, ast.Import | ast.ImportFrom):
            yield from _imports(node, package)
        elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                if isinstance(target, ast.Name):
                    yield target.id, _lazily_imported(node.value) or node.value
        elif isinstance(node, ast.If):
            # What is written for type checkers only is seen first, so that the run-time branch overrides it.
            yield from _bindings(node.body, package)
            yield from _bindings(node.orelse, package)
        elif isinstance(node, ast.Try):
            for handler in node.handlers:
                yield from _bindings(handler.body, package)
            yield from _bindings([*node.body, *node.orelse], package)


def _imports(node: ast.Import | ast.ImportFrom, package: str) -> Iterator[tuple[str, Import]]:
    if isinstance(node, ast.Import):
        for alias in node.names:
            if alias.asname:
                yield alias.asname, Import(alias.name, None)
            else:
                top = alias.name.partition(".")[0]
                yield top, Import(top, None)
        return
    origin = node.module or ""
    if node.level:
        parts = package.split(".")
        parent = ".".join(parts[: len(parts) - node.level + 1])
        origin = f"{parent}.{origin}" if origin else parent
    for alias in node.names:
        # A star import binds no name of its own; it is kept under one that no Python name can equal.
        key = f"*{origin}" if alias.name == "*" else alias.asname or alias.name
        yield key, Import(origin, alias.name)


def _lazily_imported(value: ast.expr) -> Import | None:
    """A module that the engine loads on first use through its `LazyLoader(name, globals(), module)`."""
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "LazyLoader":
        last = value.args[-1]
        if isinstance(last, ast.Constant) and isinstance(last.value, str):
            return Import(last.value, None)
    return None


def local_imports(node: ast.Import | ast.ImportFrom, module: Module) -> dict[str, Import]:
    """What an import inside a function of this module binds."""
    package = module.name if module.file.endswith("__init__.py") else module.name.rpartition(".")[0]
    return dict(_imports(node, package))
