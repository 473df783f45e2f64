"""The fixture `engine_parser(engine, release)`: a release's own parser, or a skip that says how to get it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from engine_parser import EngineParser, Listing

from specconf.oracle import environment


def python_or_skip(engine: str, release: str) -> Path:
    """The python of a release's environment; a skip where there is none."""
    folder = environment.environment_dir(engine, release)
    if not (folder / environment.MARKER).exists():
        pytest.skip(
            f"no environment of {engine} {release} where SPECCONF_ENGINE_CACHE points "
            f"(build it: python -m specconf.oracle.environment {engine} {release})"
        )
    return environment.python_of(folder)


@pytest.fixture(scope="session")
def engine_listing() -> Callable[[str, str], Listing]:
    """What a release registers; its worker ends once it has said so, since there are many releases."""
    known: dict[tuple[str, str], Listing] = {}

    def listed(engine: str, release: str) -> Listing:
        key = (engine, release)
        if key not in known:
            parser = EngineParser(engine, release, python_or_skip(engine, release))
            known[key] = parser.listing()
            parser.close()
        return known[key]

    return listed


@pytest.fixture(scope="session")
def engine_parser() -> Iterator[Callable[[str, str], EngineParser]]:
    """Tests never build or download an environment: one that is absent skips the test."""
    running: dict[tuple[str, str], EngineParser] = {}

    def started(engine: str, release: str) -> EngineParser:
        key = (engine, release)
        if key not in running:
            running[key] = EngineParser(engine, release, python_or_skip(engine, release))
        return running[key]

    yield started
    for parser in running.values():
        parser.close()
