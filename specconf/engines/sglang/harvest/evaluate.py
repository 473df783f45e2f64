"""Reading values out of SGLang's sources without importing them.

A small evaluator for the expressions that options are declared with: literals, arithmetic, constants of other modules,
enum members, dictionary keys, comprehensions over those, and functions that only return such a value. Whatever it
cannot settle raises `NotStatic`; callers then record the value as unknown or as source text.
"""

import ast
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from msgspec import Struct, field

from specconf.harvest.archive import Archive

_MAX_DEPTH = 40


class NotStatic(ValueError):
    """An expression whose value depends on the running machine, or that this evaluator does not know."""


class EnumMember(Struct, frozen=True):
    """One member of an enumeration in the engine's sources."""

    name: str
    value: Any


class Imported(Struct, frozen=True):
    """A name bound by an import: the module, and the name there (empty for the module itself)."""

    module: str
    name: str


class Module(Struct, frozen=True):
    """One parsed source file with the names its top level binds, and the modules it imports with a star."""

    name: str
    file: str
    tree: ast.Module
    symbols: Mapping[str, "ast.AST | Imported"]
    stars: tuple[str, ...] = ()


class ClassIn(Struct, frozen=True):
    """A class definition and the module it was found in."""

    module: Module
    node: ast.ClassDef


class Scope(Struct, frozen=True):
    """Where a name is looked up: bound values, then local assignments, then the module."""

    module: Module
    bound: Mapping[str, Any] = field(default_factory=dict)
    local: Mapping[str, "ast.AST | Imported"] = field(default_factory=dict)
    depth: int = 0

    def deeper(self) -> "Scope":
        """The same scope one level down; a chain of names that never ends is cut here."""
        if self.depth > _MAX_DEPTH:
            raise NotStatic("the names refer to each other without end")
        return Scope(self.module, self.bound, self.local, self.depth + 1)


class Sources:
    """The sources of one release, parsed on demand."""

    def __init__(self, archive: Archive) -> None:
        self.archive = archive
        self._modules: dict[str, Module | None] = {}

    def module(self, name: str) -> Module | None:
        """The module of that dotted name, or None where the release does not have it."""
        if name not in self._modules:
            self._modules[name] = self._read(name)
        return self._modules[name]

    def _read(self, name: str) -> Module | None:
        stem = name.replace(".", "/")
        for file in (f"{stem}.py", f"{stem}/__init__.py"):
            if file in self.archive:
                tree = self.archive.parsed(file)
                package = f"{name}.__init__" if file.endswith("__init__.py") else name
                return Module(name, file, tree, bindings(tree.body, package), _stars(tree, package))
        return None

    def find(self, module: Module, name: str) -> tuple[Module, ast.AST]:
        """Follow imports to the statement or expression that defines `name`, and the module it stands in."""
        seen = [module.name]
        while True:
            target = module.symbols.get(name)
            if target is None:
                target = self._star(module, name)
            if not isinstance(target, Imported):
                return module, target
            found = self.module(target.module)
            if found is None:
                raise NotStatic(f"{target.module} is not among the sources")
            if found.name in seen:
                raise NotStatic(f"the imports of {name} go round in circles")
            seen.append(found.name)
            module, name = found, target.name

    def _star(self, module: Module, name: str) -> Imported:
        """The module whose `import *` brings in `name`."""
        for origin in module.stars:
            found = self.module(origin)
            if found is not None and (name in found.symbols or found.stars):
                return Imported(origin, name)
        raise NotStatic(f"{module.name} does not define {name}")


def bindings(body: Iterable[ast.stmt], module: str) -> dict[str, "ast.AST | Imported"]:
    """The names that these statements bind, first binding in a branch, last outside of one."""
    found: dict[str, ast.AST | Imported] = {}
    for statement in body:
        if isinstance(statement, ast.If | ast.Try):
            for name, value in bindings(_branches(statement), module).items():
                found.setdefault(name, value)
        else:
            found.update(_bound_by(statement, module))
    return found


def _stars(tree: ast.Module, module: str) -> tuple[str, ...]:
    """The modules that are imported with a star."""
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    return tuple(_origin(node, module) for node in imports if node.names[0].name == "*")


def _branches(statement: ast.If | ast.Try) -> list[ast.stmt]:
    """The statements of a branch in the order in which they are tried."""
    handlers = [inner for handler in getattr(statement, "handlers", []) for inner in handler.body]
    return [*statement.body, *handlers, *statement.orelse]


