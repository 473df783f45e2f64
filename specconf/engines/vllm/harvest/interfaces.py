"""Architectures whose class has an interface that the engine asks for: handing hidden states to an EAGLE-3 head, layers
with a recurrent state beside attention (hybrid), or no attention at all.

The class itself or one that it inherits from names the interface among its bases, or sets the flag that tells it.
"""

from __future__ import annotations

import ast

from msgspec import Struct

from specconf.engines.vllm.harvest.registry import registry_rows
from specconf.engines.vllm.harvest.source import Found
from specconf.engines.vllm.harvest.symbols import ClassRef
from specconf.engines.vllm.harvest.tables import Reading
from specconf.harvest.intervals import Row

_MODELS = "vllm.model_executor.models"


class _Interface(Struct, frozen=True):
    """An interface by its table, its class, and the class attribute by which the engine tells who has it."""

    table: str
    name: str
    flag: str


_INTERFACES = (
    _Interface("eagle3_interface", "SupportsEagle3", "supports_eagle3"),
    _Interface("hybrid_interface", "IsHybrid", "is_hybrid"),
    _Interface("attention_free_interface", "IsAttentionFree", "is_attention_free"),
)


def model_rows(reading: Reading) -> list[Row]:
    """The rows of the registry, and those of the tables of `_INTERFACES`."""
    registry = registry_rows(reading)
    return [*registry, *(row for interface in _INTERFACES for row in _interface_rows(reading, registry, interface))]


def _interface_rows(reading: Reading, registry: list[Row], interface: _Interface) -> list[Row]:
    """One row for each architecture of the registry whose class has it; none before the engine has the interface."""
    archive = reading.evaluator.tree.archive
    if not any(interface.name in archive.text(file) for file in archive.below("vllm/model_executor/models")):
        return []
    models = [row for row in registry if row["table"] == "model_registry"]
    return [found for row in models if (found := _row(reading, row, interface))]


def _row(reading: Reading, row: Row, interface: _Interface) -> Row | None:
    """The row of one architecture, with the place of the class that names the interface."""
    name = row["module"] if row["module"].startswith("vllm.") else f"{_MODELS}.{row['module']}"
    found = reading.named(name, row["class"])
    if not isinstance(found, Found) or not isinstance(found.node, ast.ClassDef):
        return None
    for cls in reading.evaluator.bases(ClassRef(found.module, found.node)):
        if _names_it(cls.node, interface):
            return reading.row(interface.table, row["value"], cls.module.file, cls.node.lineno, module=row["module"])
    return None


def _names_it(node: ast.ClassDef, interface: _Interface) -> bool:
    """Whether a class has the interface among its bases, or sets the flag by which the interface is told."""
    if any(ast.unparse(base).rpartition(".")[2] == interface.name for base in node.bases):
        return True
    assigned = [statement for statement in node.body if isinstance(statement, ast.Assign | ast.AnnAssign)]
    targets = [t for one in assigned for t in (one.targets if isinstance(one, ast.Assign) else [one.target])]
    return any(isinstance(target, ast.Name) and target.id == interface.flag for target in targets)
