"""Walks the statements of a Python file in order, as far as they run in a straight line, and tells every call on its way.

Bodies of functions are walked where the file calls them with what it gives them, else once with nothing known of their
arguments. What a branch or a loop changes is not known behind it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator

from msgspec.structs import replace

from specconf.readers.pyvalues import Scope, Values, dotted
from specconf.readers.source import Placed, SourceText, joined
from specconf.readers.values import Items, NotKnown, Pairs, Text, Unknown, Value, as_json, last_of_each
from specconf.words import Span

_DEEPEST_CALL = 6
_MOST_CALLS = 200
_MOST_STATEMENTS = 20_000  # walked in all, so that no file takes long
_DUMPERS = frozenset({"yaml.dump", "yaml.safe_dump", "json.dump"})
Function = ast.FunctionDef | ast.AsyncFunctionDef
OnCall = Callable[[ast.Call, Scope], None]
OnValue = Callable[[Value, Scope], None]


class Walker:
    """One pass over a file. `on_call` is told every call with what is known there, `on_value` the lists left at the end."""

    def __init__(self, source: SourceText, tree: ast.Module, on_call: OnCall, on_value: OnValue) -> None:
        self.source = source
        self.tree = tree
        self.values = Values(source, tree, self._own_call)
        self.on_call = on_call
        self.on_value = on_value
        self.functions: dict[str, Function] = {}
        self.waiting: list[tuple[Function, Scope]] = []
        self.walked: set[str] = set()
        self.stack: list[str] = []
        self.returned: list[list[Value]] = []
        self.calls = self.statements = 0
        self.final = Scope()  # what is known behind the last statement

    def walk(self) -> None:
        """The whole file."""
        scope = self.final
        self._block(self.tree.body, scope)
        once = self._written_once()
        while self.waiting:
            function, own = self.waiting.pop(0)
            if function.name in self.walked:
                continue
            final = Scope({k: v for k, v in scope.names.items() if k in once}, dict(scope.env), dict(scope.files))
            inner = Scope({**final.names, **own.names}, final.env, final.files)
            self._bind(function, None, inner, inner)
            self._run(function, inner)
        for value in scope.names.values():
            self.on_value(value, scope)

    def _written_once(self) -> set[str]:
        counts: dict[str, int] = {}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                counts[node.id] = counts.get(node.id, 0) + 1
        return {name for name, count in counts.items() if count == 1} | {
            dotted(node) for node in ast.walk(self.tree) if isinstance(node, ast.Attribute)
        }

    # -- functions

    def _run(self, function: Function, scope: Scope) -> Value | None:
        """A body in a scope of its own; what it returns, if that is one thing."""
        self.walked.add(function.name)
        self.stack.append(function.name)
        self.returned.append([])
        self._block(function.body, scope)
        found = self.returned.pop()
        self.stack.pop()
        for value in [*scope.names.values(), *found]:
            self.on_value(value, scope)
        return found[0] if len(found) == 1 else None

    def _bind(self, function: Function, call: ast.Call | None, inner: Scope, outer: Scope) -> None:
        """The arguments of a function: what a call gives, a default that it leaves, else nothing known."""
        arguments = function.args
        names = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
        for name in (*names, *(argument.arg for argument in arguments.kwonlyargs)):
            inner.names.pop(name, None)
        for extra in (arguments.vararg, arguments.kwarg):
            if extra is not None:
                inner.names.pop(extra.arg, None)
        if call is None:
            return
        given = dict(zip(names, call.args, strict=False))
        given |= {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg is not None}
        plain = not any(isinstance(one, ast.Starred) for one in call.args) and all(k.arg for k in call.keywords)
        defaults = dict(zip(reversed(names), reversed(arguments.defaults), strict=False))
        defaults |= {
            a.arg: d for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if d is not None
        }
        for name in {**defaults, **given} if plain else ():
            found = self.values.value(given[name] if name in given else defaults[name], outer)
            if not isinstance(found, Unknown):
                inner.names[name] = found

    def _own_call(self, call: ast.Call, scope: Scope) -> Value | None:
        """What a call of one of the file's own functions gives; None for all other calls."""
        function = self.functions.get(dotted(call.func))
        if function is None:
            return None
        self.calls += 1
        if function.name in self.stack or len(self.stack) >= _DEEPEST_CALL or self.calls > _MOST_CALLS:
            return self.values.unknown(call)
        inner = scope.copy()
        self._bind(function, call, inner, scope)
        found = self._run(function, inner)
        scope.env, scope.files = inner.env, inner.files
        return found if found is not None else self.values.unknown(call)

    # -- statements

    def _block(self, statements: Iterable[ast.stmt], scope: Scope) -> None:
        for statement in statements:
            self.statements += 1
            if self.statements > _MOST_STATEMENTS:
                return
            handler = getattr(self, f"_{type(statement).__name__.lower()}", None)
            if handler is not None:
                handler(statement, scope)
            else:
                self._tell(statement, scope)

    def _tell(self, node: ast.AST | None, scope: Scope) -> None:
        """Every call in an expression, the inner ones first."""
        if node is None:
            return
        for call in _calls(node):
            self.on_call(call, scope)

    def _functiondef(self, node: Function, scope: Scope) -> None:
        for decorator in node.decorator_list:
            self._tell(decorator, scope)
        plain = not node.decorator_list and not self.stack
        if plain and node.name not in self.functions:
            self.functions[node.name] = node
        self.waiting.append((node, Scope(dict(scope.names)) if self.stack else Scope()))

    _asyncfunctiondef = _functiondef

    def _classdef(self, node: ast.ClassDef, scope: Scope) -> None:
        for decorator in node.decorator_list:
            self._tell(decorator, scope)
        inner = scope.copy()
        methods = [s for s in node.body if isinstance(s, ast.FunctionDef | ast.AsyncFunctionDef)]
        self._block([s for s in node.body if s not in methods], inner)
        own = {name: value for name, value in inner.names.items() if scope.names.get(name) is not value}
        scope.names |= {f"{node.name}.{name}": value for name, value in own.items()}
        held = {f"{owner}.{name}": value for name, value in own.items() for owner in ("self", "cls")}
        self.waiting += [(method, Scope(dict(held))) for method in methods]

    def _assign(self, node: ast.Assign, scope: Scope) -> None:
        self._tell(node.value, scope)
        found = self.values.value(node.value, scope)
        for target in node.targets:
            self._put(target, found, scope)

    def _annassign(self, node: ast.AnnAssign, scope: Scope) -> None:
        if node.value is not None:
            self._tell(node.value, scope)
            self._put(node.target, self.values.value(node.value, scope), scope)

    def _augassign(self, node: ast.AugAssign, scope: Scope) -> None:
        self._tell(node.value, scope)
        name = dotted(node.target)
        whole = ast.BinOp(left=_as_load(node.target), op=node.op, right=node.value)
        self._put(node.target, self.values.value(ast.copy_location(whole, node), scope), scope) if name else None

    def _put(self, target: ast.expr, value: Value, scope: Scope) -> None:
        if isinstance(target, ast.Tuple | ast.List):
            items = value.items if isinstance(value, Items) and len(value.items) == len(target.elts) else ()
            for number, inner in enumerate(target.elts):
                self._put(inner, items[number] if items else self.values.unknown(inner), scope)
        elif isinstance(target, ast.Subscript):
            self._put_member(target, value, scope)
        elif name := dotted(target):
            if isinstance(value, Unknown):
                scope.names.pop(name, None)
            else:
                scope.names[name] = value

    def _put_member(self, target: ast.Subscript, value: Value, scope: Scope) -> None:
        """`os.environ["X"] = …` and `options["x"] = …`."""
        key, name = self.values.value(target.slice, scope), dotted(target.value)
        if self.values.qualified(target.value) == "os.environ":
            if isinstance(key, Text) and key.known:
                scope.env[key.text] = value
        elif isinstance(held := scope.names.get(name), Pairs):
            known = isinstance(key, Text) and key.known
            pairs = (*held.pairs, (key, value)) if known and isinstance(key, Text) else held.pairs
            scope.names[name] = replace(held, pairs=last_of_each(pairs), more=held.more or not known)
        else:
            scope.names.pop(name, None)

    def _expr(self, node: ast.Expr, scope: Scope) -> None:
        self._tell(node.value, scope)
        call = node.value.value if isinstance(node.value, ast.Await) else node.value
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
            self._method(call, call.func, scope)
        if isinstance(call, ast.Call) and dotted(call.func) in self.functions:
            self.values.value(call, scope)

    def _method(self, call: ast.Call, func: ast.Attribute, scope: Scope) -> None:
        """What a method's call changes in what it is called on."""
        name, held = dotted(func.value), scope.names.get(dotted(func.value))
        given = self.values.value(call.args[0], scope) if call.args else None
        if isinstance(held, Items) and func.attr in {"append", "extend", "insert", "remove", "pop", "clear"}:
            more: Value = self.values.unknown(call, many=True)
            if func.attr == "append" and given is not None:
                more = Items((given if not isinstance(given, Unknown) else replace(given, many=False),), given.span)
            elif func.attr == "extend" and isinstance(given, Items):
                more = given
            scope.names[name] = self.values.added(held, more, call)
        elif isinstance(held, Pairs) and func.attr in {"update", "setdefault", "pop", "clear"}:
            added = self.values.keywords(call, scope)
            whole = func.attr == "update" and (given is None or isinstance(given, Pairs))
            first = given.pairs if isinstance(given, Pairs) else ()
            scope.names[name] = replace(
                held, pairs=last_of_each((*held.pairs, *first, *added.pairs)), more=held.more or not whole
            )
        elif self.values.qualified(func.value) == "os.environ":
            self._environment(func.attr, call, given, scope)
        else:
            self._written(call, func, given, scope)

    def _environment(self, method: str, call: ast.Call, given: Value | None, scope: Scope) -> None:
        if method == "update":
            added = (*(given.pairs if isinstance(given, Pairs) else ()), *self.values.keywords(call, scope).pairs)
            scope.env |= {key.text: value for key, value in added}
        elif method == "setdefault" and isinstance(given, Text) and len(call.args) == 2:
            scope.env.setdefault(given.text, self.values.value(call.args[1], scope))

    def _written(self, call: ast.Call, func: ast.Attribute, given: Value | None, scope: Scope) -> None:
        """Files that the program writes: `Path("f").write_text(…)`, `f.write(…)`, `yaml.dump(…, f)`."""
        name = self.values.qualified(func)
        if func.attr == "write_text" and given is not None:
            target = self.values.value(func.value, scope)
            if isinstance(target, Text) and target.known:
                scope.files[target.text] = _file_text(given, self.values.part(call))
        elif func.attr == "write" and dotted(func.value) in scope.handles and given is not None:
            self._append(scope.handles[dotted(func.value)], given, call, scope)
        elif name in _DUMPERS and given is not None and len(call.args) > 1 and dotted(call.args[1]) in scope.handles:
            self._append(scope.handles[dotted(call.args[1])], given, call, scope)

    def _append(self, file: str, given: Value, call: ast.Call, scope: Scope) -> None:
        earlier, text = scope.files.get(file), _file_text(given, self.values.part(call))
        if file in scope.files and (earlier is None or text is None):
            scope.files[file] = None
        else:
            scope.files[file] = joined([earlier, text], "") if earlier is not None and text is not None else text

    def _return(self, node: ast.Return, scope: Scope) -> None:
        self._tell(node.value, scope)
        if node.value is not None and self.returned:
            self.returned[-1].append(self.values.value(node.value, scope))

    # -- branches

    def _if(self, node: ast.If, scope: Scope) -> None:
        self._tell(node.test, scope)
        if "__name__" in self.values.raw(node.test):
            self._block(node.body, scope)
            return
        self._merge(scope, [self._branch(node.body, scope), self._branch(node.orelse, scope)])

    def _branch(self, statements: Iterable[ast.stmt], scope: Scope) -> Scope:
        inner = scope.copy()
        self._block(statements, inner)
        return inner

    def _loop(self, node: ast.For | ast.AsyncFor | ast.While, scope: Scope) -> None:
        self._tell(node.test if isinstance(node, ast.While) else node.iter, scope)
        inner = scope.copy()
        for changed in [*_stores(node), *_mutated(node)]:
            held = inner.names.get(changed)
            # Behind a first round the list may have grown already.
            if isinstance(held, Items) and changed not in _stores(node):
                inner.names[changed] = replace(held, items=(*held.items, Unknown("…", held.span, many=True)))
            else:
                inner.names.pop(changed, None)
        self._block([*node.body, *node.orelse], inner)
        self._merge(scope, [scope.copy(), inner])

    _for = _asyncfor = _while = _loop

    def _try(self, node: ast.Try, scope: Scope) -> None:
        self._block(node.body, scope)
        self._merge(scope, [scope.copy(), *(self._branch(handler.body, scope) for handler in node.handlers)])
        self._block([*node.orelse, *node.finalbody], scope)

    _trystar = _try

    def _with(self, node: ast.With | ast.AsyncWith, scope: Scope) -> None:
        for item in node.items:
            self._tell(item.context_expr, scope)
            call = item.context_expr
            if isinstance(call, ast.Call) and item.optional_vars is not None:
                self._opened(call, dotted(item.optional_vars), scope)
        self._block(node.body, scope)

    _asyncwith = _with

    def _opened(self, call: ast.Call, handle: str, scope: Scope) -> None:
        """`with open(NAME, "w") as f`."""
        given = [self.values.value(argument, scope) for argument in call.args[:2]]
        writes = len(given) > 1 and isinstance(given[1], Text) and given[1].text[:1] in {"w", "x", "a"}
        if dotted(call.func) == "open" and writes and isinstance(given[0], Text) and given[0].known:
            scope.handles[handle] = given[0].text
            if isinstance(given[1], Text) and not given[1].text.startswith("a"):
                scope.files.pop(given[0].text, None)

    def _match(self, node: ast.Match, scope: Scope) -> None:
        self._tell(node.subject, scope)
        self._merge(scope, [scope.copy(), *(self._branch(case.body, scope) for case in node.cases)])

    def _merge(self, scope: Scope, branches: list[Scope]) -> None:
        """What is known behind branches of which one ran."""
        names: dict[str, Value] = {}
        for name in branches[0].names:
            found = [branch.names.get(name) for branch in branches]
            merged = _merged([value for value in found if value is not None]) if None not in found else None
            if merged is not None:
                names[name] = merged
        env: dict[str, Value] = {}
        for name in [name for branch in branches for name in branch.env]:
            held = [branch.env.get(name) for branch in branches]
            same = all(value == held[0] for value in held)
            first = next(value for value in held if value is not None)
            env[name] = first if same else Unknown(f"${name}", first.span)
        files: dict[str, Placed | None] = {}
        for name in [name for branch in branches for name in branch.files]:
            texts = [branch.files.get(name) for branch in branches]
            files[name] = texts[0] if all(text is texts[0] for text in texts) else None
        scope.names, scope.env, scope.files = names, env, files


