"""Agreement with what SGLang's own validators answered: verdict, and the numbers and switches in force afterwards.

The answers were recorded by running each release's argument code on an H100 profile without kernels.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from specconf.compat.database import Database
from specconf.compat.view import View
from specconf.engines.sglang import ENGINE
from specconf.findings import Severity, Stage
from specconf.rules.judge import judge_settings
from tests.engines.sglang.support import PROGRAM, in_force, launch, models_of

FOLDER = Path(__file__).parent / "recorded"
RECORDED: dict[str, Any] = {
    name: json.loads((FOLDER / f"{name}.json").read_text()) for name in ("boundaries", "profiles")
}
ARGUMENT_STAGES = {Stage.PARSE, Stage.CONFIG}
# What cannot be known from a launch: the content of a file it names, whether a folder lies in a checkpoint, and a slip of
# 0.5.6.post1 over the rotary settings of the tiny DeepSeek config that the validators were given.
NOT_DECIDED = {  # probe → the release from which on
    ("boundaries", "ad_flat"): "0.5.13",
    ("boundaries", "dsv4_DSPARK"): "0.5.23",
    ("boundaries", "DS_nodraft"): "0.5.23",
    ("profiles", "dspark_missing_draft"): "0.5.23",
}
SLIP = {"NEXTN_ds_none", "v2_nextn_ds", "pg_ds_fi", "pg_ds_fi_ns", "nx_dpa", "dpa_ns"}
CASES = [(name, release) for name, data in RECORDED.items() for release in data["releases"]]


def _not_decided(name: str, identifier: str, release: str) -> bool:
    since = NOT_DECIDED.get((name, identifier))
    order = RECORDED[name]["releases"]
    late = since is not None and order.index(release) >= order.index(since)
    return late or (release == "0.5.6.post1" and identifier in SLIP)


def _answer(data: dict[str, Any], probe: dict[str, Any], release: str) -> Any:
    order = data["releases"]
    for first, last, answer in probe["answers"]:
        if order.index(first) <= order.index(release) <= order.index(last):
            return answer
    return None


def _ours(view: View, data: dict[str, Any], probe: dict[str, Any]) -> Any:
    settings = ENGINE.resolve(launch(*PROGRAM, *probe["argv"], env=probe.get("env")), view)
    configs = [data["models"].get(settings.get(path)) for path in ("model_path", "speculative_draft_model_path")]
    judgement = judge_settings(settings, ENGINE, view, models_of(*configs), plain={"hardware.gpu": "H100"})
    if any(f.severity is Severity.ERROR and f.stage in ARGUMENT_STAGES for f in judgement.findings):
        return "reject"
    effective = judgement.result.effective
    return [
        "-" if not view.has(path) else in_force(judgement, path) if path in effective else view.default(path)
        for path in data["values"]
    ]


@pytest.mark.parametrize(("name", "release"), CASES)
def test_recorded_answers(database: Database, name: str, release: str) -> None:
    data, view = RECORDED[name], database.at(release)
    for identifier, probe in data["probes"].items():
        expected = _answer(data, probe, release)
        if expected is None or _not_decided(name, identifier, release):
            continue
        assert _ours(view, data, probe) == expected, f"{identifier}: {' '.join(probe['argv'])} {probe.get('env')}"


def test_few_recorded_answers_are_left_out() -> None:
    counted = Counter(
        _not_decided(name, identifier, release) for name, release in CASES for identifier in RECORDED[name]["probes"]
    )
    assert counted[True] <= 21
    assert counted[False] > 9000
