"""No false alarms: launches of vLLM's recipes, docs and examples, which their authors ran, get no error but proven ones.

`vllm_launches.jsonl` is written by `tools/false_alarms.py`; `docs/corpus/vllm-false-alarms.md` says of each error why it is
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
# Launches of one file are judged together: thousands of tests would take longer to count than to run.
ROWS: dict[str, list[dict[str, Any]]] = {}
for _row in map(json.loads, (HERE / "vllm_launches.jsonl").read_text(encoding="utf-8").splitlines()):
    ROWS.setdefault("/".join(_row["file"].split("/")[:3]), []).append(_row)
MOST_LINES = 12


@pytest.fixture(scope="module")
def judging() -> Iterator[Any]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "tools"))
        import false_alarms_judging

        yield false_alarms_judging
        sys.modules.pop("false_alarms_judging")


@pytest.fixture(scope="module")
def judge(judging: Any) -> Any:
    return judging.Judge()


@pytest.mark.parametrize("part", sorted(ROWS))
def test_only_proven_errors(part: str, judging: Any, judge: Any) -> None:
    unproven = []
    for row in ROWS[part]:
        launch = judging.from_row(row)
        for release in row["releases"]:
            verdict = judge.judge(launch, release)
            extra = set(verdict.keys(Severity.ERROR)) - set(row["errors"].get(release, []))
            unproven += [(row["file"], row["line"], release, key) for key in sorted(extra)]
            assert len(verdict.unchecked) <= MOST_LINES, (row["file"], row["line"], verdict.unchecked)
    assert unproven == []


def test_proven_errors_are_still_found(judging: Any, judge: Any) -> None:
    """Once for each: a rule that no longer sees what the engine refuses is as wrong as one that cries wolf."""
    wanted: dict[str, tuple[dict[str, Any], str]] = {}
    for row in (row for rows in ROWS.values() for row in rows):
        for release, keys in row["errors"].items():
            for key in keys:
                wanted.setdefault(key, (row, release))
    for key in sorted(set(wanted) - WRONG):
        row, release = wanted[key]
        assert key in judge.judge(judging.from_row(row), release).keys(Severity.ERROR), (key, row["file"], release)


# Errors that are known to be wrong: they may go.
WRONG: set[str] = set()


def test_a_row_is_the_launch_it_was_made_of(judging: Any) -> None:
    for row in (rows[0] for rows in ROWS.values()):
        again = judging.as_row(judging.from_row(row))
        assert again == {name: row[name] for name in again}
