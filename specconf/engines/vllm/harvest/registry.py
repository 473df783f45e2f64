"""The model registry of a release: which architectures it has classes for, which it had, and what stands in for others.

Since 0.7.2 an architecture that the registry lacks may be served by a class that wraps its Transformers
implementation: `transformers_fallback` names these classes, with the values of `--model-impl` that lead to them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from specconf.engines.vllm.harvest.source import Module
from specconf.engines.vllm.harvest.symbols import Scope
from specconf.engines.vllm.harvest.tables import CONFIG, Reading, method
from specconf.errors import HarvestError
from specconf.harvest.intervals import Row

_REGISTRY = "vllm.model_executor.models.registry"
_PACKAGE = "vllm.model_executor.models"
_LOADER = "vllm.model_executor.model_loader.utils"
_WHOLE = ("_VLLM_MODELS", "_MODELS")
# Names that meant the same at other times.
_SAME_GROUP = {
    "models": "ungrouped",
    "generation": "text_generation",
    "transformers": "transformers_backend",
    "fallback": "transformers_backend",
}
_REMOVED = "_PREVIOUSLY_SUPPORTED_MODELS"
_PLUGINS = "_OOT_SUPPORTED_MODELS"
_BACKEND_CLASS = "_get_transformers_backend_cls"
_RESOLVERS = ("resolve_transformers_fallback", "resolve_transformers_arch")
_MANY = 64


def registry_rows(reading: Reading) -> list[Row]:
    """The rows of `model_registry`, `models_removed`, `models_out_of_tree` and `transformers_fallback`.

    Raises HarvestError for sources without a registry, which every release has.
    """
    module = _registry(reading)
    if module is None:
        raise HarvestError(
            f"release {reading.release}: no model registry found in {_REGISTRY} or {_PACKAGE}",
            hint="Every release has one: the source is incomplete.",
        )
    return [*_models(reading, module), *_former(reading, module), *_fallbacks(reading, module)]


def _registry(reading: Reading) -> Module | None:
    tree = reading.evaluator.tree
    for name in (_REGISTRY, _PACKAGE):
        module = tree.module(name)
        if module and any(whole in module.symbols for whole in _WHOLE):
            return module
    return None


def _models(reading: Reading, module: Module) -> Iterator[Row]:
    """An architecture's group is the first dictionary that gives it the class which it has in the whole registry."""
    whole = next(name for name in _WHOLE if name in module.symbols)
    entries = [
        (group, architecture, *pair, line)
        for group, node in _groups(reading, module, whole)
        for architecture, pair, line in _entries(reading, module, node)
    ]
    final = {architecture: (file, name) for _, architecture, file, name, _ in entries}
    for group, architecture, file, name, line in entries:
        if final.get(architecture) == (file, name):
            del final[architecture]
            yield reading.row(
                "model_registry", architecture, module.file, line, group=group, module=file, **{"class": name}
            )


def _groups(reading: Reading, module: Module, name: str) -> Iterator[tuple[str, ast.Dict]]:
    """The dictionaries that make up the registry, by the group that each stands for."""
    node = module.symbols[name]
    if not isinstance(node, ast.Dict):
        reading.notes.append(f"{module.file}: {name} is not written as a dictionary")
        return
    if any(key is not None for key in node.keys):
        yield _group(name), node
    for key, value in zip(node.keys, node.values, strict=True):
        if key is None and isinstance(value, ast.Name) and value.id in module.symbols:
            yield from _groups(reading, module, value.id)
        elif key is None and not isinstance(value, ast.DictComp):
            reading.notes.append(f"{module.file}:{value.lineno}: an unread part of {name}")


def _group(name: str) -> str:
    """`_TEXT_GENERATION_MODELS` is the group `text_generation`."""
    stem = name.strip("_").lower()
    stem = stem.removesuffix("_models").removesuffix("_model")
    return _SAME_GROUP.get(stem, stem)


def _entries(reading: Reading, module: Module, node: ast.Dict) -> Iterator[tuple[str, tuple[str, str], int]]:
    for key, value in zip(node.keys, node.values, strict=True):
        if key is None:
            continue
        match reading.evaluator.evaluate(key, Scope(module, {})), reading.evaluator.evaluate(value, Scope(module, {})):
            case str(architecture), [str(file), str(name)]:
                yield architecture, (file, name), key.lineno
            case _:
                reading.notes.append(f"{module.file}:{key.lineno}: an entry of the registry that is not read")


