"""The words that the annotation of `SpeculativeConfig.method` lists, each with the alias of `Literal` that it stands in."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from specconf.engines.vllm.harvest.source import Found, Module
from specconf.engines.vllm.harvest.symbols import ClassRef
from specconf.engines.vllm.harvest.tables import Reading
from specconf.harvest.intervals import Row


def word_rows(reading: Reading) -> list[Row]:
    """The rows of `method_words`; none in a release whose field takes any text."""
    found = reading.speculative()
    if found is None:
        return []
    module, owner = found
    field = reading.evaluator.fields(ClassRef(module, owner)).get("method")
    rows: dict[str, Row] = {}
    for word, file, line, alias in literal_words(reading, field.module, field.annotation, "") if field else ():
        rows.setdefault(word, reading.row("method_words", word, file, line, **{"in": alias}))
    return list(rows.values())


def literal_words(reading: Reading, module: Module, node: ast.expr, alias: str) -> Iterator[tuple[str, str, int, str]]:
    """Word, file, line and innermost alias of every text below an annotation."""
    match node:
        case ast.Constant(value=str(word)) if alias:
            yield word, module.file, node.lineno, alias
        case ast.Name(id=name):
            found = reading.evaluator.tree.resolve(module, name)
            if isinstance(found, Found) and isinstance(found.node, ast.expr):
                yield from literal_words(reading, found.module, found.node, name)
        case ast.Subscript(value=owner, slice=inner) if ast.unparse(owner).rpartition(".")[2] in (
            "Literal",
            "Optional",
            "Union",
        ):
            for item in inner.elts if isinstance(inner, ast.Tuple) else [inner]:
                yield from literal_words(reading, module, item, alias)
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            yield from literal_words(reading, module, left, alias)
            yield from literal_words(reading, module, right, alias)
        case _:
            return
