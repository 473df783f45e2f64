"""Lists that a release compares a model with before it speculates: targets of EAGLE3 heads, architectures, algorithms.

`eagle3_targets`: texts of which the target's model type must contain one; `methods` says for which drafts.
`runner_architectures`: architectures that choose between the model runners by themselves; `list` is the engine's name
of the list. `speculators_algorithms`: what a checkpoint in the Speculators format may declare.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from specconf.engines.vllm.harvest.source import Module
from specconf.engines.vllm.harvest.symbols import Scope
from specconf.engines.vllm.harvest.tables import Reading, methods, unique
from specconf.harvest.intervals import Row

_TARGET_TYPE = "target_model_config.hf_text_config.model_type"
_RUNNER_MODULE = "vllm.config.vllm"
_SPECULATORS = "vllm.transformers_utils.configs.speculators.algos"


def allow_list_rows(reading: Reading) -> list[Row]:
    """The rows of all these tables."""
    return unique(
        [*_eagle3_targets(reading), *_runner_lists(reading), *_architecture_lists(reading), *_algorithms(reading)]
    )


def _eagle3_targets(reading: Reading) -> Iterator[Row]:
    """From conditions that refuse a launch when the target's model type contains none of some texts."""
    found = reading.speculative()
    if found is None:
        return
    module, owner = found
    for function in methods(owner):
        names = {
            node.targets[0].id: node.value
            for node in ast.walk(function)
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
        }
        for node in ast.walk(function):
            if isinstance(node, ast.If) and any(isinstance(inner, ast.Raise) for inner in node.body):
                words = _methods(reading, module, node.test)
                for text in _required(node.test, names):
                    if words:
                        line, value = text.lineno, str(text.value)
                        yield reading.row("eagle3_targets", value, module.file, line, match="contains", methods=words)


def _methods(reading: Reading, module: Module, test: ast.expr) -> list[str]:
    """The methods that a condition is about."""
    for node in ast.walk(test):
        if isinstance(node, ast.Compare) and ast.unparse(node.left) == "self.method":
            value = reading.evaluator.evaluate(node.comparators[0], Scope(module, {}))
            return [value] if isinstance(value, str) else [str(item) for item in value if isinstance(item, str)]
    return []


def _required(test: ast.expr, names: dict[str, ast.expr]) -> Iterator[ast.Constant]:
    """The texts of `"x" not in T` or `not any(t in T for t in LIST)`, where T is the target's model type."""
    for node in ast.walk(test):
        match node:
            case ast.Compare(left=ast.Constant(value=str()) as text, ops=[ast.NotIn()], comparators=[other]):
                if ast.unparse(other).endswith(_TARGET_TYPE):
                    yield text
            case ast.GeneratorExp(elt=ast.Compare(ops=[ast.In()], comparators=[other]), generators=[generator]):
                source = generator.iter
                listed = names.get(source.id) if isinstance(source, ast.Name) else source
                if ast.unparse(other).endswith(_TARGET_TYPE) and isinstance(listed, ast.List | ast.Tuple | ast.Set):
                    yield from (item for item in listed.elts if isinstance(item, ast.Constant))


def _runner_lists(reading: Reading) -> Iterator[Row]:
    module = reading.evaluator.tree.module(_RUNNER_MODULE)
    yield from _lists(reading, module, "runner_architectures", ("V2_MODEL_RUNNER", "MRV1", "MRV2"))


def _architecture_lists(reading: Reading) -> Iterator[Row]:
    """Lists of architectures beside the speculative configuration."""
    found = reading.speculative()
    if found and found[0].name != "vllm.config":
        yield from _lists(reading, found[0], "draft_architecture_lists", ("ARCHITECTURES",))


def _lists(reading: Reading, module: Module | None, table: str, parts: tuple[str, ...]) -> Iterator[Row]:
    """The texts of the module's constant lists whose names have one of these parts; the name tells rows apart."""
    for name, node in module.symbols.items() if module else ():
        if module and name.isupper() and "ARCHITECTURES" in name and any(part in name for part in parts):
            listed = node.args[0] if isinstance(node, ast.Call) and node.args else node
            for item in listed.elts if isinstance(listed, ast.List | ast.Tuple | ast.Set) else ():
                if isinstance(item, ast.Constant):
                    where = name.strip("_").lower()
                    yield reading.row(table, str(item.value), module.file, item.lineno, where=where)


def _algorithms(reading: Reading) -> Iterator[Row]:
    """From the decorator that registers the reader of each algorithm."""
    module = reading.evaluator.tree.module(_SPECULATORS)
    for node in module.tree.body if module else ():
        for decorator in node.decorator_list if isinstance(node, ast.FunctionDef) else ():
            match decorator:
                case ast.Call(func=ast.Name(id="register_speculator"), args=[ast.Constant(value=str(name))]) if module:
                    yield reading.row("speculators_algorithms", name, module.file, decorator.lineno)