def _bound_by(statement: ast.stmt, module: str) -> dict[str, "ast.AST | Imported"]:
    """The names that one simple statement binds."""
    match statement:
        case ast.Assign(targets=targets, value=value):
            return {target.id: value for target in targets if isinstance(target, ast.Name)}
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
            return {name: value}
        case ast.ClassDef(name=name) | ast.FunctionDef(name=name):
            return {name: statement}
        case ast.ImportFrom(names=names):
            origin = _origin(statement, module)
            return {alias.asname or alias.name: Imported(origin, alias.name) for alias in names}
        case _:
            return {}


def _origin(statement: ast.ImportFrom, module: str) -> str:
    """The absolute name of the module that a `from … import` reads."""
    if not statement.level:
        return statement.module or ""
    parent = module.split(".")[: -statement.level]
    return ".".join([*parent, *([statement.module] if statement.module else [])])


class Evaluator:
    """Evaluates expressions of one release's sources."""

    def __init__(self, sources: Sources) -> None:
        self.sources = sources
        self._cases: dict[type[ast.AST], Callable[[Any, Scope], Any]] = {
            ast.Constant: lambda node, _: node.value,
            ast.List: self._sequence,
            ast.Tuple: self._sequence,
            ast.Set: lambda node, scope: set(self._sequence(node, scope)),
            ast.Dict: self._mapping,
            ast.Name: self._name,
            ast.Attribute: self._attribute,
            ast.Subscript: self._item,
            ast.BinOp: self._binary,
            ast.UnaryOp: self._unary,
            ast.Call: self._call,
            ast.ListComp: self._comprehension,
            ast.GeneratorExp: self._comprehension,
            ast.SetComp: lambda node, scope: set(self._comprehension(node, scope)),
        }

    def value(self, node: ast.AST, scope: Scope) -> Any:
        """The value of `node`, or `NotStatic`."""
        case = self._cases.get(type(node))
        if case is None:
            raise NotStatic(f"{type(node).__name__} is not evaluated")
        return case(node, scope.deeper())

    def plain(self, node: ast.AST, scope: Scope) -> Any:
        """The value of `node` as JSON: sets sorted, tuples as lists, enum members as their values."""
        return _plain(self.value(node, scope))

    def class_of(self, node: ast.AST, scope: Scope) -> ClassIn:
        """The class that a name stands for."""
        value = self.value(node, scope)
        if not isinstance(value, ClassIn):
            raise NotStatic(f"{ast.unparse(node)} is not a class")
        return value

    def _sequence(self, node: ast.List | ast.Tuple | ast.Set, scope: Scope) -> list[Any]:
        items: list[Any] = []
        for element in node.elts:
            if isinstance(element, ast.Starred):
                items.extend(self._items(self.value(element.value, scope)))
            else:
                items.append(self.value(element, scope))
        return items

    def _mapping(self, node: ast.Dict, scope: Scope) -> dict[Any, Any]:
        found: dict[Any, Any] = {}
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None:
                found.update(self.value(value, scope))
                continue
            found[self.value(key, scope)] = self._or_node(value, scope)
        return found

    def _or_node(self, node: ast.AST, scope: Scope) -> Any:
        """A dictionary's value, or its syntax where only its key can be known (parsers by name, for example)."""
        try:
            return self.value(node, scope)
        except NotStatic:
            return node

    def _name(self, node: ast.Name, scope: Scope) -> Any:
        if node.id in scope.bound:
            return scope.bound[node.id]
        local = scope.local.get(node.id)
        if isinstance(local, Imported):
            module = self.sources.module(local.module)
            if module is None:
                raise NotStatic(f"{local.module} is not among the sources")
            return self._defined(*self.sources.find(module, local.name), scope.depth)
        if local is not None:
            # A local name may be assigned from itself; it then means the module's.
            outer = {name: value for name, value in scope.local.items() if name != node.id}
            return self.value(local, Scope(scope.module, scope.bound, outer, scope.depth))
        return self._defined(*self.sources.find(scope.module, node.id), scope.depth)

    def _defined(self, module: Module, node: ast.AST, depth: int) -> Any:
        if isinstance(node, ast.ClassDef):
            return ClassIn(module, node)
        return self.value(node, Scope(module, depth=depth))

    def _attribute(self, node: ast.Attribute, scope: Scope) -> Any:
        base = self.value(node.value, scope)
        if isinstance(base, EnumMember) and node.attr in ("name", "value"):
            return getattr(base, node.attr)
        if isinstance(base, ClassIn):
            return self._member(base, node.attr, scope)
        raise NotStatic(f"{ast.unparse(node)} is not a class member")

    def _item(self, node: ast.Subscript, scope: Scope) -> Any:
        try:
            return self.value(node.value, scope)[self.value(node.slice, scope)]
        except (TypeError, KeyError, IndexError) as error:
            raise NotStatic(f"{ast.unparse(node)}: {error}") from error

    def _member(self, owner: ClassIn, name: str, scope: Scope) -> Any:
        symbols = bindings(owner.node.body, owner.module.name)
        member = symbols.get(name)
        if member is None or isinstance(member, Imported):
            raise NotStatic(f"{owner.node.name} does not define {name}")
        value = self.value(member, Scope(owner.module, local=symbols, depth=scope.depth))
        return EnumMember(name, value) if _is_enum(owner) else value

    def _binary(self, node: ast.BinOp, scope: Scope) -> Any:
        left, right = self.value(node.left, scope), self.value(node.right, scope)
        try:
            match node.op:
                case ast.Add():
                    return left + right
                case ast.Sub():
                    return left - right
                case ast.Mult():
                    return left * right
                case ast.Div():
                    return left / right
                case ast.Pow():
                    return left**right
                case ast.BitOr():
                    return left | right
        except TypeError as error:
            raise NotStatic(f"{ast.unparse(node)}: {error}") from error
        raise NotStatic(f"{ast.unparse(node)} is not evaluated")

    def _unary(self, node: ast.UnaryOp, scope: Scope) -> Any:
        value = self.value(node.operand, scope)
        match node.op:
            case ast.USub():
                return -value
            case ast.Not():
                return not value
        raise NotStatic(f"{ast.unparse(node)} is not evaluated")

    def _call(self, node: ast.Call, scope: Scope) -> Any:
        match node:
            case ast.Call(func=ast.Name(id="list" | "tuple" | "sorted" | "set" | "frozenset" as name), args=[argument]):
                items = self._items(self.value(argument, scope))
                return set(items) if name in ("set", "frozenset") else sorted(items) if name == "sorted" else items
            case ast.Call(func=ast.Name(id="list" | "set" | "tuple" | "frozenset"), args=[], keywords=[]):
                return []
            case ast.Call(func=ast.Attribute(value=owner, attr="keys"), args=[]):
                return self._items(self.value(owner, scope))
            case ast.Call(func=ast.Attribute(value=owner, attr="lower" | "upper" as method), args=[]):
                return getattr(self.value(owner, scope), method)()
            case ast.Call(func=ast.Name(id=name), args=[], keywords=[]):
                return self._returned(name, scope)
        raise NotStatic(f"{ast.unparse(node)} is not evaluated")

    def _returned(self, name: str, scope: Scope) -> Any:
        """What a function without arguments returns at its end (earlier returns are for processes already running)."""
        module, function = self.sources.find(scope.module, name)
        if not isinstance(function, ast.FunctionDef) or not isinstance(function.body[-1], ast.Return):
            raise NotStatic(f"{name}() does more than return a value")
        result = function.body[-1].value
        if result is None:
            return None
        local = bindings(function.body, module.name)
        return self.value(result, Scope(module, local=local, depth=scope.depth))

    def _comprehension(self, node: ast.ListComp | ast.GeneratorExp | ast.SetComp, scope: Scope) -> list[Any]:
        match node.generators:
            case [ast.comprehension(target=ast.Name(id=name), iter=source, ifs=[])]:
                items = self._items(self.value(source, scope))
            case _:
                raise NotStatic(f"{ast.unparse(node)} is not evaluated")
        results = []
        for item in items:
            inner = Scope(scope.module, {**scope.bound, name: item}, scope.local, scope.depth)
            results.append(self.value(node.elt, inner))
        return results

    def _items(self, value: Any) -> list[Any]:
        """The items that iterating over `value` gives."""
        if isinstance(value, ClassIn) and _is_enum(value):
            symbols = bindings(value.node.body, value.module.name)
            names = [name for name, node in symbols.items() if isinstance(node, ast.expr) and not name.startswith("_")]
            return [self._member(value, name, Scope(value.module)) for name in names]
        if isinstance(value, list | tuple | dict):
            return list(value)
        if isinstance(value, set | frozenset):
            return sorted(value, key=str)
        raise NotStatic("not a collection")


def _is_enum(owner: ClassIn) -> bool:
    """Whether a class is an enumeration, going by the names of its bases."""
    return any(ast.unparse(base).rpartition(".")[2].endswith("Enum") for base in owner.node.bases)


def _plain(value: Any) -> Any:
    """`value` as JSON; `NotStatic` for anything that has no JSON form."""
    match value:
        case EnumMember(value=inner):
            return _plain(inner)
        case None | bool() | int() | float() | str():
            return value
        case list() | tuple():
            return [_plain(item) for item in value]
        case set() | frozenset():
            return sorted((_plain(item) for item in value), key=str)
        case dict():
            return {str(key): _plain(inner) for key, inner in value.items()}
    raise NotStatic(f"{type(value).__name__} has no JSON form")
