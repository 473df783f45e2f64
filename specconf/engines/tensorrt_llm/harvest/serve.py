"""The rows of the command line: the click options of `trtllm-serve`'s serve command."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from specconf.engines.tensorrt_llm.harvest.source import Module, Tree, last_name
from specconf.engines.tensorrt_llm.harvest.values import UNKNOWN, keys_of, value_of
from specconf.harvest.intervals import Row

COMMANDS = "tensorrt_llm/commands/serve.py"
SCOPE = "trtllm.cli"
_SERVE = "serve"
# What an argument of the command writes, by the argument's name; the path of any other is `cli.<argument>`.
_PATHS = {
    "model": "model",
    "tp_size": "tensor_parallel_size",
    "pp_size": "pipeline_parallel_size",
    "cp_size": "context_parallel_size",
    "ep_size": "moe_expert_parallel_size",
    "cluster_size": "moe_cluster_parallel_size",
    "hf_revision": "revision",
    "kv_cache_dtype": "kv_cache_config.dtype",
    "free_gpu_memory_fraction": "kv_cache_config.free_gpu_memory_fraction",
    "kv_cache_free_gpu_memory_fraction": "kv_cache_config.free_gpu_memory_fraction",
    "extra_llm_api_options": "cli.config",
} | {
    name: name
    for name in (
        *("tensor_parallel_size", "pipeline_parallel_size", "context_parallel_size"),
        *("moe_expert_parallel_size", "moe_cluster_parallel_size"),
        *("max_batch_size", "max_beam_width", "max_num_tokens", "max_seq_len"),
        *("enable_attention_dp", "enable_chunked_prefill", "revision"),
    )
}
_TYPES = {
    **{"str": "str", "int": "int", "float": "float", "bool": "bool", "Path": "str", "File": "str"},
    **{"STRING": "str", "INT": "int", "FLOAT": "float", "BOOL": "bool", "IntRange": "int", "FloatRange": "float"},
}


class Declared(Struct, frozen=True, eq=False):
    """One call that declares an option or an argument: its strings, its keywords, and where it stands."""

    call: ast.Call
    module: Module

    @property
    def words(self) -> list[str]:
        """The strings that stand first: spellings, and perhaps the argument's name."""
        return [arg.value for arg in self.call.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)]

    @property
    def keywords(self) -> dict[str, ast.expr]:
        """The keywords of the call."""
        return {keyword.arg: keyword.value for keyword in self.call.keywords if keyword.arg}

    def says(self, keyword: str) -> Any:
        """The value of a keyword that is a constant."""
        value = self.keywords.get(keyword)
        return value.value if isinstance(value, ast.Constant) else None


def serve_rows(tree: Tree, release: str) -> tuple[list[Row], list[Row]]:
    """The option rows and the scope rule of the serve command; empty, with a note, if the archive does not have it."""
    module = tree.module(COMMANDS)
    found = _command(module) if module else None
    if module is None or found is None:
        tree.note(f"{COMMANDS} is not in these sources, or has no serve command: no rows of {SCOPE}")
        return [], []
    function, command = found
    rows: list[Row] = []
    for declared in _declarations(tree, module, function):
        row = _argument(declared) if last_name(declared.call.func) == "argument" else _option(tree, declared)
        evidence = {"kind": "source", "release": release, "file": declared.module.file, "line": declared.call.lineno}
        rows.append({**row, "scope": SCOPE, "evidence": [evidence]})
    settings = ast.unparse(command)
    rule = "passes_on" if "ignore_unknown_options" in settings else "rejects"
    proof = {"kind": "source", "release": release, "file": module.file, "line": command.lineno}
    return rows, [{"table": "scope_rules", "value": SCOPE, "unknown_member": rule, "evidence": [proof]}]


def _command(module: Module) -> tuple[ast.FunctionDef, ast.Call] | None:
    """The function of the serve command and the decorator that makes it one."""
    for node in module.symbols.values():
        if not isinstance(node, ast.FunctionDef):
            continue
        for each in node.decorator_list:
            if isinstance(each, ast.Call) and last_name(each.func) == "command":
                named = next((arg.value for arg in each.args if isinstance(arg, ast.Constant)), node.name)
                if named == _SERVE:
                    return node, each
    return None


def _declarations(tree: Tree, module: Module, function: ast.FunctionDef) -> Iterator[Declared]:
    """The options and arguments among a function's decorators, and those that a decorator of the engine's own adds."""
    for each in function.decorator_list:
        name = last_name(each.func if isinstance(each, ast.Call) else each)
        if isinstance(each, ast.Call) and _declares(each):
            yield Declared(each, module)
        elif name != "command":
            found = tree.resolve(module, name)
            if found is None or not isinstance(found.node, ast.FunctionDef):
                tree.note(f"{module.file}:{each.lineno}: the options that {name} adds were not read")
                continue
            yield from _added(tree, found.module, found.node)


def _declares(call: ast.Call) -> bool:
    """Whether a call declares an option (`click.option`, `stability_option`, ...) or an argument."""
    name = last_name(call.func)
    spelled = bool(call.args) and isinstance(call.args[0], ast.Constant)
    return spelled and (name == "argument" or name.endswith("option"))


