"""The words that `--speculative-algorithm` takes, and which of them are read as another.

Three things declare words over the years: the flag's choices, the members of the enumeration of algorithms (or the table in
its `from_string`), and calls that register an algorithm. Aliases are resolved by an assignment in the argument record, by a
function for it, by `from_string`, or when registering. Names that plugins register are not among them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from specconf.engines.sglang.harvest.evaluate import Module, NotStatic, Scope
from specconf.engines.sglang.harvest.release import Release
from specconf.engines.sglang.harvest.rows import branches, calls_in, compared_with, functions, last_name
from specconf.harvest.intervals import Row

_PATH = "speculative_algorithm"
_RECORD = "sglang.srt.server_args"
_HOOK = "sglang.srt.arg_groups.speculative_hook"
_INFO = "sglang.srt.speculative.spec_info"
_OWNER = "SpeculativeAlgorithm"


def algorithm_rows(release: Release, options: list[Row]) -> list[Row]:
    """The rows of `algorithm_words`; `options` are the release's own, for the flag's choices."""
    flag = next((row for row in options if row["path"] == _PATH and row["scope"] == "sglang.cli"), None)
    info = release.evaluator.sources.module(_INFO)
    if flag is None or info is None:
        return []
    aliases = _aliases(release, info)
    if "choices" in flag:
        words = dict.fromkeys(flag["choices"], flag["evidence"])
    else:
        words = {word: [release.place(info, line).evidence()] for word, line in _members(info)}
        words |= {word: [release.place(module, line).evidence()] for word, (_, module, line) in aliases.items()}
    if not words:
        release.unread.append(f"{info.file}: the words of --speculative-algorithm were not found")
    return [
        {"table": "algorithm_words", "value": word, **({"alias_of": aliases[word][0]} if word in aliases else {})}
        | {"evidence": evidence}
        for word, evidence in words.items()
    ]


def _members(info: Module) -> Iterator[tuple[str, int]]:
    """The members of the enumeration, without the one that stands for no word at all."""
    owner = info.symbols.get(_OWNER)
    if not isinstance(owner, ast.ClassDef):
        return
    absent = _absent(owner)
    for node in owner.body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)]) if name.isupper() and name != absent:
                yield name, node.lineno


def _absent(owner: ast.ClassDef) -> str:
    """The member that `from_string` returns where no word is given."""
    for node in ast.walk(owner):
        match node:
            case ast.If(test=ast.Compare(ops=[ast.Is()]), body=[ast.Return(value=ast.Attribute(attr=name))]):
                return name
    return ""


_Alias = tuple[str, Module, int]


def _aliases(release: Release, info: Module) -> dict[str, _Alias]:
    """The words that are read as another, each with that and its place."""
    found: dict[str, _Alias] = {}
    for name in (_RECORD, _HOOK):
        module = release.evaluator.sources.module(name)
        if module is not None:
            found = {**_assigned(module), **_returned(module), **found}
    return {**_from_string(release, info), **_registered(info), **found}


def _words(node: ast.expr) -> list[str]:
    """The texts in a constant, or in a list or tuple of them."""
    parts = node.elts if isinstance(node, ast.List | ast.Tuple | ast.Set) else [node]
    return [part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)]


def _compared(test: ast.expr) -> list[str]:
    """The words that a condition compares the algorithm with."""
    return [word for right in compared_with(test, _PATH) for word in _words(right)]


def _assigned(module: Module) -> dict[str, _Alias]:
    """`if self.speculative_algorithm == A: self.speculative_algorithm = B`."""
    found: dict[str, _Alias] = {}
    for node in ast.walk(module.tree):
        match node:
            case ast.If(
                test=ast.Compare() as test, body=[ast.Assign(targets=[target], value=ast.Constant(value=str(to)))]
            ):
                if last_name(target) == _PATH:
                    found |= {word: (to, module, node.lineno) for word in _compared(test) if word != to}
    return found


def _returned(module: Module) -> dict[str, _Alias]:
    """A function for it: the word that a branch returns at its end, whatever it does for single drafts before."""
    found: dict[str, _Alias] = {}
    for function in functions(module, "_resolve_speculative_algorithm_alias"):
        for test, body, line in branches(function.body):
            match body[-1]:
                case ast.Return(value=ast.Constant(value=str(to))) if test is not None:
                    found |= {word: (to, module, line) for word in _compared(test) if word != to}
    return found


def _from_string(release: Release, info: Module) -> dict[str, _Alias]:
    """`from_string`: a branch that returns one member for every word of a named set."""
    found: dict[str, _Alias] = {}
    for function in functions(info, "from_string"):
        for test, body, line in branches(function.body):
            match test, body:
                case ast.Compare(ops=[ast.In()], comparators=[words]), [ast.Return(value=ast.Attribute(attr=to))]:
                    try:
                        found |= dict.fromkeys(_plain_words(release, info, words), (to, info, line))
                    except NotStatic as reason:
                        release.unread.append(f"{info.file}:{line}: {reason}")
    return found


def _plain_words(release: Release, info: Module, node: ast.expr) -> list[str]:
    """The words of a set, by whatever name it goes."""
    return [str(word) for word in release.evaluator.plain(node, Scope(info))]


def _registered(info: Module) -> dict[str, _Alias]:
    """The aliases given to calls at the top level that register an algorithm."""
    found: dict[str, _Alias] = {}
    for statement in info.tree.body:
        for call in calls_in(statement) if isinstance(statement, ast.Expr) else ():
            aliases = next((word.value for word in call.keywords if word.arg == "aliases"), None)
            if aliases is not None and call.args:
                found |= {word: (to, info, call.lineno) for to in _words(call.args[0]) for word in _words(aliases)}
    return found
