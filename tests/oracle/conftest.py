"""What takes longest to make, made once: an environment with a pretended engine and a worker in it, and one with pip."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from specconf.oracle.client import Worker
from specconf.oracle.excluded import Excluded
from specconf.oracle.installing import Tools
from specconf.oracle.steps import Steps
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


@pytest.fixture(scope="session")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder `tools` of a root, as a build makes it."""
    root = tmp_path_factory.mktemp("pip")
    Tools(root, Steps()).pip()
    return root / "tools"
