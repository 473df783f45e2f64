"""What a release does with a key of the speculative configuration that its class does not have, from its declaration.

A dataclass of the standard library is called with the keys as keywords and refuses one that it lacks; one of pydantic
leaves it out unless it is declared to forbid it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from specconf.engines.vllm.harvest.source import Found, Import, Module
from specconf.engines.vllm.harvest.tables import Reading
from specconf.harvest.intervals import Row

_SCOPE = "vllm.speculative_config"
_STANDARD, _PYDANTIC = "dataclasses", "pydantic.dataclasses"


def scope_rows(reading: Reading) -> list[Row]:
    """The row of `scope_rules`; none while the class is no dataclass and no user's key reaches it."""
    found = reading.speculative()
    if found is None or not found[1].decorator_list:
        return []
    module, owner = found
    makers = list(_makers(reading, module, owner))
    if not makers:
        reading.notes.append(f"{module.file}:{owner.lineno}: how the class is made is not read")
        return []
    forbids = any(forbids for _, forbids in makers)
    answer = "rejects" if forbids or makers[0][0] == _STANDARD else "drops"
    return [reading.row("scope_rules", _SCOPE, module.file, owner.lineno, unknown_member=answer)]


def _makers(reading: Reading, module: Module, owner: ast.ClassDef) -> Iterator[tuple[str, bool]]:
    """The modules of the dataclass functions that make the class, and whether each is told to forbid further keys."""
    for decorator in owner.decorator_list:
        name = decorator.func if isinstance(decorator, ast.Call) else decorator
        if not isinstance(name, ast.Name):
            continue
        kind = _dataclass_module(module, name.id)
        if kind:
            yield kind, _forbids(decorator)
            continue
        found = reading.evaluator.tree.resolve(module, name.id)
        if isinstance(found, Found) and isinstance(found.node, ast.FunctionDef):
            calls = (node.func for node in ast.walk(found.node) if isinstance(node, ast.Call))
            names = {call.id for call in calls if isinstance(call, ast.Name)}
            for kind in sorted({_dataclass_module(found.module, called) for called in names} - {""}):
                yield kind, _forbids(found.node) or _forbids(decorator)


def _dataclass_module(module: Module, name: str) -> str:
    """The module whose `dataclass` a name stands for; empty for any other name."""
    bound = module.symbols.get(name)
    known = isinstance(bound, Import) and bound.member == "dataclass" and bound.module in (_STANDARD, _PYDANTIC)
    return bound.module if known and isinstance(bound, Import) else ""


def _forbids(node: ast.AST) -> bool:
    """Whether `extra="forbid"` stands anywhere in a declaration."""
    return any(
        keyword.arg == "extra" and isinstance(keyword.value, ast.Constant) and keyword.value.value == "forbid"
        for keyword in ast.walk(node)
        if isinstance(keyword, ast.keyword)
    )
