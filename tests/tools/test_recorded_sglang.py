"""SGLang's recorded answers beside ours: the committed comparison is what our rules say today."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import recorded_common  # noqa: E402  # tools, beside the package
import recorded_sglang  # noqa: E402
from recorded_sglang_reasons import reason  # noqa: E402


def test_the_page_is_current() -> None:
    """A refusal that another rule answers than before shows here, beside the engine's own words."""
    found = recorded_sglang.all_answers()
    assert recorded_sglang.page(found) == recorded_sglang.PAGE.read_text("utf-8"), (
        "run: python tools/recorded_sglang.py"
    )


def test_nearly_all_verdicts_agree() -> None:
    found = recorded_sglang.all_answers()
    assert len(found) > 9000
    assert sum(a.agrees for a in found) >= 0.98 * len(found)


def test_a_disagreement_of_a_gpu_machine_has_its_reason() -> None:
    unexplained = [
        (a.name, a.machine, a.release, a.probe)
        for a in recorded_sglang.all_answers()
        if not a.agrees
        and a.machine != "cpu"
        and not reason(a.name, a.probe, a.machine, str(a.recorded["says"] if a.refused else ""))
    ]
    assert unexplained == []


def test_answers_are_kept_as_runs_of_releases(tmp_path: Path) -> None:
    graphs = (
        "CudaGraphConfig(decode=PhaseConfig(backend='full', max_bs=2, bs=[1, 2], tc_compiler='eager'), prefill=None)"
    )
    lines = [
        _line("0.5.12", changed={"max_running_requests": [None, 48], "random_seed": [None, 7]}),
        _line("0.5.13", changed={"max_running_requests": [None, 48], "random_seed": [None, 8]}),
        _line("0.5.14", changed={"cuda_graph_config": [None, graphs]}),
        _line("0.5.15", verdict="reject", stage="resolve", message="x error: " + " ".join("abcdefghijklmn")),
    ]
    (tmp_path / "sglang-boundaries.jsonl").write_text("\n".join(map(json.dumps, lines)))
    found = recorded_sglang.read_recorded(tmp_path)["boundaries"]
    fixture = recorded_sglang.with_answers({"models": {}, "probes": {"plain": {"argv": []}}}, found)
    runs = fixture["probes"]["plain"]["answers"]["H100"]
    assert [run[:2] for run in runs] == [["0.5.12", "0.5.13"], ["0.5.14", "0.5.14"], ["0.5.15", "0.5.15"]]
    values = dict(zip(recorded_sglang.VALUES, runs[1][2], strict=True))
    assert values["cuda_graph_max_bs_decode"] == 2
    assert fixture["lists"][values["cuda_graph_bs_decode"]] == [1, 2]
    assert values["page_size"] == recorded_sglang.AS_PARSED
    assert runs[2][2] == {"stage": "resolve", "says": "a b c d e f g h i j k l"}


def _line(release: str, **more: Any) -> dict[str, Any]:
    return {"release": release, "gpu": "H100", "probe": "plain", "verdict": "accept", "stage": "done", **more}


@pytest.mark.parametrize(
    ("theirs", "ours", "expected"),
    [
        (0.83, 0.8304, True),
        (0.83, 0.835, False),
        (True, 1, False),
        (1, 1, True),
        (None, None, True),
        (0.9, True, False),
    ],
)
def test_when_two_values_are_one(theirs: Any, ours: Any, expected: bool) -> None:
    assert recorded_sglang.same(theirs, ours) is expected


def test_messages_are_cut_after_what_the_parser_says() -> None:
    assert recorded_common.first_words("usage: x error: one two") == "one two"
    assert recorded_common.first_words("") is None
