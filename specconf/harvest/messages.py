"""Short fragments of what an engine says when it refuses, asserts or warns, for the sites that a pattern calls relevant.

Only the first words of a message are kept, so that a log line can be traced back to its place in a release: never the
code around it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from specconf.harvest.archive import Archive
from specconf.harvest.intervals import Row

HOLE = "~"
_MAX = 60
_PERCENT = re.compile(r"%(?:\(\w+\))?[-#0 +]*\d*(?:\.\d+)?[sdrifgx]")
_BRACES = re.compile(r"\{[\w.!:\[\]]*\}")
SAYERS = {
    "warning": "warning",
    "warning_once": "warning",
    "warn": "warning",
    "print_warning_once": "warning",
    "log_warning": "warning",
    "error": "error",
    "info": "info",
    "info_once": "info",
}


@dataclass(frozen=True)
class _Site:
    """One place that says something: its kind, its message's syntax, the name of the exception, and what surrounds it.

    `stated` is the condition of an assert that has no message.
    """

    kind: str
    message: ast.expr | None
    exception: str
    line: int
    around: str
    where: str
    stated: str = ""


def message_rows(
    archive: Archive,
    release: str,
    relevant: re.Pattern[str],
    sayers: Mapping[str, str] = SAYERS,
    files: Iterable[str] | None = None,
    *,
    wordless: bool = True,
) -> list[Row]:
    """The rows of the sites whose message, place or condition matches `relevant`, one for each text at each place.

    `sayers` are the functions that say something, by their last name or as they are written where that tells too
    little (`unsupported.append`), with the kind of message that each makes. `files` are the archive's files to read
    if not all. `wordless` keeps asserts without a message, by the condition that they state.
    """
    found: dict[tuple[str, ...], Row] = {}
    for file in archive.files if files is None else files:
        source = archive.text(file)
        if not relevant.search(file) and not relevant.search(source):
            continue
        for site in _sites(ast.parse(source), "", "", sayers):
            if site.message is None and not wordless:
                continue
            text = " ".join(_template(site.message or ast.Constant(site.stated)).split())
            fragment = _fragment(text)
            concerned = relevant.search(" ".join((file, site.where, site.around, text)))
            if len(fragment.replace(HOLE, "").strip()) < 4 or not concerned:
                continue
            key = (f"{file}:{site.where}", site.kind, site.exception, fragment)
            evidence = {"file": file, "kind": "source", "line": site.line, "release": release}
            row: Row = {"where": key[0], "kind": site.kind, "fragment": fragment, "evidence": [evidence]}
            if site.exception:
                row["exception"] = site.exception
            found.setdefault(key, row)
    return list(found.values())


def _sites(node: ast.AST, where: str, around: str, sayers: Mapping[str, str]) -> Iterator[_Site]:
    """The sites below a node, which are statements of their own; `around` are the conditions that lead there."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield from _sites(child, f"{where}.{child.name}" if where else child.name, "", sayers)
        elif isinstance(child, ast.If):
            test = ast.unparse(child.test)
            yield from _sites(child, where, f"{around} {test}", sayers)
        elif not isinstance(child, ast.expr):
            yield from _said(child, where, around, sayers)
            yield from _sites(child, where, around, sayers)


def _said(node: ast.AST, where: str, around: str, sayers: Mapping[str, str]) -> Iterator[_Site]:
    match node:
        case ast.Raise(exc=ast.Call(func=func, args=[message, *_])):
            yield _Site("raise", message, ast.unparse(func).rpartition(".")[2], node.lineno, around, where)
        case ast.Assert(msg=ast.expr() as message):
            yield _Site("assert", message, "", node.lineno, f"{around} {ast.unparse(node.test)}", where)
        case ast.Assert(test=test):
            yield _Site("assert", None, "", node.lineno, around, where, ast.unparse(test))
        case ast.Expr(value=ast.Call(func=(ast.Name() | ast.Attribute()) as func, args=args, keywords=keywords)):
            said = args[0] if args else next((keyword.value for keyword in keywords), None)
            if said and (kind := _kind(func, sayers)):
                yield _Site(kind, said, "", node.lineno, around, where)


def _kind(func: ast.expr, sayers: Mapping[str, str]) -> str | None:
    """The kind of message that a called function makes; None if it says nothing."""
    written = ast.unparse(func)
    return sayers.get(written.rpartition(".")[2]) or sayers.get(written)


def _fragment(text: str) -> str:
    """A message's first words, with one mark for neighbouring parts that are filled in."""
    text = re.sub(rf"{HOLE}(?:\s*{HOLE})+", HOLE, text)
    return text if len(text) <= _MAX else text[:_MAX].rpartition(" ")[0] or text[:_MAX]


def _template(message: ast.expr | None) -> str:
    match message:
        case ast.Constant(value=str(text)):
            return _BRACES.sub(HOLE, _PERCENT.sub(HOLE, text))
        case ast.JoinedStr(values=parts):
            return "".join(str(part.value) if isinstance(part, ast.Constant) else HOLE for part in parts)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _template(left) + _template(right)
        case ast.BinOp(left=left, op=ast.Mod()):
            return _template(left)
        case ast.Call(func=ast.Attribute(value=ast.Constant() as text, attr="format")):
            return _template(text)
        case _:
            return HOLE
