"""Architectures whose class lets a draft have hidden states of its inner layers: one table for each method that asks for them.

The engine asks the loaded model for a method by name, so what counts is whether the registered class or one that it inherits
from has it. A class that answers for names it does not have itself (`__getattr__`) hands them on to a model inside, whose own
methods are not known here: it stands in the tables as well.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from specconf.engines.sglang.harvest.evaluate import ClassIn, NotStatic, Scope
from specconf.engines.sglang.harvest.release import Release
from specconf.engines.sglang.harvest.rows import table_row
from specconf.harvest.intervals import Row

_TABLES: Mapping[str, str] = {
    "eagle3_capture": "set_eagle3_layers_to_capture",
    "dflash_capture": "set_dflash_layers_to_capture",
    "dspark_capture": "set_dspark_layers_to_capture",
}
_HANDS_ON = "__getattr__"


def capture_rows(release: Release, registered: list[Row]) -> list[Row]:
    """One row for each architecture of the registry's rows whose class has the method that the table is about."""
    asked = {table: method for table, method in _TABLES.items() if _speaks_of(release, method)}
    found: list[Row] = []
    for row in registered if asked else ():
        if row["table"] == "model_registry":
            lines = [(cls, _methods(cls.node)) for cls in _inherited(release, row)]
            found += [one for table, method in asked.items() if (one := _row(release, row, table, method, lines))]
    return found


def _speaks_of(release: Release, method: str) -> bool:
    """Whether a model of the release has the method at all."""
    files = release.archive.below("sglang/srt/models")
    return any(f"def {method}" in release.archive.text(file) for file in files)


def _row(
    release: Release, row: Row, table: str, method: str, lines: list[tuple[ClassIn, Mapping[str, int]]]
) -> Row | None:
    """The row of one architecture, at the first of its classes that has the method; without one, that hands names on."""
    for name in (method, _HANDS_ON):
        for cls, methods in lines:
            if name in methods:
                return table_row(release, cls.module, methods[name], table, row["value"])
    return None


def _methods(node: ast.ClassDef) -> Mapping[str, int]:
    """The names of a class's own methods and of what its body assigns, each with its line."""
    found = {part.name: part.lineno for part in node.body if isinstance(part, ast.FunctionDef)}
    for part in node.body:
        if isinstance(part, ast.Assign):
            found |= {target.id: part.lineno for target in part.targets if isinstance(target, ast.Name)}
    return found


def _inherited(release: Release, row: Row) -> Iterator[ClassIn]:
    """The class of a row of the registry and all that it inherits from inside the engine, the nearest first."""
    module = release.evaluator.sources.module(row["module"].removesuffix(".py").replace("/", "."))
    waiting: list[tuple[ast.expr, Scope]] = []
    if module is not None:
        waiting.append((ast.Name(id=row["class"], ctx=ast.Load()), Scope(module)))
    seen: set[tuple[str, int]] = set()
    while waiting:
        node, scope = waiting.pop(0)
        try:
            cls = release.evaluator.class_of(node, scope)
        except NotStatic:  # a class of another package: none of those has the methods
            continue
        if (cls.module.name, cls.node.lineno) not in seen:
            seen.add((cls.module.name, cls.node.lineno))
            yield cls
            waiting += [(base, Scope(cls.module)) for base in cls.node.bases]