def _added(tree: Tree, module: Module, function: ast.FunctionDef) -> Iterator[Declared]:
    """The options that a decorator's body declares."""
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and _declares(node):
            yield Declared(node, module)
        elif isinstance(node, ast.Call) and last_name(node.func) == "option_from_field":
            tree.note(f"{module.file}:{node.lineno}: an option made from a field was not read: {ast.unparse(node)}")


def _argument(declared: Declared) -> Row:
    """A positional argument."""
    name = declared.words[0].lower().replace("-", "_")
    row: Row = {"kind": "positional", "names": [], "path": _PATHS.get(name, f"cli.{name}"), "type": _type(declared)}
    if declared.says("nargs") == -1:
        row["nargs"] = "*"
    elif declared.says("required") is not False and "default" not in declared.keywords:
        row["required"] = True
    return row


def _option(tree: Tree, declared: Declared) -> Row:
    """An option: its spellings, and what it writes."""
    names, opposite = _spellings(declared.words)
    row: Row = {"names": names, "path": _path(declared.words)}
    if opposite:
        row["no_names"] = opposite
    if declared.says("is_flag") or opposite or (declared.says("flag_value") is not None):
        row |= {"kind": "switch", "type": "bool", "const": True, "default": False}
        if declared.says("flag_value") is not None:
            row |= {"const": declared.says("flag_value"), "type": "str"}
            del row["default"]
    else:
        row |= {"kind": "append" if declared.says("multiple") else "value", "type": _type(declared)}
        row |= _choices(tree, declared)
    row |= _default(tree, declared, row["kind"])
    if "callback" in declared.keywords:
        row["parser"] = ast.unparse(declared.keywords["callback"])
    if declared.says("hidden"):
        row["internal"] = True
    if _is_deprecated(declared):
        row["deprecated"] = True
    return row


def _spellings(words: list[str]) -> tuple[list[str], list[str]]:
    """The spellings that write an option, and those that write its opposite (`--a/--no-a`)."""
    names: list[str] = []
    opposite: list[str] = []
    for word in words:
        first, _, second = word.partition("/")
        names += [first.strip()] if first.startswith("-") else []
        opposite += [second.strip()] if second.strip() else []
    return names, opposite


def _path(words: list[str]) -> str:
    """The path of an option, by the name that click gives its argument: a bare word, else the first long spelling."""
    bare = [word for word in words if not word.startswith("-")]
    long = [word for word in words if word.startswith("--")] or words
    name = (bare or long)[0].partition("/")[0].strip().lstrip("-").replace("-", "_").lower()
    return _PATHS.get(name, f"cli.{name}")


def _type(declared: Declared) -> str:
    given = declared.keywords.get("type")
    if given is not None:
        return _TYPES.get(last_name(given.func if isinstance(given, ast.Call) else given), "str")
    default = declared.says("default")
    return type(default).__name__ if isinstance(default, int | float) else "str"


def _choices(tree: Tree, declared: Declared) -> Row:
    """Choices, or bounds, by the type of an option; choices read without regard to case are a parser."""
    given = declared.keywords.get("type")
    if not isinstance(given, ast.Call):
        return {}
    name = last_name(given.func)
    keywords = {keyword.arg: keyword.value for keyword in given.keywords if keyword.arg}
    if name in ("IntRange", "FloatRange"):
        limits = dict(zip(("min", "max"), given.args, strict=False)) | keywords
        found = {
            key: value_of(tree, declared.module, limits[side])
            for side, key in (("min", "ge"), ("max", "le"))
            if side in limits
        }
        return {"bounds": {key: value for key, value in found.items() if isinstance(value, int | float)}}
    if "Choice" not in name or not given.args:
        return {}
    case = keywords.get("case_sensitive")
    if isinstance(case, ast.Constant) and case.value is False:
        return {"parser": name}
    return _listed(tree, declared, given)


def _listed(tree: Tree, declared: Declared, given: ast.Call) -> Row:
    """The words of a `Choice(...)`, with those that a second table of aliases adds."""
    found = keys_of(tree, declared.module, given.args[0])
    more = keys_of(tree, declared.module, given.args[1]) if len(given.args) > 1 else []
    if found is UNKNOWN or more is UNKNOWN:
        tree.note(
            f"{declared.module.file}:{declared.call.lineno}: the choices of {declared.words[0]} are not written down"
        )
        return {}
    return {"choices": [*found, *more]}


def _default(tree: Tree, declared: Declared, kind: str) -> Row:
    if declared.says("required"):
        return {"required": True}
    node = declared.keywords.get("default")
    if node is None:
        return {} if kind == "switch" else {"default": [] if kind == "append" else None, "nullable": kind != "append"}
    value = value_of(tree, declared.module, node)
    if value is UNKNOWN:
        return {"default_expr": ast.unparse(node)}
    if kind == "append" and value is None:
        value = []
    return {"default": value, **({"nullable": True} if value is None else {})}


def _is_deprecated(declared: Declared) -> bool:
    """Whether an option's status, or the tag of its help, says that it is deprecated."""
    described = declared.keywords.get("help")
    tags = described.args[1:] if isinstance(described, ast.Call) else []
    tagged = any(isinstance(tag, ast.Constant) and tag.value == "deprecated" for tag in tags)
    return tagged or declared.says("status") == "deprecated" or bool(declared.says("deprecated"))
