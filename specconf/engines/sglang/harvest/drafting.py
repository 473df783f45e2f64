"""Which class drafts for a target with MTP layers of its own: `ModelConfig` renames the architecture of a draft model.

A branch that renames only for one algorithm, or only for some checkpoints of an architecture, gives rows of a table of its
own, `bundled_drafts`, with the algorithms that its condition names.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from specconf.engines.sglang.harvest.evaluate import Module, NotStatic, Scope, bindings
from specconf.engines.sglang.harvest.release import Release
from specconf.engines.sglang.harvest.rows import branches, functions, last_name, table_row, unique
from specconf.harvest.intervals import Row

_CONFIG = "sglang.srt.configs.model_config"
_LOADERS = ("sglang.srt.utils.hf_transformers.common", "sglang.srt.utils.hf_transformers_utils")
_DRAFT = "is_draft_model"
_LOADED_AS = "_load_deepseek_v32_model"


def drafting_rows(release: Release) -> list[Row]:
    """The rows of `mtp_targets` and `bundled_drafts`."""
    module = release.evaluator.sources.module(_CONFIG)
    if module is None:
        release.unread.append(f"{_CONFIG} is not among the sources: no renamed drafts were read")
        return []
    rows: list[Row] = []
    for function in ast.walk(module.tree):
        if isinstance(function, ast.FunctionDef) and function.name in ("__init__", "_config_draft_model"):
            for test, body, line in branches(function.body):
                if test is not None and _tests_draft(test):
                    rows += _branch(release, module, function, test, body, line)
    return unique([*rows, *_loaded_as(release, module, rows)])


def _tests_draft(test: ast.expr) -> bool:
    """Whether a condition asks for a draft model, among other things."""
    parts = test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]
    return any(last_name(part) == _DRAFT for part in parts)


def _branch(
    release: Release, module: Module, function: ast.FunctionDef, test: ast.expr, body: list[ast.stmt], line: int
) -> Iterator[Row]:
    """The rows of one branch of the function that renames."""
    scope = Scope(module, local=bindings(function.body, module.name))
    renames = list(_renames(body))
    if not renames:
        return
    try:
        targets = _targets(release, test, scope) or _configured(release, test, scope)
    except NotStatic as reason:
        release.unread.append(f"{module.file}:{line}: the target of a renamed draft: {reason}")
        return
    for draft, place, algorithms in renames:
        name = _draft_name(release, draft, test, scope)
        if not targets or not name:
            release.unread.append(f"{module.file}:{place}: a renamed draft is not read: {ast.unparse(draft)}")
        for target in targets if name else ():
            columns = {"algorithms": algorithms} if algorithms else {}
            table = "bundled_drafts" if algorithms else "mtp_targets"
            yield table_row(release, module, place, table, target, draft=name, **columns)


def _targets(release: Release, test: ast.expr, scope: Scope) -> list[str]:
    """The architectures that a condition compares `architectures[0]` with."""
    found: list[str] = []
    for node in ast.walk(test):
        match node:
            case ast.Compare(left=ast.Subscript(value=owner), ops=[ast.Eq() | ast.In()], comparators=[right]):
                if last_name(owner) == "architectures":
                    value = release.evaluator.plain(right, scope)
                    found += value if isinstance(value, list) else [value]
    return found


def _renames(body: list[ast.stmt]) -> Iterator[tuple[ast.expr, int, list[str]]]:
    """The assignments of a new architecture in a branch: value, line, and the algorithms that it depends on."""
    for statement in body:
        match statement:
            case ast.Assign(targets=[ast.Subscript(value=owner)], value=value) if last_name(owner) == "architectures":
                yield value, statement.lineno, []
            case ast.Assign(targets=[ast.Attribute(attr="architectures")], value=ast.List(elts=[value])):
                yield value, statement.lineno, []
    for test, inner, _ in branches(body):
        algorithms = [] if test is None else _algorithms(test)
        yield from ((value, line, algorithms) for value, line, _ in _renames(inner))


def _algorithms(test: ast.expr) -> list[str]:
    """The algorithms that a condition names."""
    return [node.value for node in ast.walk(test) if isinstance(node, ast.Constant) and isinstance(node.value, str)]


def _draft_name(release: Release, node: ast.expr, test: ast.expr, scope: Scope) -> str:
    """The new architecture: a text, or what a method of the target's config class returns at its end."""
    match node:
        case ast.Constant(value=str(name)):
            return name
        case ast.Call(func=ast.Attribute(attr=method), args=[]):
            returned = [_returned(release, owner, method, scope) for owner in _config_classes(test)]
            return returned[0] if len(returned) == 1 else ""
    return ""


