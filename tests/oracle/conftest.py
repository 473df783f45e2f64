"""A virtual environment with pip, made once: it takes the longest of all that the tests here need."""

from __future__ import annotations

from pathlib import Path

import pytest

from specconf.oracle.installing import Tools
from specconf.oracle.steps import Steps


@pytest.fixture(scope="session")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder `tools` of a root, as a build makes it."""
    root = tmp_path_factory.mktemp("pip")
    Tools(root, Steps()).pip()
    return root / "tools"
