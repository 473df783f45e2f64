"""A linter over the shipped database that knows the shipped checkpoint table alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from specconf.compat.database import load_database
from specconf.compat.store import load_rows
from specconf.engines.base import Engine, Models
from specconf.lint.files import around
from specconf.lint.run import FileResult, Linter
from specconf.models import Mode, Resolver
from specconf.models.rows import RowTable
from specconf.models.view import written_models
from specconf.settings import Settings
from tests.lint.boxes import boxes

__all__ = ["boxes"]


def models(settings: Settings, engine: Engine, folder: Path) -> Models:
    resolver = Resolver(
        mode=Mode.OFFLINE, checkpoints=RowTable(load_rows("checkpoints")), cache_dir=folder, base_dir=folder
    )
    return Models(*written_models(engine.model_path, engine.draft_path, settings, resolver.resolve))


def linted(path: Path) -> FileResult:
    return Linter(load_database, models).file(str(path), path.read_bytes(), around(str(path)))


def lint_text(
    text: str,
    path: str = "run.sh",
    *,
    explicit: Mapping[str, str] | None = None,
    project: Mapping[str, str] | None = None,
    **releases: str,
) -> FileResult:
    return Linter(load_database, models, {**(explicit or {}), **releases}, project or {}).file(path, text.encode())


Lint = Callable[..., FileResult]


@pytest.fixture
def lint() -> Lint:
    return lint_text