def _config_classes(test: ast.expr) -> list[ast.expr]:
    """The classes that a condition asks a config to be an instance of."""
    found: list[ast.expr] = []
    for node in ast.walk(test):
        match node:
            case ast.Call(func=ast.Name(id="isinstance"), args=[_, ast.Name() as owner]):
                found.append(owner)
    return found


def _returned(release: Release, owner: ast.expr, method: str, scope: Scope) -> str:
    """The text that a method of a config class returns at its end; empty where it is no text."""
    found = release.evaluator.class_of(owner, scope).node
    for node in found.body:
        match node:
            case ast.FunctionDef(name=name, body=[*_, ast.Return(value=ast.Constant(value=str(text)))]) if (
                name == method
            ):
                return text
    return ""


def _configured(release: Release, test: ast.expr, scope: Scope) -> list[str]:
    """The registered target of a config class: the draft's own name without its suffix, where a model has that name."""
    found: list[str] = []
    for owner in _config_classes(test):
        config = release.evaluator.class_of(owner, scope)
        drafts = [
            _returned(release, owner, node.name, scope)
            for node in config.node.body
            if isinstance(node, ast.FunctionDef)
        ]
        for draft in drafts:
            stem = draft.removesuffix("NextN")
            if stem != draft and _names_class(release, config.module, stem):
                found.append(stem)
    return found


def _names_class(release: Release, config: Module, name: str) -> bool:
    """Whether the model module beside a config module registers a class of that name."""
    file = f"sglang/srt/models/{config.name.rpartition('.')[2]}.py"
    return file in release.archive and name in release.archive.text(file)


def _loaded_as(release: Release, config: Module, rows: list[Row]) -> Iterator[Row]:
    """A config that is loaded as another architecture's, and so is renamed like that one.

    The release names the architecture that it stands for among those it compares configs with.
    """
    for name in _LOADERS:
        module = release.evaluator.sources.module(name)
        for function in functions(module, _LOADED_AS) if module is not None else ():
            assert module is not None
            written = _written(function)
            old, new = str(written.get("model_type", "")), "deepseek_v32"
            stands_for = str(written.get("architectures", "")).replace(_camel(old), _camel(new))
            known = {node.value for node in ast.walk(config.tree) if isinstance(node, ast.Constant)}
            for row in rows if stands_for in known else ():
                if row["table"] == "mtp_targets" and row["value"] == written["architectures"]:
                    yield table_row(release, module, function.lineno, "mtp_targets", stands_for, draft=row["draft"])


def _written(function: ast.AST) -> dict[str, str]:
    """The keys of a config that a function writes texts to."""
    found: dict[str, str] = {}
    for node in ast.walk(function):
        match node:
            case ast.Assign(
                targets=[ast.Subscript(slice=ast.Constant(value=str(key)))], value=ast.Constant(value=str(text))
            ):
                found[key] = text
            case ast.Assign(
                targets=[ast.Subscript(slice=ast.Constant(value=str(key)))],
                value=ast.List(elts=[ast.Constant(value=str(text))]),
            ):
                found[key] = text
    return found


def _camel(model_type: str) -> str:
    """`deepseek_v3` as its classes are named: `DeepseekV3`."""
    return "".join(part.capitalize() for part in model_type.split("_"))
