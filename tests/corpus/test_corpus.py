"""Launches of public reports: what is found in them stays found, what is missed says so, and little stays undecided."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import corpus_score  # noqa: E402  # a tool, not a package

ENGINES = corpus_score.ENGINES
REPORTS = {engine: corpus_score.reports(engine) for engine in ENGINES}
CASES = [
    pytest.param(report, case, id=f"{engine}-{case.launch}-{case.release}-{case.level}")
    for engine in ENGINES
    for report in REPORTS[engine]
    for case in report.cases
]


def mode_of(report: Any) -> str:
    mode: str = corpus_score.COUNTED.get(report.checkable, corpus_score.CONFIGS)
    return mode


@pytest.mark.parametrize(("report", "case"), CASES)
def test_each_case_is_found_or_known_to_be_missed(report: Any, case: Any) -> None:
    found = corpus_score.outcome(case, mode_of(report))
    assert found.hit is not bool(case.miss), found.reason or f"no longer missed: {found.found}"


@pytest.mark.parametrize("mode", corpus_score.MODES)
@pytest.mark.parametrize(("report", "case"), [p for p in CASES if p.values[1].level == "ok"])
def test_no_false_error(report: Any, case: Any, mode: str) -> None:
    errors = [
        f.message
        for f in corpus_score.verdict(case.engine, case.launch, case.release, mode).findings
        if f.severity == "error"
    ]
    assert not errors


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("mode", "least"), [(corpus_score.ALONE, 0.88), (corpus_score.CONFIGS, 0.95)])
def test_little_is_left_undecided(engine: str, mode: str, least: float) -> None:
    decided, held = corpus_score.share(REPORTS[engine], mode)
    assert decided / held >= least


@pytest.mark.parametrize("engine", ENGINES)
def test_every_launch_is_used_and_every_report_is_counted_or_says_why(engine: str) -> None:
    used = {case.launch for report in REPORTS[engine] for case in report.cases}
    assert used == {path.name for path in (corpus_score.CORPUS / engine).glob("*")}
    for report in REPORTS[engine]:
        assert report.not_counted or report.checkable in corpus_score.COUNTED, report.id
        assert all(case.level in corpus_score.LEVELS for case in report.cases)
        assert all(case.finds or case.level == "ok" for case in report.cases)


def test_a_case_without_its_fault_is_no_hit() -> None:
    """The score can fall: the finding that is named must be there, not any finding."""
    case = next(case for report in REPORTS["vllm"] for case in report.cases if case.launch == "BR-005.sh")
    other = corpus_score.Case("vllm", case.report, "BR-016.sh", case.release, case.level, case.finds)
    assert corpus_score.outcome(case, corpus_score.ALONE).hit
    assert not corpus_score.outcome(other, corpus_score.ALONE).hit


def test_settling_drops_the_misses_that_are_hits_and_no_others() -> None:
    text = "- launch: a.sh\n  release: 1.0\n  miss: no rule\n- launch: BR-005.sh\n  release: 0.7.3\n  miss: no rule\n"
    case = next(case for report in REPORTS["vllm"] for case in report.cases if case.launch == "BR-005.sh")
    claimed = structs.replace(case, miss="no rule")
    report = corpus_score.Report("BR-005", "x", "static", "x", (claimed,))
    assert corpus_score.settled(text, [report]) == text.removesuffix("  miss: no rule\n")


@pytest.mark.parametrize("engine", ENGINES)
def test_the_page_is_current(engine: str) -> None:
    written = corpus_score.page_path(engine).read_text(encoding="utf-8")
    assert written == corpus_score.page(engine, REPORTS[engine]), "run tools/corpus_score.py --write"
