"""The fixture `engine_parser(engine, release)`: a release's own parser, or a skip that says how to get it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from engine_parser import EngineParser, engine_env


@pytest.fixture(scope="session")
def engine_parser() -> Iterator[Callable[[str, str], EngineParser]]:
    """Tests never build or download an environment: one that is absent skips the test."""
    running: dict[tuple[str, str], EngineParser] = {}
    environments = engine_env()

    def started(engine: str, release: str) -> EngineParser:
        key = (engine, release)
        if key not in running:
            folder = environments.environment_dir(engine, release)
            if not (folder / environments.MARKER).exists():
                pytest.skip(
                    f"no environment of {engine} {release} where SPECCONF_ENGINE_CACHE points "
                    f"(build it: python tools/engine_env.py {engine} {release})"
                )
            running[key] = EngineParser(engine, release, environments.python_of(folder))
        return running[key]

    yield started
    for parser in running.values():
        parser.close()
