"""Architectures whose class says that it hands hidden states to an EAGLE-3 head: the engine asks for this at load.

The class itself or one that it inherits from names the interface among its bases.
"""

from __future__ import annotations

import ast

from specconf.engines.vllm.harvest.registry import registry_rows
from specconf.engines.vllm.harvest.source import Found
from specconf.engines.vllm.harvest.symbols import ClassRef
from specconf.engines.vllm.harvest.tables import Reading
from specconf.harvest.intervals import Row

_MODELS = "vllm.model_executor.models"
_INTERFACE = "SupportsEagle3"
_FLAG = "supports_eagle3"


def model_rows(reading: Reading) -> list[Row]:
    """The rows of the registry, and those of `eagle3_interface`."""
    registry = registry_rows(reading)
    return [*registry, *_interface_rows(reading, registry)]


def _interface_rows(reading: Reading, registry: list[Row]) -> list[Row]:
    """One row for each architecture of the registry whose class has it; none before the engine has the interface."""
    archive = reading.evaluator.tree.archive
    if not any(_INTERFACE in archive.text(file) for file in archive.below("vllm/model_executor/models")):
        return []
    return [found for row in registry if row["table"] == "model_registry" and (found := _row(reading, row))]


def _row(reading: Reading, row: Row) -> Row | None:
    """The row of one architecture, with the place of the class that names the interface."""
    name = row["module"] if row["module"].startswith("vllm.") else f"{_MODELS}.{row['module']}"
    found = reading.named(name, row["class"])
    if not isinstance(found, Found) or not isinstance(found.node, ast.ClassDef):
        return None
    for cls in reading.evaluator.bases(ClassRef(found.module, found.node)):
        if _names_it(cls.node):
            return reading.row("eagle3_interface", row["value"], cls.module.file, cls.node.lineno, module=row["module"])
    return None


def _names_it(node: ast.ClassDef) -> bool:
    """Whether a class has the interface among its bases, or sets the flag by which the interface is told."""
    if any(ast.unparse(base).rpartition(".")[2] == _INTERFACE for base in node.bases):
        return True
    assigned = [statement for statement in node.body if isinstance(statement, ast.Assign | ast.AnnAssign)]
    targets = [t for one in assigned for t in (one.targets if isinstance(one, ast.Assign) else [one.target])]
    return any(isinstance(target, ast.Name) and target.id == _FLAG for target in targets)