def _merged(values: list[Value]) -> Value | None:
    """One value for those of several branches: the same, or a list with the beginning that all have."""
    first = values[0]
    if all(value == first for value in values[1:]):
        return first
    lists = [value for value in values if isinstance(value, Items)]
    if len(lists) == len(values):
        shortest = min(len(one.items) for one in lists)
        same = next((n for n in range(shortest) if any(one.items[n] != lists[0].items[n] for one in lists)), shortest)
        rest = Unknown("…", lists[0].span, many=True)
        origins = frozenset[Span]().union(*(one.origins for one in lists))
        return Items((*lists[0].items[:same], rest), lists[0].span, origins)
    maps = [value for value in values if isinstance(value, Pairs)]
    if len(maps) == len(values) and all(one.kind == maps[0].kind for one in maps):
        kept = tuple(pair for pair in maps[0].pairs if all(pair in one.pairs for one in maps))
        return replace(maps[0], pairs=kept, more=True)
    return None


def _file_text(value: Value, near: Placed) -> Placed | None:
    if isinstance(value, Text):
        return value.placed if value.known else None
    try:
        return as_json(value, near)
    except NotKnown:
        return None


def _calls(node: ast.AST) -> Iterator[ast.Call]:
    for child in ast.iter_child_nodes(node):
        yield from _calls(child)
    if isinstance(node, ast.Call):
        yield node


def _stores(node: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


def _mutated(node: ast.AST) -> set[str]:
    """Names whose methods a body calls, or whose members it sets."""
    found = {
        dotted(n.func.value) for n in ast.walk(node) if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute)
    }
    return found | {
        dotted(n.value) for n in ast.walk(node) if isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Store)
    }


def _as_load(node: ast.expr) -> ast.expr:
    if isinstance(node, ast.Name):
        return ast.copy_location(ast.Name(node.id, ast.Load()), node)
    return node
