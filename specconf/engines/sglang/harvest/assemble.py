"""All rows of one release: command-line options, the positional model, environment variables.

One destination path can be written by several flags. Flags that do exactly the same share a row; an old spelling that
takes other words, writes a constant or is deprecated has a row of its own with the same path and no default, because
argparse takes the default from the first declaration.
"""

import ast
from collections.abc import Iterable
from typing import Any

from specconf.engines.sglang.harvest.calls import ArgparseCalls
from specconf.engines.sglang.harvest.environment import environment_rows
from specconf.engines.sglang.harvest.fields import AnnotatedFields
from specconf.engines.sglang.harvest.model import Declared, row, without_default
from specconf.engines.sglang.harvest.release import Field, Release, field_default

_DEFAULT_KEYS = ("default", "default_expr")


def rows_of(release: Release) -> list[dict[str, Any]]:
    """Every row of the release."""
    return [*option_rows(release), *_serve_rows(release), *environment_rows(release)]


def option_rows(release: Release) -> list[dict[str, Any]]:
    """The rows of the flags."""
    fields = release.fields()
    groups: dict[str, list[Declared]] = {}
    for found in declared(release, fields):
        groups.setdefault(found.path, []).append(found)
    return [merged for path, group in groups.items() for merged in _group_rows(release, fields.get(path), group)]


def declared(release: Release, fields: dict[str, Field]) -> list[Declared]:
    """Every declaration of a server option in the release, in the engine's order."""
    add = release.method("add_cli_args")
    assert add is not None, f"{release.name}: ServerArgs has no add_cli_args"
    found: list[Declared] = []
    for call in _calls(add):
        if isinstance(call.func, ast.Name) and call.func.id == "add_cli_args_from_dataclass":
            found += AnnotatedFields(release).all(fields)
        elif isinstance(call.func, ast.Attribute) and call.func.attr == "add_argument":
            found.append(ArgparseCalls(release, fields, add).one(call))
    return found


def _calls(function: ast.FunctionDef) -> list[ast.Call]:
    """The calls in a function in source order."""
    calls = [node for node in ast.walk(function) if isinstance(node, ast.Call)]
    return sorted(calls, key=lambda call: (call.lineno, call.col_offset))


def _group_rows(release: Release, field: Field | None, group: list[Declared]) -> list[dict[str, Any]]:
    """The rows of one path: the option itself, then its old spellings."""
    default = next((one.default for one in group if one.default is not None), None)
    if default is None and field is not None and not group[0].required:
        default = field_default(release, field)
    group = sorted(group, key=lambda one: one.deprecated)
    main, *others = [row(without_default(one)) for one in group]
    main.update(row_default(group[0], default))
    rows = [main]
    for other in others:
        twin = next((known for known in rows if _same(known, other)), None)
        if twin is None:
            rows.append(other)
        else:
            twin["names"] += other["names"]
    return rows


def row_default(one: Declared, default: Any) -> dict[str, Any]:
    """The keys that state a default, as in the row of a declaration that has it."""
    if one.action == "DeprecatedAction" or default is None or one.required:
        return {}
    found = row(Declared(one.names, one.path, one.place, parser=one.parser, help=one.help, default=default))
    return {key: found[key] for key in _DEFAULT_KEYS if key in found}


def _same(left: dict[str, Any], right: dict[str, Any]) -> bool:
    """Whether two rows of one path differ in their spelling only."""
    ignored = ("names", "evidence", "required", "nullable", *_DEFAULT_KEYS)
    return all(left.get(key) == right.get(key) for key in {*left, *right} if key not in ignored)


def _serve_rows(release: Release) -> Iterable[dict[str, Any]]:
    """What `sglang serve` takes off the words before the server's parser sees them, by the literals its functions use.

    `sglang serve M` is found by a list that starts with `--model-path`, the choice of backend by a comparison with
    its flag.
    """
    module = release.evaluator.sources.module("sglang.cli.serve")
    for function in module.tree.body if module is not None else ():
        if not isinstance(function, ast.FunctionDef):
            continue
        assert module is not None
        evidence = {"type": "str", "evidence": [release.place(module, function.lineno).evidence()]}
        if _prepends(function, "--model-path"):
            yield {"scope": "sglang.cli", "path": "model_path", "names": [], "kind": "positional"} | evidence
        if _compares(function, "--model-type"):
            flag = {"path": "serve.model_type", "names": ["--model-type"], "kind": "value", "default": "auto"}
            yield {"scope": "sglang.serve"} | flag | evidence


def _prepends(function: ast.FunctionDef, flag: str) -> bool:
    """Whether the function builds a longer list that starts with the literal flag."""
    heads = [node.elts[0] for node in ast.walk(function) if isinstance(node, ast.List) and len(node.elts) > 1]
    return any(isinstance(head, ast.Constant) and head.value == flag for head in heads)


def _compares(function: ast.FunctionDef, flag: str) -> bool:
    """Whether the function compares a word with the literal flag."""
    compared = [node.comparators[0] for node in ast.walk(function) if isinstance(node, ast.Compare)]
    return any(isinstance(right, ast.Constant) and right.value == flag for right in compared)


def parser_surprises(release: Release) -> list[str]:
    """Where the release's parser is not the one `scopes.yaml` describes: prefixes accepted, unknown words refused."""
    prepare = release.module.symbols.get("prepare_server_args")
    if not isinstance(prepare, ast.FunctionDef):
        return ["prepare_server_args is gone: prefixes and unknown words were not checked"]
    calls = {ast.unparse(call.func): call for call in _calls(prepare)}
    built, found = calls.get("argparse.ArgumentParser"), []
    if built is None or any(word.arg in ("allow_abbrev", None) for word in built.keywords):
        found.append("the parser is not argparse's with prefixes accepted")
    if "parser.parse_args" not in calls:
        found.append("unknown words may be passed on")
    return found
