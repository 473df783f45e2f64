"""The model classes a release has, from the `EntryClass` of every module of its models' folder, and what it does without one.

The registry imports the modules directly below `sglang/srt/models` and registers what their `EntryClass` holds under the
class's own name. Model files are large: only the assignment is parsed, and more of a file where a name is not its own class.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from specconf.engines.sglang.harvest.evaluate import ClassIn, Module, NotStatic, Scope
from specconf.engines.sglang.harvest.model import Place
from specconf.engines.sglang.harvest.release import Release
from specconf.engines.sglang.harvest.rows import functions, last_name, table_row
from specconf.errors import HarvestError
from specconf.harvest.intervals import Row

_FOLDER = "sglang/srt/models"
_LOADER = "sglang.srt.model_loader.utils"
_ENTRY = re.compile(r"^([ \t]*)EntryClass\b", re.MULTILINE)
_IMPORTED = re.compile(r"^\s*(?:from|import)\b.*\bEntryClass\b", re.MULTILINE)
_MAX_LINES = 200


def registry_rows(release: Release) -> list[Row]:
    """The rows of `model_registry`, then those of `transformers_fallback`.

    Raises HarvestError for sources in which no module registers a class: every release has some.
    """
    found: dict[str, Row] = {}
    noted = len(release.unread)
    for file in release.archive.below(_FOLDER):
        if file.count("/") != _FOLDER.count("/") + 1:
            continue
        text = release.archive.text(file)
        if "EntryClass" not in text:
            continue
        for name, line in _entries(release, file, text):
            evidence = [Place(release.name, file, line).evidence()]
            row = {"table": "model_registry", "value": name, "module": file, "class": name, "evidence": evidence}
            if name in found:
                release.unread.append(f"{file}: {name} is registered by {found[name]['module']} as well")
            found.setdefault(name, row)
    if not found and len(release.unread) == noted:
        raise HarvestError(
            f"release {release.name}: no model registry found: no module in {_FOLDER} has an EntryClass",
            hint="Every release has some: the source is incomplete.",
        )
    return [*found.values(), *_fallback(release, list(found))]


def _entries(release: Release, file: str, text: str) -> Iterator[tuple[str, int]]:
    """The names of the classes that a module registers, each with the line of the assignment."""
    places = list(_ENTRY.finditer(text))
    if not places and not _IMPORTED.search(text):
        return
    if len(places) != 1 or places[0][1]:
        release.unread.append(f"{file}: EntryClass is not assigned once at the top level")
    for place in places[-1:] if places and not places[-1][1] else ():
        line = text.count("\n", 0, place.start()) + 1
        value = _assigned(text[place.start() :])
        nodes = value.elts if isinstance(value, ast.List | ast.Tuple) else [value] if value else []
        if not nodes:
            release.unread.append(f"{file}:{line}: EntryClass is no class or list of classes")
        for node in nodes:
            name = _class_name(release, file, text, node)
            if name:
                yield name, line


def _assigned(text: str) -> ast.expr | None:
    """The value of the assignment at the start of a text, which goes on over as many lines as it needs."""
    lines = text.splitlines()
    for end in range(1, min(len(lines), _MAX_LINES) + 1):
        try:
            tree = ast.parse("\n".join(lines[:end]))
        except SyntaxError:
            continue
        match tree.body:
            case [ast.Assign(value=value) | ast.AnnAssign(value=ast.expr() as value)]:
                return value
        return None
    return None


def _class_name(release: Release, file: str, text: str, node: ast.expr) -> str:
    """The name that a registered class was defined with."""
    if isinstance(node, ast.Name) and re.search(rf"^class {node.id}\b", text, re.MULTILINE):
        return node.id
    module = release.evaluator.sources.module(file.removesuffix(".py").replace("/", "."))
    try:
        value = release.evaluator.value(node, Scope(module)) if module is not None else None
    except NotStatic as reason:
        release.unread.append(f"{file}: EntryClass {ast.unparse(node)}: {reason}")
        return ""
    if isinstance(value, ClassIn):
        return value.node.name
    release.unread.append(f"{file}: EntryClass {ast.unparse(node)} is no class")
    return ""


def _fallback(release: Release, registered: list[str]) -> Iterator[Row]:
    """The classes that stand in for an architecture without one: a fixed name, or a name that is put together.

    Where it is put together, every registered class with its first part can be the one.
    """
    module = release.evaluator.sources.module(_LOADER)
    for function in functions(module, "resolve_transformers_arch") if module is not None else ():
        assert module is not None
        places = dict(_fixed_names(function))
        for start, line in _starts(module):
            if not places or any(not name.startswith(start) for name in places):
                places.update({name: line for name in registered if name.startswith(start)})
        for name, line in places.items():
            if name not in registered:
                release.unread.append(f"{module.file}:{line}: the fallback {name} is not registered")
            yield table_row(release, module, line, "transformers_fallback", name)


def _fixed_names(function: ast.AST) -> Iterator[tuple[str, int]]:
    """The names written into the list of architectures, each with its line."""
    for node in ast.walk(function):
        match node:
            case ast.Assign(
                targets=[ast.Subscript(value=ast.Name(id="architectures"))], value=ast.Constant(value=str(name))
            ):
                yield name, node.lineno


def _starts(module: Module) -> Iterator[tuple[str, int]]:
    """The first part of a name that a function for the backend's architecture puts together."""
    for function in functions(module, "_get_transformers_backend_arch"):
        for node in ast.walk(function):
            match node:
                case ast.Assign(targets=[target], value=ast.Constant(value=str(start))) if last_name(target) == "arch":
                    yield start, node.lineno
