"""The families of models that a release turns into MTP drafts, from its own override of the draft's config.

`mtp_families`: every model type or first architecture that the override tests for, with the architecture and model
type it becomes, the config keys that say how many layers it has, and the method word that the release gives it.
`mtp_filled_in`: model types of targets that are taken as their own draft where no draft is written (before 0.11.0).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from specconf.engines.vllm.harvest.overrides import NONE_OF_THEM, UNKNOWN, Config, OneOf, Overrides, Read, State
from specconf.engines.vllm.harvest.source import Module
from specconf.engines.vllm.harvest.symbols import Member, Scope, Value
from specconf.engines.vllm.harvest.tables import Reading, method, methods
from specconf.harvest.intervals import Row

_OVERRIDE = "hf_config_override"
_TARGET_TYPE = "target_model_config.hf_text_config.model_type"
_DRAFT_TYPE = "draft_model_config.hf_config.model_type"
_BY_TYPE, _BY_ARCHITECTURE = "model_type", "architecture"


def family_rows(reading: Reading) -> list[Row]:
    """The rows of `mtp_families` and `mtp_filled_in`; none in a release that has no such override."""
    found = reading.speculative()
    function = method(found[1], _OVERRIDE) if found else None
    if found is None or function is None:
        return []
    module, owner = found
    filled = dict(_filled_in(reading, module, owner))
    words = dict(_words(reading, module, owner))
    overrides = Overrides(reading.evaluator, module, function)
    rows = []
    for value, (by, line, contains) in _tested(function).items():
        state = overrides.of(*((value, NONE_OF_THEM) if by == _BY_TYPE else (NONE_OF_THEM, value)))
        columns = _columns(reading, value, state, words)
        if columns is not None:
            fills = True if value in filled else None
            match = "contains" if contains else None
            columns |= {"by": by, "match": match, "fills_model": fills}
            rows.append(reading.row("mtp_families", value, module.file, line, **columns))
    return rows + [reading.row("mtp_filled_in", value, module.file, line) for value, line in filled.items()]


def _tested(function: ast.FunctionDef) -> dict[str, tuple[str, int, bool]]:
    """The texts that the override compares with a config's model type or architecture, with the first line of each.

    The last member says that a model type only has to contain the text.
    """
    found: dict[str, tuple[str, int, bool]] = {}
    for node in ast.walk(function):
        match node:
            case ast.Compare(left=ast.Constant(value=str(text)) as left, ops=[ast.In()], comparators=[other]):
                found.setdefault(text, (_by(other), left.lineno, _by(other) == _BY_TYPE))
            case ast.Compare(left=left, ops=[ast.Eq() | ast.In()], comparators=[other]) if _by(left):
                for text, line in _texts(other):
                    found.setdefault(text, (_by(left), line, False))
            case ast.Call(func=ast.Attribute(value=ast.Set() as texts, attr="intersection"), args=[other]) if _by(
                other
            ):
                for text, line in _texts(texts):
                    found.setdefault(text, (_by(other), line, False))
    return {text: place for text, place in found.items() if place[0]}


def _by(node: ast.expr) -> str:
    """Whether an expression is about a model type or about architectures; empty if about neither."""
    text = ast.unparse(node)
    if "model_type" in text:
        return _BY_TYPE
    return _BY_ARCHITECTURE if "arch" in text else ""


def _texts(node: ast.expr) -> Iterator[tuple[str, int]]:
    for inner in ast.walk(node):
        if isinstance(inner, ast.Constant) and isinstance(inner.value, str):
            yield inner.value, inner.lineno


def _columns(reading: Reading, value: str, state: State, words: dict[str, str]) -> dict[str, Value] | None:
    """What the override makes of a config; None when it gives it no number of layers, so that it is no MTP draft."""
    config = state.returned
    if not isinstance(config, Config) or config.key("n_predict") not in state.entries:
        return None
    depth = state.entries[config.key("n_predict")]
    model_type = state.entries.get(config.key("model_type"), UNKNOWN)
    architectures = state.entries.get(config.key("architectures"), UNKNOWN)
    columns: dict[str, Value] = {}
    if isinstance(model_type, str) and model_type != NONE_OF_THEM:
        columns["draft_model_type"] = model_type
        columns["word"] = words.get(model_type)
    match architectures:
        case [str(name)] if name != NONE_OF_THEM:
            columns["draft_architectures"] = [name]
        case [OneOf(texts=names)]:
            columns["draft_architectures"] = sorted(names)
    match depth:
        case Read(keys=keys, default=default):
            columns["depth_keys"] = list(keys)
            columns["depth_default"] = default if isinstance(default, int) else None
        case int(number):
            columns["depth"] = number
        case _:
            reading.notes.append(f"{value}: the number of its MTP layers is not read")
    columns["conditional"] = state.conditional or None
    return columns


def _words(reading: Reading, module: Module, owner: ast.ClassDef) -> Iterator[tuple[str, str]]:
    """The method word that a draft's model type leads to, for the types that the class tells apart; first one wins."""
    found: dict[str, str] = {}
    for node in _ifs(owner):
        word = next(
            (
                str(statement.value.value)
                for statement in node.body
                if isinstance(statement, ast.Assign)
                and ast.unparse(statement.targets[0]) == "self.method"
                and isinstance(statement.value, ast.Constant)
            ),
            None,
        )
        for model_type, _ in _model_types(reading, module, node.test, _DRAFT_TYPE) if word else ():
            found.setdefault(model_type, str(word))
    yield from found.items()


def _filled_in(reading: Reading, module: Module, owner: ast.ClassDef) -> Iterator[tuple[str, int]]:
    """The target's model types under which the class takes the target as the draft."""
    for node in _ifs(owner):
        fills = any(
            isinstance(statement, ast.Assign) and ast.unparse(statement.value).endswith("target_model_config.model")
            for statement in node.body
        )
        if fills:
            yield from _model_types(reading, module, node.test, _TARGET_TYPE)


def _ifs(owner: ast.ClassDef) -> Iterator[ast.If]:
    for function in methods(owner):
        yield from (node for node in ast.walk(function) if isinstance(node, ast.If))


def _model_types(reading: Reading, module: Module, test: ast.expr, of: str) -> Iterator[tuple[str, int]]:
    """The model types that a condition compares with this one."""
    for node in ast.walk(test):
        if not isinstance(node, ast.Compare) or not isinstance(node.ops[0], ast.Eq | ast.In):
            continue
        if not ast.unparse(node.left).endswith(of):
            continue
        value = reading.evaluator.evaluate(node.comparators[0], Scope(module, {}))
        for item in value if isinstance(value, list | tuple | set) else [value]:
            text = item.value if isinstance(item, Member) else item
            if isinstance(text, str):
                yield text, node.lineno
            else:
                reading.notes.append(f"{module.file}:{node.lineno}: a model type that is not read")
