"""The steps, topk and draft tokens that a release chooses where none is given, by algorithm or target architecture.

`*` stands for every other target; an architecture has a row of its own only where its numbers are not those of `*`, so that
being in the table means having other numbers.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from specconf.engines.sglang.harvest.evaluate import Module
from specconf.engines.sglang.harvest.release import Release
from specconf.engines.sglang.harvest.rows import Function, branches, functions, table_row
from specconf.harvest.intervals import Row

OTHERS = "*"
_MODULES = ("sglang.srt.arg_groups.speculative_hook", "sglang.srt.server_args")
_NAMES = ("_auto_choose_speculative_params", "auto_choose_speculative_params")
_COLUMNS = ("steps", "topk", "tokens")


def number_rows(release: Release) -> list[Row]:
    """The rows of `auto_numbers`; none where the function cannot run."""
    for name in _MODULES:
        module = release.evaluator.sources.module(name)
        found = [one for each in _NAMES for one in functions(module, each)] if module is not None else []
        if module is None or not found:
            continue
        lacking = _lacking(release, found[0])
        if lacking:
            release.unread.append(
                f"{module.file}: {found[0].name} reads {lacking}, which the record does not have: it fails"
            )
            return []
        rows = list(_rows(release, module, found[0]))
        others = next((row for row in rows if row["value"] == OTHERS), None)
        return [row for row in rows if row is others or others is None or _differs(row, others)]
    return []


def _lacking(release: Release, function: Function) -> str:
    """A field that the function reads from the record though no release of it has such a field or method."""
    record = function.args.args[0]
    if record.annotation is None or "ServerArgs" not in ast.unparse(record.annotation):
        return ""
    members = {node.name for node in release.owner.node.body if isinstance(node, ast.FunctionDef)} | set(
        release.fields()
    )
    for node in ast.walk(function):
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr=attribute) if (
                name == record.arg and attribute not in members
            ):
                return attribute
    return ""


def _differs(row: Row, others: Row) -> bool:
    """Whether a row is an algorithm's, or has other numbers than every other target's."""
    return row["value"].isupper() or any(row[column] != others[column] for column in _COLUMNS)


def _rows(release: Release, module: Module, function: Function) -> Iterator[Row]:
    """A row for every value that a branch compares with."""
    for test, body, line in branches(function.body):
        match body[-1]:
            case ast.Return(value=ast.Tuple(elts=[ast.Constant(), ast.Constant(), ast.Constant()] as elements)):
                numbers = {name: node.value for name, node in zip(_COLUMNS, elements, strict=True)}  # type: ignore[attr-defined]
            case ast.Raise():
                continue
            case _:
                release.unread.append(f"{module.file}:{line}: a branch of {function.name} returns no three numbers")
                continue
        for value in [OTHERS] if test is None else _compared(release, module, test):
            yield table_row(release, module, body[-1].lineno, "auto_numbers", value, **numbers)


def _compared(release: Release, module: Module, test: ast.expr) -> list[str]:
    """The texts that a condition compares with."""
    match test:
        case ast.Compare(ops=[ast.Eq()], comparators=[ast.Constant(value=str(word))]):
            return [word]
        case ast.Compare(ops=[ast.In()], comparators=[ast.List(elts=elements) | ast.Tuple(elts=elements)]):
            return [str(node.value) for node in elements if isinstance(node, ast.Constant)]
    release.unread.append(f"{module.file}:{test.lineno}: {ast.unparse(test)} is not understood")
    return []
