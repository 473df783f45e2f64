"""All option rows of one release."""

from __future__ import annotations

import ast

from specconf.engines.vllm.harvest.configs import ARG_UTILS, rules_of
from specconf.engines.vllm.harvest.hints import kinds, read_hints
from specconf.engines.vllm.harvest.members import environment_rows, member_rows
from specconf.engines.vllm.harvest.parsers import Handle, Interpreter
from specconf.engines.vllm.harvest.rows import SPECULATIVE, Surroundings, argument_row, mark_replaced
from specconf.engines.vllm.harvest.source import Found
from specconf.engines.vllm.harvest.symbols import MISSING, ClassRef, Value
from specconf.engines.vllm.harvest.values import Evaluator
from specconf.errors import HarvestError
from specconf.harvest.intervals import Key, Row

_SERVE = "vllm.entrypoints.cli.serve"
_SCRIPTS = "vllm.scripts"
_API_SERVER = "vllm.entrypoints.openai.cli_args"


def option_rows(evaluator: Evaluator, release: str) -> list[Row]:
    """The option rows of all scopes of a release."""
    rows = _cli_rows(evaluator, release)
    # Before 0.8.2 the class exists, but nothing that a user writes reaches its fields by name.
    if any(row["path"] == SPECULATIVE for row in rows):
        rows += member_rows(evaluator, release)
    return rows + environment_rows(evaluator, release)


def row_key(row: Row) -> Key:
    """What a row is about: its scope, its path and its spellings."""
    return (row["scope"], row["path"], *row["names"])


def _cli_rows(evaluator: Evaluator, release: str) -> list[Row]:
    rules = rules_of(evaluator.tree)
    interpreter = Interpreter(evaluator, rules)
    function, owner, given = _entry(evaluator)
    interpreter.run(function, owner, given, {})
    objects, defaults = _engine_arguments(evaluator)
    around = Surroundings(release, objects, defaults, rules.paired_switches)
    rows: dict[Key, Row] = {}
    for argument in interpreter.arguments:
        if argument.keywords.get("action") in ("help", "version"):
            continue
        row = argument_row(argument, around)
        rows.setdefault(row_key(row), row)
    mark_replaced(rows.values())
    return list(rows.values())


def _entry(evaluator: Evaluator) -> tuple[Found, ClassRef | None, list[Value]]:
    """The function that builds the parser of `vllm serve`, or of the API server before there was such a command."""
    tree = evaluator.tree
    serve = tree.module(_SERVE)
    for node in serve.symbols.values() if serve else ():
        if serve and isinstance(node, ast.ClassDef) and node.name == "ServeSubcommand":
            owner = ClassRef(serve, node)
            method = evaluator.class_attribute(owner, "subparser_init")
            if isinstance(method, Found):
                return method, owner, [Handle("subparsers")]
    for name, function in ((_SCRIPTS, "main"), (_API_SERVER, "make_arg_parser")):
        module = tree.module(name)
        builder = module.symbols.get(function) if module else None
        if module and isinstance(builder, ast.FunctionDef):
            # A parameter, where there is one, is the parser to fill.
            return Found(module, builder), None, [Handle("serve")] if builder.args.args else []
    raise HarvestError(f"release {tree.release}: no function that builds the parser of the API server")


def _engine_arguments(evaluator: Evaluator) -> tuple[frozenset[str], dict[str, Value]]:
    """Of the engine's argument class: the fields that hold mappings, and the defaults of all."""
    module = evaluator.tree.module(ARG_UTILS)
    found = evaluator.tree.resolve(module, "EngineArgs") if module else None
    if not isinstance(found, Found) or not isinstance(found.node, ast.ClassDef):
        raise HarvestError(f"release {evaluator.tree.release}: no class EngineArgs in {ARG_UTILS}")
    objects: set[str] = set()
    defaults: dict[str, Value] = {}
    for name, field in evaluator.fields(ClassRef(found.module, found.node)).items():
        hints = read_hints(evaluator, field.annotation, field.module)
        mapping = any("Mapping" in hint.name or hint.name.endswith("Config") for hint in hints)
        if (kinds(hints) & {"dict", "dataclass"} or mapping) and name != "pt_load_map_location":
            objects.add(name)
        default = evaluator.default(field)
        if default is not MISSING:
            defaults[name] = default
    return frozenset(objects), defaults
