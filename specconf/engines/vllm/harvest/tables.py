"""All table rows of one release, the shape of one row, and what could not be settled while they were read.

What the tables say is read by the modules that `TABLES` in `run.py` lists; each yields the rows of one or a few tables.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from msgspec import Struct, field

from specconf.engines.vllm.harvest.source import Found, Module
from specconf.engines.vllm.harvest.values import Evaluator
from specconf.harvest.intervals import Row

CONFIG = "vllm.config"
SPECULATIVE_CLASS = "SpeculativeConfig"


class Reading(Struct, frozen=True):
    """One release while its tables are read: its evaluator, and notes on what was not understood."""

    evaluator: Evaluator
    release: str
    notes: list[str] = field(default_factory=list)

    def row(self, table: str, value: str, file: str, line: int, **columns: Any) -> Row:
        """One row, without the columns that are None."""
        evidence = {"file": file, "kind": "source", "line": line, "release": self.release}
        given = {name: column for name, column in columns.items() if column is not None}
        return {"table": table, "value": value, **given, "evidence": [evidence]}

    def named(self, module: str, name: str) -> Found | None:
        """What a module's name stands for, through imports; None where the release has no such module or name."""
        origin = self.evaluator.tree.module(module)
        found = self.evaluator.tree.resolve(origin, name) if origin else None
        return found if isinstance(found, Found) else None

    def class_of(self, module: str, name: str) -> tuple[Module, ast.ClassDef] | None:
        """A class by the module that has or imports it."""
        found = self.named(module, name)
        return (found.module, found.node) if found and isinstance(found.node, ast.ClassDef) else None

    def speculative(self) -> tuple[Module, ast.ClassDef] | None:
        """The class of the speculative configuration."""
        return self.class_of(CONFIG, SPECULATIVE_CLASS)


def methods(owner: ast.ClassDef) -> Iterator[ast.FunctionDef]:
    """The functions of a class's body, in their order."""
    yield from (node for node in owner.body if isinstance(node, ast.FunctionDef))


def method(owner: ast.ClassDef, name: str) -> ast.FunctionDef | None:
    """One function of a class's body."""
    return next((node for node in methods(owner) if node.name == name), None)


def unique(rows: list[Row]) -> list[Row]:
    """The first row of each table, value and place."""
    found: dict[tuple[str, str, str], Row] = {}
    for row in rows:
        found.setdefault((row["table"], row["value"], row.get("where", "")), row)
    return list(found.values())
