"""How a release starts and what it reports: the order of its resolution steps, its parser, its metrics about speculation."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from specconf.engines.sglang.harvest.evaluate import Module
from specconf.engines.sglang.harvest.release import Release
from specconf.engines.sglang.harvest.rows import Function, calls_in, functions, last_name, table_row, unique
from specconf.harvest.intervals import Row

_PIPELINE = "sglang.srt.arg_groups.pipeline"
_RUN = "run_resolution_pipeline"
_METHODS = ("_run_resolution_pipeline", "__post_init__")
_RUNNERS = {"run_hook": 0, "run_post_process_pass": 1}
_RECORDS = ("self", "server_args")
# Calls with the record that only read from it.
_READERS = re.compile(
    r"^(get|set|has)attr$|^_?(get|is)_|_view$|^from_server_args$|^model_config_of$|^type$|^(record_)?fields$"
)
_METRIC = re.compile(r"sglang:\w*(spec|accept|draft|eagle|mtp)")
_KINDS = ("Gauge", "Counter", "Histogram", "Summary")


def order_rows(release: Release) -> list[Row]:
    """The row of `resolution_order`: the function that runs the steps, and the names of what it calls."""
    module = release.evaluator.sources.module(_PIPELINE)
    for function in functions(module, _RUN) if module is not None else ():
        assert module is not None
        return [
            table_row(release, module, function.lineno, "resolution_order", _RUN, calls=list(_steps(release, function)))
        ]
    for name in _METHODS:
        found = release.method(name)
        if found is not None:
            value = f"{release.owner.node.name}.{name}"
            steps = list(_steps(release, found))
            return [table_row(release, release.owner.module, found.lineno, "resolution_order", value, calls=steps)]
    release.unread.append("no function that resolves the arguments was found")
    return []


def _steps(release: Release, function: Function) -> Iterator[str]:
    """What a function calls to change the record: its methods, functions that take it, and what a runner is given."""
    methods = {node.name for node in release.owner.node.body if isinstance(node, ast.FunctionDef)}
    for call in calls_in(function):
        name = last_name(call.func)
        if name in _RUNNERS and len(call.args) > _RUNNERS[name]:
            yield last_name(call.args[_RUNNERS[name]])
        elif name and not _READERS.search(name) and _changes(call, methods):
            yield name


def _changes(call: ast.Call, methods: set[str]) -> bool:
    """Whether a call is one of the record's own methods, or is given the record first."""
    if isinstance(call.func, ast.Attribute) and last_name(call.func.value) == "self" and call.func.attr in methods:
        return True
    return bool(call.args) and isinstance(call.args[0], ast.Name) and call.args[0].id in _RECORDS


def scope_rows(release: Release) -> list[Row]:
    """The row of `scope_rules`: what the parser does with a flag it does not know, and with a prefix of one."""
    prepare = release.module.symbols.get("prepare_server_args")
    if not isinstance(prepare, ast.FunctionDef):
        release.unread.append("prepare_server_args is gone: prefixes and unknown flags are not known")
        return []
    calls = {last_name(call.func): call for call in calls_in(prepare)}
    built, read = calls.get("ArgumentParser"), calls.get("parse_args") or calls.get("parse_known_args")
    if built is None or read is None:
        release.unread.append("the parser was not found: prefixes and unknown flags are not known")
        return []
    words = {word.arg: ast.unparse(word.value) for word in built.keywords}
    columns = {
        "unknown_member": "rejects" if last_name(read.func) == "parse_args" else "passes_on",
        "abbreviations": words.get("allow_abbrev", "True") == "True",
        "forms": ["yaml"] if _reads_config(prepare) else [],
    }
    return [table_row(release, release.module, read.lineno, "scope_rules", "sglang.cli", **columns)]


def _reads_config(function: ast.AST) -> bool:
    """Whether a function looks for `--config` among the words."""
    return any(isinstance(node, ast.Compare) and "'--config'" in ast.unparse(node) for node in ast.walk(function))


def metric_rows(release: Release) -> list[Row]:
    """The rows of `metrics`: names that Prometheus sees, and what kind each is."""
    rows: list[Row] = []
    for file in release.archive.below("sglang/srt"):
        if not _METRIC.search(release.archive.text(file)):
            continue
        dotted = file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        module = release.evaluator.sources.module(dotted)
        rows += _metrics(release, module) if module is not None else []
    return unique(rows)


def _metrics(release: Release, module: Module) -> Iterator[Row]:
    for call in calls_in(module.tree):
        kind = next((each for each in _KINDS if each == last_name(call.func)), None)
        name = next((word.value for word in call.keywords if word.arg == "name"), call.args[0] if call.args else None)
        match name:
            case ast.Constant(value=str(text)) if kind and _METRIC.match(text):
                yield table_row(release, module, name.lineno, "metrics", text, kind=kind.lower())
