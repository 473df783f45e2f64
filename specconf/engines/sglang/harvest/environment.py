"""The environment variables SGLang reads: its registry (`environ.py`, from 0.5.3rc2), and a few from before it."""

import ast
import re
from collections.abc import Iterator
from typing import Any

from specconf.engines.sglang.harvest.evaluate import Module, Scope
from specconf.engines.sglang.harvest.model import Computed, Known
from specconf.engines.sglang.harvest.release import Release, evaluated, text_of

_ENVIRON = "sglang.srt.environ"
_TYPES = {"Bool": "bool", "Int": "int", "Float": "float", "Str": "str", "JSON": "json"}
_FLAG = re.compile(r"--[a-z0-9][a-z0-9-]*[a-z0-9]")
_READERS = ("get_bool_env_var", "get_int_env_var", "getenv", "get")

# Variables that the compatibility rules speak of and that were read before the registry existed; elsewhere the list of
# what is read ad hoc is not attempted (the scope is partial).
WATCHED = (
    "SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN",
    "SGLANG_ENABLE_SPEC_V2",
    "SGLANG_SIMULATE_ACC_LEN",
    "SGLANG_SIMULATE_ACC_METHOD",
    "SIMULATE_ACC_LEN",
    "SIMULATE_ACC_METHOD",
)


def environment_rows(release: Release) -> list[dict[str, Any]]:
    """The rows of the variables, one a name that is read; old names have rows of their own with the new name's path."""
    module = release.evaluator.sources.module(_ENVIRON)
    found: dict[str, dict[str, Any]] = {}
    if module is not None:
        for one in [*_registered(release, module), *_forwarded(release, module)]:
            found.setdefault(one["names"][0], one)
        _mark_deprecated(release, module, found)
    for one in _read_ad_hoc(release):
        found.setdefault(one["names"][0], one)
    return list(found.values())


def _registered(release: Release, module: Module) -> Iterator[dict[str, Any]]:
    """The fields of the registry class, and the old names that they still read."""
    owner = module.symbols.get("Envs")
    if not isinstance(owner, ast.ClassDef):
        return
    scope = Scope(module)
    for node in owner.body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=ast.Name(id=kind)) as call) if (
                kind.startswith("Env")
            ):
                one = _row(release, module, name, node.lineno)
                one.update(_type(kind))
                one.update(_default(release, call, scope))
                yield one
                old = next((word.value for word in call.keywords if word.arg == "deprecated_name"), None)
                if old is not None:
                    yield _old_name(release, module, text_of(old), name, node.lineno) | _type(kind)


def _row(release: Release, module: Module, name: str, line: int) -> dict[str, Any]:
    return {
        "scope": "sglang.env",
        "path": f"env.{name}",
        "names": [name],
        "kind": "value",
        "evidence": [release.place(module, line).evidence()],
    }


def _old_name(release: Release, module: Module, old: str, new: str, line: int) -> dict[str, Any]:
    """An old spelling of a variable."""
    return _row(release, module, new, line) | {"names": [old], "deprecated": True, "replaced_by": new}


def _type(kind: str) -> dict[str, Any]:
    """The type that the descriptor's class stands for; absent for classes that split or translate the text."""
    bare = kind.removeprefix("Env").removesuffix("WithAlias")
    return {"type": _TYPES[bare]} if bare in _TYPES else {}


def _default(release: Release, call: ast.Call, scope: Scope) -> dict[str, Any]:
    """The default a descriptor is given; what is computed later stays source text."""
    node = call.args[0] if call.args else next((word.value for word in call.keywords if word.arg == "default"), None)
    match evaluated(release, node, scope) if node is not None else None:
        case Known(value=value):
            return {"default": value}
        case Computed(text=text):
            return {"default_expr": text}
    return {}


def _forwarded(release: Release, module: Module) -> Iterator[dict[str, Any]]:
    """Old names whose value is copied to a new one at import."""
    for node in ast.walk(module.tree):
        match node:
            case ast.Call(
                func=ast.Name(id="_print_deprecated_env"),
                args=[ast.Constant(value=str(new)), ast.Constant(value=str(old))],
            ):
                yield _old_name(release, module, old, new, node.lineno)
    yield from _deprecation_table(release, module)


def _deprecation_table(release: Release, module: Module) -> Iterator[dict[str, Any]]:
    """The registry of deprecated names that newer releases keep: forwarded, or only warned about."""
    table = module.symbols.get("_DEPRECATED_ENVS")
    if not isinstance(table, ast.Dict):
        return
    for key, value in zip(table.keys, table.values, strict=True):
        if not isinstance(key, ast.Constant) or not isinstance(value, ast.Call):
            continue
        words = {word.arg: word.value for word in value.keywords}
        new = text_of(value.args[0]) if value.args else text_of(words["replacement"]) if "replacement" in words else ""
        if new:
            yield _old_name(release, module, str(key.value), new, key.lineno)
            continue
        one = _row(release, module, str(key.value), key.lineno)
        one["deprecated"] = "warned about, does nothing"
        flags = _FLAG.findall(ast.unparse(words["note"])) if "note" in words else []
        yield one | ({"replaced_by": flags[0]} if flags else {})


def _mark_deprecated(release: Release, module: Module, found: dict[str, dict[str, Any]]) -> None:
    """Names that a call at import warns about while they are still read."""
    for node in ast.walk(module.tree):
        match node:
            case ast.Call(
                func=ast.Name(id="_warn_deprecated_env_to_cli_flag"),
                args=[ast.Constant(value=str(name)), ast.Constant(value=str(hint))],
            ):
                one = found.setdefault(name, _row(release, module, name, node.lineno))
                one["deprecated"] = True
                flags = _FLAG.findall(hint)
                one.update({"replaced_by": flags[0]} if flags else {})


def _read_ad_hoc(release: Release) -> Iterator[dict[str, Any]]:
    """Watched variables that some module reads directly: first place by file name."""
    for file in release.archive.below("sglang/srt"):
        text = release.archive.text(file)
        if not any(f'"{name}"' in text for name in WATCHED):
            continue
        dotted = file.removesuffix(".py").replace("/", ".")
        module = release.evaluator.sources.module(dotted.removesuffix(".__init__"))
        if module is None or dotted == _ENVIRON:
            continue
        yield from _reads(release, module)


def _reads(release: Release, module: Module) -> Iterator[dict[str, Any]]:
    """The calls in one module that read a watched variable; one that only asks whether it is set serves a warning."""
    asked = {
        node.left
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.IsNot) and isinstance(node.left, ast.Call)
    }
    for node in ast.walk(module.tree):
        match node:
            case ast.Call(func=func, args=[ast.Constant(value=str(name)), *rest]) if (
                name in WATCHED and ast.unparse(func).rpartition(".")[2] in _READERS
            ):
                one = _row(release, module, name, node.lineno)
                if node in asked:
                    yield one | {"deprecated": "warned about, does nothing"}
                else:
                    yield one | _read_as(ast.unparse(func).rpartition(".")[2], rest)


def _read_as(reader: str, rest: list[ast.expr]) -> dict[str, Any]:
    """The type and default that a direct read gives a variable."""
    default = rest[0].value if rest and isinstance(rest[0], ast.Constant) else None
    if reader == "get_bool_env_var":
        return {"type": "bool", "default": str(default).lower() in ("true", "1")}
    if reader == "get_int_env_var":
        return {"type": "int", "default": default if rest else 0}
    return {"type": "str", "default": default}
