"""What the tests of SGLang share: the database compiled from the checkout, and models by config or by checkpoint row."""

from __future__ import annotations

from pathlib import Path

import pytest

from specconf.compat.database import Database
from specconf.compat.index import compile_engine
from specconf.compat.sources import SourceTree

COMPAT = Path(__file__).resolve().parents[3] / "compat"


@pytest.fixture(scope="session")
def database() -> Database:
    """SGLang's part of the database."""
    return Database(compile_engine(SourceTree(COMPAT), "sglang"))
