"""The pretended engine's environment, made once, and a worker in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from specconf.oracle.client import Worker
from specconf.oracle.excluded import Excluded
from tests.oracle.pretend import make_environment

ADAPTER = "pretend_adapter"
EXCLUDED = (
    Excluded("missing-module", re.compile("lacks the module"), "kernels are not installed"),
    Excluded("outside", re.compile("^raised by "), "another package stopped"),
)


@pytest.fixture(scope="session")
def pretend(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The python of the environment."""
    return make_environment(tmp_path_factory.mktemp("pretend") / "env")


@pytest.fixture(scope="module")
def worker(pretend: Path) -> Iterator[Worker]:
    with Worker(pretend, ADAPTER, "1.0", excluded=EXCLUDED, limit=20) as running:
        yield running
