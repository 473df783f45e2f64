"""A symbolic run of the functions that build the engine's argument parser; its result is what they add to it.

Only the statements such functions use are known: assignments, changes of keyword tables, loops over known lists, calls
of functions in the tree that are given the parser, and `add_argument` itself. Of a condition that cannot be decided
both branches are run.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from msgspec import Struct, field

from specconf.engines.vllm.harvest.configs import ORIGIN, Keywords, Rules, option_keywords
from specconf.engines.vllm.harvest.source import Found, Module, local_imports
from specconf.engines.vllm.harvest.symbols import MISSING, ClassRef, Scope, Unknown, Value
from specconf.engines.vllm.harvest.values import Evaluator

_CONSTRUCTORS = ("ArgumentParser", "FlexibleArgumentParser")
_SERVE = "serve"


class Argument(Struct, frozen=True):
    """One `add_argument` call: its option strings (or positional name), keywords and place."""

    names: tuple[str, ...]
    keywords: Keywords
    file: str
    line: int


class Handle(Struct, frozen=True):
    """A parser object; `command` tells that of `vllm serve` from those of other subcommands."""

    command: str


class _Frame(Struct):
    module: Module
    owner: ClassRef | None
    function: str
    names: dict[str, Value]
    returned: Value = None


class Interpreter(Struct):
    """Runs parser-building functions of one release and collects the arguments of `vllm serve`."""

    evaluator: Evaluator
    rules: Rules
    arguments: list[Argument] = field(default_factory=list)

    def run(self, function: Found, owner: ClassRef | None, given: Sequence[Value], named: dict[str, Value]) -> Value:
        """Run a function with these arguments and return what it returns."""
        node = function.node
        assert isinstance(node, ast.FunctionDef)
        frame = _Frame(function.module, owner, node.name, self._bound(node, owner, given, named, function.module))
        self._block(node.body, frame)
        return frame.returned

    def _bound(
        self,
        node: ast.FunctionDef,
        owner: ClassRef | None,
        given: Sequence[Value],
        named: dict[str, Value],
        module: Module,
    ) -> dict[str, Value]:
        parameters = [argument.arg for argument in node.args.args]
        names: dict[str, Value] = {}
        defaults = node.args.defaults
        for name, default in zip(parameters[len(parameters) - len(defaults) :], defaults, strict=True):
            names[name] = self.evaluator.evaluate(default, Scope(module, {}))
        if parameters and parameters[0] in ("self", "cls"):
            names[parameters.pop(0)] = owner
        names.update(zip(parameters, given, strict=False))
        names.update({name: value for name, value in named.items() if name in parameters})
        return names

    def _block(self, body: Sequence[ast.stmt], frame: _Frame) -> None:
        for node in body:
            self._statement(node, frame)

    def _statement(self, node: ast.stmt, frame: _Frame) -> None:
        if isinstance(node, ast.Expr):
            self._value(node.value, frame)
        elif isinstance(node, ast.Assign):
            value = self._value(node.value, frame)
            for target in node.targets:
                self._assign(target, value, frame)
        elif isinstance(node, ast.AugAssign):
            sum_of = ast.BinOp(ast.parse(ast.unparse(node.target), mode="eval").body, node.op, node.value)
            self._assign(node.target, self._value(sum_of, frame), frame)
        elif isinstance(node, ast.Delete):
            for target in node.targets:
                self._delete(target, frame)
        elif isinstance(node, ast.If):
            self._branch(node, frame)
        elif isinstance(node, ast.For):
            self._loop(node, frame)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            for name, bound in local_imports(node, frame.module).items():
                found = Module("", frame.module.file, {name: bound}, frame.module.tree)
                value = self.evaluator.symbol(found, name)
                frame.names[name] = Unknown(name) if value is MISSING else value
        elif isinstance(node, ast.Return) and node.value is not None:
            frame.returned = self._value(node.value, frame)

    def _branch(self, node: ast.If, frame: _Frame) -> None:
        condition = self._value(node.test, frame)
        if isinstance(condition, Unknown):
            self._block([*node.body, *node.orelse], frame)
        else:
            self._block(node.body if condition else node.orelse, frame)

    def _loop(self, node: ast.For, frame: _Frame) -> None:
        items = self._value(node.iter, frame)
        for item in items if isinstance(items, list) else []:
            self._assign(node.target, item, frame)
            self._block(node.body, frame)

    def _assign(self, target: ast.expr, value: Value, frame: _Frame) -> None:
        if isinstance(target, ast.Name):
            frame.names[target.id] = value
        elif isinstance(target, ast.Tuple) and isinstance(value, list | tuple):
            for element, item in zip(target.elts, value, strict=False):
                self._assign(element, item, frame)
        elif isinstance(target, ast.Subscript):
            owner, key = self._value(target.value, frame), self._value(target.slice, frame)
            if isinstance(owner, dict):
                owner[key] = value

    def _delete(self, target: ast.expr, frame: _Frame) -> None:
        if isinstance(target, ast.Subscript):
            owner, key = self._value(target.value, frame), self._value(target.slice, frame)
            if isinstance(owner, dict):
                owner.pop(key, None)

    def _value(self, node: ast.expr, frame: _Frame) -> Value:
        if isinstance(node, ast.Call):
            handled = self._call(node, frame)
            if handled is not MISSING:
                return handled
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Call):
            owner, key = self._value(node.value, frame), self._value(node.slice, frame)
            return owner.get(key, MISSING) if isinstance(owner, dict) else Unknown(ast.unparse(node))
        return self.evaluator.evaluate(node, Scope(frame.module, frame.names))

    def _call(self, node: ast.Call, frame: _Frame) -> Value:
        tail = ast.unparse(node.func).rpartition(".")[2]
        if tail == "get_kwargs" and len(node.args) == 1:
            owner = self._value(node.args[0], frame)
            return option_keywords(self.evaluator, owner, self.rules) if isinstance(owner, ClassRef) else MISSING
        if tail in _CONSTRUCTORS:
            return Handle("root" if frame.function == "main" else _SERVE)
        if isinstance(node.func, ast.Attribute):
            handled = self._method(node, node.func, frame)
            if handled is not MISSING:
                return handled
        given = [self._value(argument, frame) for argument in node.args if not isinstance(argument, ast.Starred)]
        if not any(isinstance(value, Handle | dict) for value in given):
            return MISSING
        function, owner = self._callee(node.func, frame)
        if function is None:
            return next((value for value in given if isinstance(value, Handle)), MISSING)
        named = {keyword.arg: self._value(keyword.value, frame) for keyword in node.keywords if keyword.arg}
        return self.run(function, owner, given, named)

    def _method(self, node: ast.Call, function: ast.Attribute, frame: _Frame) -> Value:
        """What a parser's or a keyword list's own methods do."""
        owner = self._value(function.value, frame)
        if isinstance(owner, Handle):
            if function.attr == "add_argument" and owner.command == _SERVE:
                self._add(node, frame)
            if function.attr == "add_parser":
                name = self._value(node.args[0], frame)
                return Handle(name if isinstance(name, str) else _SERVE)
            return owner
        if isinstance(owner, list) and function.attr == "remove":
            gone = self._value(node.args[0], frame)
            if gone in owner:
                owner.remove(gone)
            return None
        if isinstance(owner, dict) and function.attr == "update":
            owner.update(self._value(node.args[0], frame))
            return None
        return MISSING

    def _callee(self, node: ast.expr, frame: _Frame) -> tuple[Found | None, ClassRef | None]:
        """The function that a call reaches and the class that it is bound to."""
        if isinstance(node, ast.Attribute):
            if ast.unparse(node.value) == "super()" and frame.owner is not None:
                return self._inherited(frame, node.attr), frame.names.get("cls")
            owner = self._value(node.value, frame)
            if isinstance(owner, ClassRef):
                method = self.evaluator.class_attribute(owner, node.attr)
                return (method if isinstance(method, Found) else None), owner
            return None, None
        value = self._value(node, frame)
        return (value if isinstance(value, Found) else None), None

    def _inherited(self, frame: _Frame, name: str) -> Found | None:
        assert frame.owner is not None
        for base in self.evaluator.bases(frame.owner)[1:]:
            method = self.evaluator.class_attribute(base, name)
            if isinstance(method, Found):
                return method
        return None

    def _add(self, node: ast.Call, frame: _Frame) -> None:
        names: list[Any] = []
        for argument in node.args:
            if isinstance(argument, ast.Starred):
                extra = self._value(argument.value, frame)
                names.extend(extra if isinstance(extra, list) else [])
            else:
                names.append(self._value(argument, frame))
        keywords: Keywords = {}
        for keyword in node.keywords:
            value = self._value(keyword.value, frame)
            if keyword.arg is not None:
                keywords[keyword.arg] = value
            elif isinstance(value, dict):
                keywords.update(value)
        written = tuple(name for name in names if isinstance(name, str))
        if written:
            keywords = {name: _by_name(value) for name, value in keywords.items()}
            origin = keywords.pop(ORIGIN, None)
            # In a loop over fields the call's own line says nothing about the option; its field's does.
            literal = any(isinstance(argument, ast.Constant) for argument in node.args)
            file, line = (frame.module.file, node.lineno) if literal or origin is None else origin
            self.arguments.append(Argument(written, keywords, file, line))


def _by_name(value: Value) -> Value:
    """A function or class given as a keyword (a type, an action) by its name, which is all that matters of it."""
    if isinstance(value, ClassRef):
        return Unknown(value.node.name)
    if isinstance(value, Found) and isinstance(value.node, ast.FunctionDef):
        return Unknown(value.node.name)
    return value
