"""Targets whose architecture an engine's own configuration code may replace before it looks for a class.

What is replaced by what can hang on anything in a checkpoint, so it is not followed: the files that set `architectures` are
found, and the model types and architectures that they speak of.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from specconf.harvest.archive import Archive
from specconf.harvest.intervals import Row

TABLE = "rewritten_architectures"
_ARCHITECTURES = "architectures"
_SUBJECTS = ("model_type", _ARCHITECTURES)


def rewrite_rows(archive: Archive, release: str, places: tuple[str, ...], left_out: tuple[str, ...] = ()) -> list[Row]:
    """A row for every model type and architecture that a file below `places` speaks of, if it sets `architectures`.

    `left_out`: files of which it is known that what they replace are drafts' architectures only.
    """
    rows: dict[tuple[str, str], Row] = {}
    for file in archive.files:
        if not file.startswith(places) or file.startswith(left_out) or _ARCHITECTURES not in archive.text(file):
            continue
        tree = archive.parsed(file)
        if not any(_sets(node) for node in ast.walk(tree)):
            continue
        for value, line in _spoken_of(tree):
            evidence = {"file": file, "kind": "source", "line": line, "release": release}
            rows.setdefault((value, file), {"table": TABLE, "value": value, "where": file, "evidence": [evidence]})
    return list(rows.values())


def _sets(node: ast.AST) -> bool:
    """Whether a statement or expression gives something the name `architectures`."""
    match node:
        case ast.Assign(targets=targets):
            return any(_is_architectures(target) for target in targets)
        case ast.Call(keywords=keywords) if any(keyword.arg == _ARCHITECTURES for keyword in keywords):
            return True
        case ast.Dict(keys=keys):
            return any(isinstance(key, ast.Constant) and key.value == _ARCHITECTURES for key in keys)
    return False


def _is_architectures(target: ast.expr) -> bool:
    match target:
        case ast.Subscript(value=ast.expr() as owner, slice=ast.Constant(value=key)):
            return key == _ARCHITECTURES or _is_architectures(owner)
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name == _ARCHITECTURES
    return False


def _spoken_of(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """The model types that classes of a file declare, and what its comparisons hold against a model type or architectures."""
    for node in ast.walk(tree):
        match node:
            case ast.ClassDef(body=body):
                for statement in body:
                    match statement:
                        case ast.Assign(targets=[ast.Name(id="model_type")], value=ast.Constant(value=str(name))):
                            yield name, statement.lineno
            case ast.Compare(left=left, comparators=others):
                sides = [left, *others]
                if any(subject in ast.unparse(side) for side in sides for subject in _SUBJECTS):
                    yield from ((text, node.lineno) for side in sides for text in _texts(side))


def _texts(node: ast.expr) -> Iterator[str]:
    """The names written in a side of a comparison: texts in lists too, but not the key of a lookup."""
    match node:
        case ast.Constant(value=str(text)) if text not in _SUBJECTS:
            yield text
        case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
            for item in items:
                yield from _texts(item)
