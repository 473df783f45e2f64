"""Members of the speculative configuration, and the environment variables that the engine reads."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from specconf.engines.vllm.harvest.hints import Hint, kinds, read_hints
from specconf.engines.vllm.harvest.rows import SPECULATIVE
from specconf.engines.vllm.harvest.source import Found, Import, Module
from specconf.engines.vllm.harvest.symbols import (
    MISSING,
    ClassRef,
    Field,
    Scope,
    Unknown,
    contains_unknown,
    to_json,
)
from specconf.engines.vllm.harvest.values import Evaluator
from specconf.harvest.intervals import Row

MEMBERS = "vllm.speculative_config"
ENVIRONMENT = "vllm.env"
# Fields that the engine fills itself; a value written by a user is overwritten or breaks the start.
INTERNAL = frozenset(
    {
        "target_model_config",
        "target_parallel_config",
        "draft_model_config",
        "draft_parallel_config",
        "draft_load_config",
        "enable_chunked_prefill",
        "disable_log_stats",
    }
)
_SCALARS = ("bool", "int", "float", "str")


def member_rows(evaluator: Evaluator, release: str) -> list[Row]:
    """The rows of scope `vllm.speculative_config`; none before the class is filled from what users write (0.8.2)."""
    tree = evaluator.tree
    module = tree.module("vllm.config")
    found = tree.resolve(module, "SpeculativeConfig") if module else None
    if not isinstance(found, Found) or not isinstance(found.node, ast.ClassDef):
        return []
    owner = ClassRef(found.module, found.node)
    rows = [_member_row(evaluator, field, release) for field in evaluator.fields(owner).values()]
    if not _validates(owner):
        for row in rows:
            row.pop("choices", None)
    return rows


def _validates(owner: ClassRef) -> bool:
    """Whether values are checked against the annotations: a plain dataclass (to 0.9.0.1) takes whatever it is given."""
    decorators = {ast.unparse(item).partition("(")[0] for item in owner.node.decorator_list}
    bound = owner.module.symbols.get("dataclass")
    return "dataclass" not in decorators or (isinstance(bound, Import) and bound.module.startswith("pydantic"))


def _member_row(evaluator: Evaluator, field: Field, release: str) -> Row:
    hints = read_hints(evaluator, field.annotation, field.module)
    row: Row = {
        "scope": MEMBERS,
        "path": f"{SPECULATIVE}.{field.name}",
        "names": [field.name],
        "evidence": [{"file": field.module.file, "kind": "source", "line": field.line, "release": release}],
        **_member_shape(hints),
    }
    default = evaluator.default(field)
    if default is not MISSING and not contains_unknown(to_json(default)):
        row["default"] = to_json(default)
    elif isinstance(default, Unknown):
        row["default_expr"] = default.text
    bounds = evaluator.bounds(field)
    if bounds:
        row["bounds"] = bounds
    if "none" in kinds(hints):
        row["nullable"] = True
    if ast.unparse(field.annotation).startswith("SkipValidation["):
        row["parser"] = "SkipValidation"  # the value is kept as it is given
    if field.name in INTERNAL:
        row["internal"] = True
        row.pop("type", None)
    return row


def _member_shape(hints: tuple[Hint, ...]) -> dict[str, Any]:
    """Kind, type and choices of a member that is written as JSON."""
    wanted = [hint for hint in hints if hint.kind != "none"]
    if len(wanted) == 1 and wanted[0].kind == "literal":
        values = list(wanted[0].values)
        return {"kind": "value", "type": type(values[0]).__name__, "choices": values}
    found = kinds(tuple(wanted))
    if found & {"list", "tuple", "set"}:
        return {"kind": "value", "type": "json"}
    if found & {"dict", "dataclass"}:
        return {"kind": "value", "type": "json"}
    scalars = [kind for kind in _SCALARS if kind in found]
    # A Literal beside str restricts nothing; a class that is none of these is an enumeration, written as its text.
    if scalars == ["str"] or (not scalars and found == {"class"}) or found == {"literal", "str"}:
        return {"kind": "value", "type": "str"}
    return {"kind": "value", "type": scalars[0]} if len(scalars) == 1 else {"kind": "value"}


def environment_rows(evaluator: Evaluator, release: str) -> list[Row]:
    """The rows of scope `vllm.env`: the variables of `vllm/envs.py`, with the defaults it declares."""
    module = evaluator.tree.module("vllm.envs")
    if module is None:
        return []
    table = module.symbols.get("environment_variables")
    if not isinstance(table, ast.Dict):
        return []
    declared = _declarations(module)
    rows = []
    for key, reader in zip(table.keys, table.values, strict=True):
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            row = _variable(evaluator, module, key.value, reader, declared.get(key.value))
            evidence = {"file": module.file, "kind": "source", "line": key.lineno, "release": release}
            rows.append({**row, "evidence": [evidence]})
    return rows


def _variable(
    evaluator: Evaluator, module: Module, name: str, reader: ast.expr, declaration: ast.AnnAssign | None
) -> Row:
    row: Row = {"scope": ENVIRONMENT, "path": f"env.{name}", "names": [name], "kind": "value"}
    if declaration is None:
        return row
    hints = [hint for hint in read_hints(evaluator, declaration.annotation, module) if hint.kind != "none"]
    if len(hints) == 1 and hints[0].kind in _SCALARS:
        row["type"] = hints[0].kind
    if declaration.value is not None:
        default = evaluator.evaluate(declaration.value, Scope(module, {}))
        if not contains_unknown(default) and _agrees(name, default, reader):
            row["default"] = default
    return row


def _declarations(module: Module) -> dict[str, ast.AnnAssign]:
    """The variables' declared types and defaults, which the engine writes for type checkers only."""
    found: dict[str, ast.AnnAssign] = {}
    for node in module.tree.body:
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            found.update(
                (item.target.id, item)
                for item in node.body
                if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name)
            )
    return found


def _agrees(name: str, default: Any, reader: ast.expr) -> bool:
    """Whether the reading function's own fallback is the declared default; the declaration alone proves nothing."""
    fallbacks = list(_fallbacks(name, reader))
    if not fallbacks:
        return False
    return all(_plain(fallback) == _plain(default) for fallback in fallbacks)


def _fallbacks(name: str, reader: ast.expr) -> Iterator[Any]:
    """What a reading function gives where the variable is not set."""
    read = reader.body if isinstance(reader, ast.Lambda) else reader
    if isinstance(read, ast.IfExp) and ast.unparse(read.test) == f"{name!r} in os.environ":
        yield read.orelse.value if isinstance(read.orelse, ast.Constant) else Unknown(ast.unparse(read.orelse))
        return  # what it reads where the variable is set is no fallback
    for node in ast.walk(reader):
        if not isinstance(node, ast.Call) or ast.unparse(node.func).rpartition(".")[2] not in ("getenv", "get"):
            continue
        if node.args and isinstance(node.args[0], ast.Constant) and node.args[0].value == name:
            given = node.args[1] if len(node.args) > 1 else ast.Constant(None)
            yield given.value if isinstance(given, ast.Constant) else Unknown(ast.unparse(given))


def _plain(value: Any) -> Any:
    """One form for the texts and values by which a default can be written."""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, int | float):
        return str(float(value)) if float(value) != int(value) else str(int(value))
    if isinstance(value, str):
        lowered = {"true": "1", "false": "0"}.get(value.lower(), value)
        try:
            return _plain(float(lowered))
        except ValueError:
            return lowered
    return value
