"""Every recorded answer of every release, judged again: the agreement is the one that is written down, and high enough."""

from __future__ import annotations

from pathlib import Path

import pytest

from specconf.compat.database import load_database
from specconf.engines.registry import get_engine, get_oracle
from specconf.verify.bars import bars_missed, bearable, exceptions_of, tally_of
from specconf.verify.compare import compare
from specconf.verify.observed import Folder, Whose
from specconf.verify.owed import Owed, owed
from specconf.verify.summary import figures, read_summary

COMPAT = Path(__file__).resolve().parents[2] / "compat"
FOLDERS = {engine: Folder(COMPAT / engine / "observed") for engine in ("vllm", "sglang")}
RELEASES = [(engine, release) for engine, folder in FOLDERS.items() for release in sorted(folder.releases())]
ASKED = {
    "vllm": (
        *("0.10.2", "0.12.0", "0.14.1", "0.16.0", "0.18.1", "0.20.2", "0.22.1"),
        *("0.24.0", "0.26.0", "0.28.0", "0.30.0", "0.31.0", "0.32.0", "0.33.0"),
    ),
    "sglang": (
        *("0.4.9.post6", "0.5.2", "0.5.6.post2", "0.5.8.post1", "0.5.10.post1", "0.5.12.post1", "0.5.13.post1"),
        *("0.5.15.post1", "0.5.17", "0.5.19", "0.5.20", "0.5.21", "0.5.22", "0.5.23"),
    ),
}
LEAST_LAUNCHES = 300
NEWEST = 6


@pytest.fixture(scope="module")
def questions() -> dict[str, dict]:  # type: ignore[type-arg]
    return {engine: folder.questions() for engine, folder in FOLDERS.items()}


@pytest.mark.parametrize(("engine", "release"), RELEASES)
def test_the_agreement_is_what_is_written_and_high_enough(engine: str, release: str, questions: dict) -> None:  # type: ignore[type-arg]
    observed = FOLDERS[engine].read(release)
    assert not observed.header.broken
    view = load_database(engine).at(release)
    found = compare(get_engine(engine), get_oracle(engine), view, observed, questions[engine])
    exceptions = exceptions_of(get_oracle(engine))
    assert bars_missed(found, exceptions) == []
    for below in exceptions.below:
        if below.release == release:
            tally = tally_of(found, below.origin, below.stage)
            disagree = tally.verdicts - tally.agreed
            assert bearable(tally.verdicts) < disagree == below.disagree, f"{below.origin} at {below.stage} is mended"
    assert figures(found, observed) == read_summary(FOLDERS[engine].path)[release], (
        "specconf db verify --recorded and tools/write_trust.py write it anew"
    )


@pytest.mark.parametrize(("engine", "release"), RELEASES)
def test_the_launches_are_those_that_would_be_asked_today(engine: str, release: str) -> None:
    view, observed = load_database(engine).at(release), FOLDERS[engine].read(release)
    left = owed(get_engine(engine), get_oracle(engine), view, observed)
    assert left == Owed(), f"{left}: specconf db verify {engine} {release} asks what is new"


@pytest.mark.parametrize("engine", ASKED)
def test_the_releases_that_must_be_asked_were_asked(engine: str) -> None:
    assert set(ASKED[engine]) <= set(FOLDERS[engine].releases())


@pytest.mark.parametrize(("engine", "release"), [(e, r) for e, releases in ASKED.items() for r in releases[-NEWEST:]])
def test_at_least_half_of_many_launches_are_nobodys(engine: str, release: str) -> None:
    rows = [row for row in FOLDERS[engine].read(release).rows if row.verdict is not None]
    assert len(rows) >= LEAST_LAUNCHES
    assert sum(row.whose is Whose.NOBODY for row in rows) >= len(rows) / 2
