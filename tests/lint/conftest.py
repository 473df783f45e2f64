"""Judging a text in this process, with the database as it is shipped and no model known."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from specconf.compat.database import load_database
from specconf.engines.base import Engine, Models
from specconf.lint.run import FileResult, Linter
from specconf.models.view import model_views
from specconf.settings import Settings

Lint = Callable[..., FileResult]


def no_models(_settings: Settings, _engine: Engine, _folder: Path) -> Models:
    """No model is known."""
    return Models(*model_views(None, None))


@pytest.fixture
def lint() -> Lint:
    """Judge a text as a file of some name."""

    def run(text: str, path: str = "serve.sh", **explicit: str) -> FileResult:
        return Linter(load_database, no_models, explicit).file(path, text.encode())

    return run
