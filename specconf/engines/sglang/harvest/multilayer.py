"""The target architectures for which the literal EAGLE turns multi-layer EAGLE on: table `multi_layer_eagle`.

First branches over the architecture in the argument record, then functions that are registered for architectures and
return what to override.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from specconf.engines.sglang.harvest.evaluate import Module, NotStatic, Scope
from specconf.engines.sglang.harvest.release import Release
from specconf.engines.sglang.harvest.rows import branches, last_name, table_row, unique
from specconf.harvest.intervals import Row

_FIELD = "enable_multi_layer_eagle"
_RECORD, _GROUPS = "sglang/srt/server_args.py", "sglang/srt/arg_groups"
_REGISTER = ("_register_for", "register_model_override", "register_model_override_predicate")


def multi_layer_rows(release: Release) -> list[Row]:
    """The rows of `multi_layer_eagle`."""
    rows: list[Row] = []
    for file in (_RECORD, *release.archive.below(_GROUPS)):
        if _FIELD not in release.archive.text(file):
            continue
        module = release.evaluator.sources.module(file.removesuffix(".py").replace("/", "."))
        for node in ast.walk(module.tree) if module is not None else ():
            assert module is not None
            rows += _registered(release, module, node)
            rows += _branched(release, module, node)
    return unique(rows)


def _registered(release: Release, module: Module, node: ast.AST) -> Iterator[Row]:
    """The architectures that a function which turns it on is registered for."""
    if not isinstance(node, ast.FunctionDef):
        return
    for call in node.decorator_list:
        if isinstance(call, ast.Call) and last_name(call.func) in _REGISTER and _turns_on(node.body):
            yield from _rows(release, module, [name for arg in call.args for name in _named(arg)], node.lineno)


def _named(argument: ast.expr) -> list[ast.expr]:
    """What a registration names: each argument, or what a function of the architecture compares it with."""
    match argument:
        case ast.Lambda(args=ast.arguments(args=[parameter]), body=test):
            return _architectures(test, parameter.arg)
    return [argument]


def _branched(release: Release, module: Module, node: ast.AST) -> Iterator[Row]:
    """The architectures of a branch that turns it on."""
    if not isinstance(node, ast.If):
        return
    for test, body, line in branches([node]):
        compared = _architectures(test, "model_arch") if test is not None else []
        if compared and _turns_on(body):
            yield from _rows(release, module, compared, line)


def _architectures(test: ast.expr, variable: str) -> list[ast.expr]:
    """What a condition holds against the architecture, which is a name, or a text that another is looked for in."""
    match test:
        case ast.Compare(left=left, ops=[ast.Eq() | ast.In()], comparators=[right]):
            names = [side for side in (left, right) if last_name(side) == variable]
            return [side for side in (left, right) if side not in names] if names else []
        case ast.BoolOp(values=parts):
            return [found for part in parts for found in _architectures(part, variable)]
    return []


def _turns_on(body: list[ast.stmt]) -> bool:
    """Whether statements turn it on under a condition on the literal EAGLE, and under no other architecture's."""
    for test, inner, _ in branches(body):
        if test is not None and "'EAGLE'" in ast.unparse(test) and any(_sets(statement) for statement in inner):
            return True
    return False


def _sets(statement: ast.stmt) -> bool:
    match statement:
        case ast.Assign(targets=[ast.Attribute(attr=name)], value=ast.Constant(value=True)):
            return name == _FIELD
        case ast.Assign(targets=[ast.Subscript(slice=ast.Constant(value=name))], value=ast.Constant(value=True)):
            return name == _FIELD
        case ast.Return(value=ast.Dict(keys=keys)):
            return any(isinstance(key, ast.Constant) and key.value == _FIELD for key in keys)
    return False


def _rows(release: Release, module: Module, nodes: list[ast.expr], line: int) -> Iterator[Row]:
    for node in nodes:
        try:
            value = release.evaluator.plain(node.value if isinstance(node, ast.Starred) else node, Scope(module))
        except NotStatic as reason:
            release.unread.append(f"{module.file}:{line}: an architecture with multi-layer EAGLE: {reason}")
            continue
        for name in value if isinstance(value, list) else [value]:
            yield table_row(release, module, line, "multi_layer_eagle", name)