def _former(reading: Reading, module: Module) -> Iterator[Row]:
    """Architectures that earlier releases had, with the last of these as the source says it, or that a plugin has."""
    for name, table in ((_REMOVED, "models_removed"), (_PLUGINS, "models_out_of_tree")):
        node = module.symbols.get(name)
        for key, value in zip(node.keys, node.values, strict=True) if isinstance(node, ast.Dict) else ():
            if isinstance(key, ast.Constant) and isinstance(value, ast.Constant):
                last = str(value.value) if name == _REMOVED else None
                yield reading.row(table, str(key.value), module.file, key.lineno, last=last)


def _fallbacks(reading: Reading, registry: Module) -> Iterator[Row]:
    loader = reading.evaluator.tree.module(_LOADER)
    modules = [module for module in (registry, loader) if module]
    for name, file, line in _fallback_names(reading, modules):
        yield reading.row("transformers_fallback", name, file, line, model_impl=_implementations(modules) or None)


def _fallback_names(reading: Reading, modules: Iterable[Module]) -> Iterator[tuple[str, str, int]]:
    """The wrapping classes: what the model configuration names, or what the loader puts in the architecture's place."""
    config = reading.class_of(CONFIG, "ModelConfig")
    decides = method(config[1], _BACKEND_CLASS) if config else None
    if config and decides:
        known = {name for module in modules for symbol in module.symbols.values() for name in _literals(symbol)}
        for name in _returned(decides.body):
            if name in known:
                yield name, config[0].file, decides.lineno
        return
    seen: set[str] = set()
    for module in modules:
        for node in ast.walk(module.tree):
            if isinstance(node, ast.FunctionDef) and node.name in _RESOLVERS:
                for statement in ast.walk(node):
                    match statement:
                        case ast.Assign(targets=[ast.Subscript()], value=ast.Constant(value=str(name))) if (
                            name not in seen
                        ):
                            seen.add(name)
                            yield name, module.file, statement.lineno


def _literals(symbol: object) -> list[str]:
    keys = symbol.keys if isinstance(symbol, ast.Dict) else []
    return [str(key.value) for key in keys if isinstance(key, ast.Constant)]


def _returned(body: list[ast.stmt]) -> list[str]:
    """Every text that a function can return which pastes one together from constants, in the order of its branches."""
    returned: list[str] = []
    _paste(body, {"": [""]}, returned)
    return list(dict.fromkeys(returned))


def _paste(body: list[ast.stmt], names: dict[str, list[str]], returned: list[str]) -> dict[str, list[str]]:
    """Follow statements with the texts that each name can hold; what is returned on the way is added to `returned`."""
    for node in body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if texts := _texts(value, names):
                names[name] = texts
            case ast.AugAssign(target=ast.Name(id=name), op=ast.Add(), value=value) if texts := _texts(value, names):
                names[name] = [left + right for left in names.get(name, []) for right in texts][:_MANY]
            case ast.Return(value=ast.expr() as value):
                returned += _texts(value, names)
                return {}
            case ast.If(body=then, orelse=other):
                branches = [_paste(then, dict(names), returned), _paste(other, dict(names), returned)]
                merged = [*branches[0], *branches[1]]
                names = {
                    name: list(dict.fromkeys(text for branch in branches for text in branch.get(name, [])))
                    for name in merged
                }
            case _:
                pass
    return names


def _texts(node: ast.expr, names: dict[str, list[str]]) -> list[str]:
    """The texts that an expression can have; none when it is not made of constants."""
    match node:
        case ast.Constant(value=str(text)):
            return [text]
        case ast.IfExp(body=then, orelse=other):
            return [*_texts(then, names), *_texts(other, names)]
        case ast.Name(id=name):
            return names.get(name, [])
        case _:
            return []


def _implementations(modules: Iterable[Module]) -> list[str]:
    """The values of `--model-impl` under which these modules turn to a wrapping class."""
    found: set[str] = set()
    for module in modules:
        for node in ast.walk(module.tree):
            if isinstance(node, ast.If) and "transformers" in "".join(map(ast.unparse, node.body)).lower():
                found.update(_compared(node.test))
    return sorted(found & {"auto", "transformers"})


def _compared(test: ast.expr) -> Iterator[str]:
    """The values that a condition compares `model_impl` with, written as text or as members of an enumeration."""
    for node in ast.walk(test):
        match node:
            case ast.Compare(
                left=ast.Attribute(attr="model_impl"), ops=[ast.Eq()], comparators=[ast.Constant(value=str(text))]
            ):
                yield text.lower()
            case ast.Compare(
                left=ast.Attribute(attr="model_impl"), ops=[ast.Eq()], comparators=[ast.Attribute(attr=name)]
            ):
                yield name.lower()
