"""Short fragments of what an engine says when it refuses, asserts or warns, for the sites that a pattern calls relevant.

Only the first words of a message are kept, so that a log line can be traced back to its place in a release: never the
code around it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct

from specconf.harvest.archive import Archive, parsed
from specconf.harvest.intervals import Row

HOLE = "~"
# Words of speculation that other parts of an engine are named like: Engram and other embeddings of n-grams, tensor
# parallel norms (`RMSNormTP`) and rows per rank (`MTPR`), the vision models Eagle 2.5. For patterns that ignore case.
NGRAM = (
    r"(?<![a-z_])ngram(?![a-z_]| (?:embed|head|weight))|ngram_(?:gpu|prompt|proposer|worker)|ngram(?:gpu|proposer|worker)"
    r"|(?:is|use)_ngram(?!_emb)|speculative_ngram"
)
MTP = r"(?-i:MTP(?!R(?![a-z]))|(?<![A-Za-z])mtp(?![a-z])|Mtp(?![a-z]))"
EAGLE = r"eagle(?!_?2[_.]5)"
_MAX = 60
_PERCENT = re.compile(r"%(?:\(\w+\))?[-#0 +]*\d*(?:\.\d+)?[sdrifgx]")
_BRACES = re.compile(r"\{[\w.!:\[\]]*\}")
# In a condition: a class out of a list of them, and that something is no draft or without speculation.
_CLASS_NAME = re.compile(r"'(?=\w*[a-z])[A-Z]\w*'")
_NOT_MET = re.compile(
    r"not (?:[\w.()]*\.)?is_(?:draft|nextn|mtp)\w*|not \w+\.startswith\('mtp'\)|[\w.]*\bspec\w* is None|!= '\w*draft[^']*'"
    r"|runner_type in \('draft', 'generate'\)|(?<!not )(?<![\w.])[\w.]+_without_speculative"
)
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


class _Site(Struct, frozen=True):
    """One place that says something: its kind, its message's syntax, the name of the exception, and what surrounds it."""

    kind: str
    message: ast.expr
    exception: str
    line: int
    around: str
    where: str


def message_rows(
    archive: Archive,
    release: str,
    relevant: re.Pattern[str],
    sayers: Mapping[str, str] = SAYERS,
    files: Iterable[str] | None = None,
) -> list[Row]:
    """The rows of the sites whose message, place or condition matches `relevant`, one for each text at each place.

    `sayers` are the functions that say something, by their last name or as they are written where that tells too
    little (`unsupported.append`), with the kind of message that each makes. `files` are the archive's files to read
    if not all. An assert without words has only its condition, which is code, and is left out.
    """
    found: dict[tuple[str, ...], Row] = {}
    for file in archive.files if files is None else files:
        source = archive.text(file)
        if not relevant.search(file) and not relevant.search(source):
            continue
        for site in _sites(parsed(source, f"{archive.origin}: {file}"), "", "", sayers):
            text = " ".join(_template(site.message).split())
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
        yield from _site_or_below(child, where, around, sayers)


def _site_or_below(node: ast.AST, where: str, around: str, sayers: Mapping[str, str]) -> Iterator[_Site]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield from _sites(node, f"{where}.{node.name}" if where else node.name, "", sayers)
    elif isinstance(node, ast.If):
        for statements, condition in _branches(node):
            for statement in statements:
                yield from _site_or_below(statement, where, f"{around} {condition}", sayers)
    elif not isinstance(node, ast.expr):
        yield from _said(node, where, around, sayers)
        yield from _sites(node, where, around, sayers)


def _branches(node: ast.If, before: str = "") -> Iterator[tuple[list[ast.stmt], str]]:
    """What an `if` leads to, each with the part of its own condition that is met there; `else` with all conditions."""
    test = _CLASS_NAME.sub("", ast.unparse(node.test))
    yield node.body, _NOT_MET.sub("", test)
    before = f"{before} {test}"
    match node.orelse:
        case [ast.If() as other]:
            yield from _branches(other, before)
        case [_, *_]:
            yield node.orelse, before


def _said(node: ast.AST, where: str, around: str, sayers: Mapping[str, str]) -> Iterator[_Site]:
    match node:
        case ast.Raise(exc=ast.Call(func=func, args=[message, *_])):
            yield _Site("raise", message, ast.unparse(func).rpartition(".")[2], node.lineno, around, where)
        case ast.Assert(msg=ast.expr() as message):
            stated = _CLASS_NAME.sub("", ast.unparse(node.test))
            yield _Site("assert", message, "", node.lineno, f"{around} {stated}", where)
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


def _template(message: ast.expr) -> str:
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
