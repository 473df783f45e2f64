"""No false alarms: launches of engines' recipes, docs and examples, which their authors ran, get no error but proven ones.

`ENGINE_launches.jsonl` is written by `tools/false_alarms.py`; `docs/corpus/ENGINE-false-alarms.md` says of each error why it is
right. A new error here is a fault of a rule until the release's own code says otherwise.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from specconf.findings import Severity

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
ENGINES = ("vllm", "sglang", "tensorrt-llm")
MOST_LINES = 12


def _parts(engine: str) -> dict[str, list[dict[str, Any]]]:
    """Launches of one file are judged together: thousands of tests would take longer to count than to run."""
    parts: dict[str, list[dict[str, Any]]] = {}
    for row in map(json.loads, (HERE / f"{engine}_launches.jsonl").read_text(encoding="utf-8").splitlines()):
        parts.setdefault("/".join(row["file"].split("/")[:3]), []).append(row)
    return parts


ROWS = {engine: _parts(engine) for engine in ENGINES}


@pytest.fixture(scope="module")
def judging() -> Iterator[Any]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "tools"))
        import false_alarms_judging

        yield false_alarms_judging
        sys.modules.pop("false_alarms_judging")


@pytest.fixture(scope="module")
def judges(judging: Any) -> dict[str, Any]:
    return {engine: judging.Judge(engine) for engine in ENGINES}


@pytest.mark.parametrize(("engine", "part"), [(engine, part) for engine in ENGINES for part in sorted(ROWS[engine])])
def test_only_proven_errors(engine: str, part: str, judging: Any, judges: dict[str, Any]) -> None:
    unproven = []
    for row in ROWS[engine][part]:
        launch = judging.from_row(engine, row)
        for release in row["releases"]:
            verdict = judges[engine].judge(launch, release)
            extra = set(verdict.keys(Severity.ERROR)) - set(row["errors"].get(release, []))
            unproven += [(row["file"], row["line"], release, key) for key in sorted(extra)]
            assert len(verdict.unchecked) <= MOST_LINES, (row["file"], row["line"], verdict.unchecked)
    assert unproven == []


@pytest.mark.parametrize("engine", ENGINES)
def test_proven_errors_are_still_found(engine: str, judging: Any, judges: dict[str, Any]) -> None:
    """Once for each: a rule that no longer sees what the engine refuses is as wrong as one that cries wolf."""
    wanted: dict[str, tuple[dict[str, Any], str]] = {}
    for row in (row for rows in ROWS[engine].values() for row in rows):
        for release, keys in row["errors"].items():
            for key in keys:
                wanted.setdefault(key, (row, release))
    for key in sorted(set(wanted) - WRONG[engine]):
        row, release = wanted[key]
        found = judges[engine].judge(judging.from_row(engine, row), release).keys(Severity.ERROR)
        assert key in found, (key, row["file"], release)


# Errors that are known to be wrong: they may go.
WRONG: dict[str, set[str]] = {"vllm": set(), "sglang": {"SC101 --num-gpus"}, "tensorrt-llm": set()}


@pytest.mark.parametrize("engine", ENGINES)
def test_a_row_is_the_launch_it_was_made_of(engine: str, judging: Any) -> None:
    for row in (rows[0] for rows in ROWS[engine].values()):
        again = judging.as_row(judging.from_row(engine, row))
        assert again == {name: row[name] for name in again}
