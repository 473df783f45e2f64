"""The attention backends that a draft model can run with: to draft (decode), and to take up what was accepted (prefill).

First a chain of comparisons in EAGLE's worker, where a backend without a `prefill` of its own uses the target's; then two
tables of makers in that worker; later the same in a factory.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from specconf.engines.sglang.harvest.evaluate import Module
from specconf.engines.sglang.harvest.release import Release
from specconf.engines.sglang.harvest.rows import branches, compared_with, functions, last_name, table_row
from specconf.harvest.intervals import Row

_MODULES = ("sglang.srt.speculative.draft_utils", "sglang.srt.speculative.eagle_worker")
_MAKERS = {"create_decode_backend": "decode", "create_draft_extend_backend": "prefill"}
_CHAIN = ("init_attention_backend", "__init__")
_FIELDS = {"draft_attn_backend": "decode", "draft_extend_attn_backend": "prefill"}
_Found = dict[str, dict[str, int]]


def backend_rows(release: Release) -> list[Row]:
    """The rows of `draft_attention_backends`."""
    for name in _MODULES:
        module = release.evaluator.sources.module(name)
        found = _tables(release, module) or _chain(module) if module is not None else {}
        if module is not None and found:
            return [
                table_row(
                    release,
                    module,
                    min(uses.values()),
                    "draft_attention_backends",
                    value,
                    **dict.fromkeys(sorted(uses), True),
                )
                for value, uses in found.items()
            ]
        if module is not None and "draft_attn_backend" in release.archive.text(module.file):
            release.unread.append(f"{module.file}: the attention backends of draft models were not found")
    return []


def _tables(release: Release, module: Module) -> _Found:
    """The keys of the tables of makers, with the line of each use."""
    found: _Found = {}
    for name, use in _MAKERS.items():
        for function in [*functions(module, name), *functions(module, f"_{name}")]:
            for key in _keys(release, module, function):
                found.setdefault(str(key.value), {})[use] = key.lineno
    return found


def _keys(release: Release, module: Module, function: ast.AST) -> Iterator[ast.Constant]:
    """The texts that a function maps in tables of its own."""
    for node in ast.walk(function):
        match node:
            case ast.Dict(keys=keys):
                yield from (key for key in keys if isinstance(key, ast.Constant) and isinstance(key.value, str))
            case ast.Assign(targets=[ast.Subscript()]):
                release.unread.append(f"{module.file}:{node.lineno}: a table of backends is changed")


def _chain(module: Module) -> _Found:
    """The branches that compare the backend, by what each of them makes."""
    found: _Found = {}
    for name in _CHAIN:
        for function in functions(module, name):
            for test, body, line in branches(function.body):
                words = compared_with(test, "attention_backend") if test is not None else []
                uses = dict.fromkeys(_made(body), line)
                for word in words if uses else ():
                    if isinstance(word, ast.Constant):
                        found.setdefault(str(word.value), {}).update(uses)
    return found


def _made(body: list[ast.stmt]) -> Iterator[str]:
    """The uses for which a branch makes a backend."""
    for node in ast.walk(ast.Module(body, [])):
        match node:
            case ast.Assign(targets=[target], value=ast.Call()) if last_name(target) in _FIELDS:
                yield _FIELDS[last_name(target)]
