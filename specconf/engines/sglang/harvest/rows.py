"""Table rows as this harvester writes them, and what several readers ask of a function's syntax."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from specconf.engines.sglang.harvest.evaluate import Module
from specconf.engines.sglang.harvest.release import Release
from specconf.harvest.intervals import Row

Function = ast.FunctionDef | ast.AsyncFunctionDef


def table_row(release: Release, module: Module, line: int, table: str, value: str, **columns: Any) -> Row:
    """One row of a table, read at a line of a module."""
    return {"table": table, "value": value, **columns, "evidence": [release.place(module, line).evidence()]}


def unique(rows: list[Row]) -> list[Row]:
    """The first row of each table, value and place."""
    found: dict[tuple[str, str, str], Row] = {}
    for row in rows:
        found.setdefault((row["table"], row["value"], row.get("where", "")), row)
    return list(found.values())


def functions(module: Module, name: str) -> list[Function]:
    """The functions and methods of that name, in the order of the source."""
    found = [node for node in ast.walk(module.tree) if isinstance(node, Function) and node.name == name]
    return sorted(found, key=lambda node: node.lineno)


def calls_in(node: ast.AST) -> list[ast.Call]:
    """The calls below a node in the order of the source."""
    found = [child for child in ast.walk(node) if isinstance(child, ast.Call)]
    return sorted(found, key=lambda call: (call.lineno, call.col_offset))


def last_name(node: ast.expr) -> str:
    """The last part of a dotted name: `argparse.ArgumentParser` as `ArgumentParser`; empty for anything else."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def compared_with(test: ast.expr, name: str) -> list[ast.expr]:
    """What a condition compares the variable or field `name` with by `==` or `in`, any alternative of an `or` among them."""
    match test:
        case ast.Compare(left=left, ops=[ast.Eq() | ast.In()], comparators=[right]) if last_name(left) == name:
            return [right]
        case ast.BoolOp(op=ast.Or() | ast.And(), values=parts):
            return [found for part in parts for found in compared_with(part, name)]
    return []


def branches(body: list[ast.stmt]) -> Iterator[tuple[ast.expr | None, list[ast.stmt], int]]:
    """The branches of the `if` statements in a body, `elif` ones flat: condition (None: `else`), statements, line."""
    for statement in body:
        current: ast.stmt = statement
        while isinstance(current, ast.If):
            yield current.test, current.body, current.lineno
            if len(current.orelse) == 1 and isinstance(current.orelse[0], ast.If):
                current = current.orelse[0]
                continue
            if current.orelse:
                yield None, current.orelse, current.orelse[0].lineno
            break
