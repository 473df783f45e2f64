"""Upgrading a spec: what it is lowered to at the release that runs and at the one to come, told as of launches of its file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec.structs import replace

from specconf.compat.view import View
from specconf.engines.base import Models
from specconf.engines.registry import get_engine
from specconf.lint.releases import Chosen
from specconf.lint.results import FileResult, Judged
from specconf.lint.upgrading import Compared, Upgraded
from specconf.readers.found import ReadLaunch
from specconf.rules.judge import judge_spec
from specconf.rules.upgrade import compare
from specconf.words import Launch, Span

if TYPE_CHECKING:
    from specconf.spec import LoadedSpec

FORMAT = "spec"


def upgraded_spec(
    loaded: LoadedSpec, path: str, text: str, pairs: Mapping[str, tuple[View, View]], models: Models
) -> Upgraded:
    """The spec compared for each engine of `pairs`, which holds the old and the new release."""
    result, launches = FileResult(path, text, FORMAT), []
    for name, views in pairs.items():
        engine = get_engine(name)
        where = loaded.span(f"engines.{name}.release") or loaded.span("speculation") or Span(path, 1, 1)
        both = [judge_spec(loaded.spec, engine, view, models, span=loaded.span) for view in views]
        found = compare(both[0], both[1], engine, views, where=where)
        chosen = Chosen((), f"{found.before} to {found.after}", f"engines.{name}.release", where)
        judged = Judged(ReadLaunch(Launch(name, (), span=where)), chosen, tuple(one.finding for one in found.told))
        result.launches.append(judged)
        launches.append(Compared(judged, found))
    return Upgraded(result, launches)


def with_release(upgraded: Upgraded, loaded: LoadedSpec, pairs: Mapping[str, tuple[View, View]]) -> Upgraded:
    """The spec's text with the release to come in each `engines.ENGINE.release` that holds the old one."""
    lines = upgraded.shown.text.split("\n")
    for name, (before, after) in pairs.items():
        where = loaded.span(f"engines.{name}.release")
        if where is None or not where.line or where.end_line != where.line:
            continue
        line = lines[where.line - 1]
        written = line[where.column - 1 : where.end_column - 1]
        bare = written.strip("'\"")
        if bare == before.release:
            quoted = written.replace(bare, after.release)
            lines[where.line - 1] = line[: where.column - 1] + quoted + line[where.end_column - 1 :]
    return replace(upgraded, text="\n".join(lines))
