"""The targets whose own checkpoint is taken as the draft where no draft path is given: table `draft_from_target`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from specconf.engines.sglang.harvest.evaluate import Module, NotStatic, Scope
from specconf.engines.sglang.harvest.release import Release
from specconf.engines.sglang.harvest.rows import compared_with, last_name, table_row, unique
from specconf.harvest.intervals import Row

_MODULES = ("sglang.srt.arg_groups.speculative_hook", "sglang.srt.server_args")
_DRAFT, _TARGET = "speculative_draft_model_path", "model_path"


def own_path_rows(release: Release) -> list[Row]:
    """The rows of `draft_from_target`."""
    modules = (release.evaluator.sources.module(name) for name in _MODULES)
    return unique([row for module in modules if module is not None for row in _rows(release, module)])


def _rows(release: Release, module: Module) -> Iterator[Row]:
    """A row for every architecture that a condition with such an assignment in it compares with."""
    for node in ast.walk(module.tree):
        compared = compared_with(node.test, "model_arch") if isinstance(node, ast.If) else []
        if not compared or not isinstance(node, ast.If) or not any(_takes_target(child) for child in node.body):
            continue
        try:
            values = [release.evaluator.plain(right, Scope(module)) for right in compared]
        except NotStatic as reason:
            release.unread.append(f"{module.file}:{node.lineno}: the targets that draft for themselves: {reason}")
            continue
        for value in values:
            for name in value if isinstance(value, list) else [value]:
                yield table_row(release, module, node.lineno, "draft_from_target", name)


def _takes_target(statement: ast.stmt) -> bool:
    """Whether the target's path becomes the draft's: by an assignment, or by a keyword of a call that declares one."""
    for node in ast.walk(statement):
        match node:
            case ast.Assign(targets=[target], value=value) if (
                last_name(target) == _DRAFT and last_name(value) == _TARGET
            ):
                return True
            case ast.keyword(arg="speculative_draft_model_path", value=value) if last_name(value) == _TARGET:
                return True
    return False
