"""The Prometheus metrics about speculation, with the kind that a release makes of each and the file that makes it.

Names are the source's: where a counter's lacks `_total`, the exposition adds it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from specconf.engines.vllm.harvest.tables import Reading, unique
from specconf.harvest.intervals import Row

_NAME = re.compile(r"vllm:\w*(?:spec|draft)\w*")
_MAKER = re.compile(r"_?(gauge|counter|histogram)(?:_cls)?", re.IGNORECASE)
_FOLDERS = ("vllm/engine", "vllm/v1", "vllm/spec_decode")


def metric_rows(reading: Reading) -> list[Row]:
    """The rows of `metrics`."""
    archive = reading.evaluator.tree.archive
    files = [file for folder in _FOLDERS for file in archive.below(folder)]
    return unique([row for file in files if _NAME.search(archive.text(file)) for row in _in_file(reading, file)])


def _in_file(reading: Reading, file: str) -> Iterator[Row]:
    tree = reading.evaluator.tree.archive.parsed(file)
    for name, line, kinds in _named(tree, set()):
        if len(kinds) == 1:
            yield reading.row("metrics", name, file, line, kind=min(kinds), where=file)


def _named(node: ast.AST, kinds: set[str]) -> Iterator[tuple[str, int, set[str]]]:
    """Every name of a metric, with the kinds that the innermost statement or function around it makes."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Compare):
            continue
        if isinstance(child, ast.Constant) and isinstance(child.value, str) and _NAME.fullmatch(child.value):
            yield child.value, child.lineno, kinds
        elif isinstance(child, ast.FunctionDef):
            yield from _named(child, _made(child))
        else:
            yield from _named(child, _made(child) or kinds)


def _made(node: ast.AST) -> set[str]:
    """The kinds of metrics that calls below a node make."""
    found: set[str] = set()
    for call in ast.walk(node):
        if isinstance(call, ast.Call):
            made = _MAKER.fullmatch(ast.unparse(call.func).rpartition(".")[2])
            found.update({made.group(1).lower()} if made else ())
    return found
