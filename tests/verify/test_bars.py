"""How far a release must agree at each stage, and that an engine's exceptions say why."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from specconf.compat.names import ENGINE_NAMES
from specconf.engines.registry import get_oracle
from specconf.findings import Stage
from specconf.oracle.asking import Verdict
from specconf.verify.bars import Below, Exceptions, Origin, bars_missed, bearable, exceptions_of
from specconf.verify.compare import Agreement, Compared, Difference, Outcome
from specconf.verify.observed import Row
from tests.verify.test_compare import NGRAM, compared

ONE = compared({}, *NGRAM)
ORIGINS = {
    Origin.OWN: "probe vllm/a",
    Origin.ARRAY: "array 1:1",
    Origin.CORPUS: "corpus a.md:1",
    Origin.LOADED: "load a",
}


def launches(number: int, wrong: int, origin: Origin = Origin.ARRAY, stage: str = "config") -> list[Compared]:
    row = Row("k", (ORIGINS[origin],), Verdict.ACCEPTS, stage)
    outcomes = [Outcome.FALSE_ERROR] * wrong + [Outcome.AGREES] * (number - wrong)
    return [replace(ONE, row=row, outcome=outcome) for outcome in outcomes]


def missed(*parts: list[Compared], exceptions: Exceptions | None = None) -> list[str]:
    return bars_missed(Agreement("1.0", [one for part in parts for one in part]), exceptions or Exceptions())


@pytest.mark.parametrize(("verdicts", "wrong"), [(1, 1), (49, 1), (50, 1), (99, 1), (100, 2), (350, 7), (1000, 20)])
def test_a_fiftieth_may_disagree_and_one_of_few(verdicts: int, wrong: int) -> None:
    assert bearable(verdicts) == wrong
    assert missed(launches(verdicts, wrong)) == []
    if verdicts > wrong:
        assert missed(launches(verdicts, wrong + 1)) == [
            f"array at config: {wrong + 1} of {verdicts} verdicts disagree, {wrong} may"
        ]


@pytest.mark.parametrize("origin", Origin)
def test_no_stage_or_origin_hides_behind_another(origin: Origin) -> None:
    many = launches(1000, 0)
    assert missed(many, launches(10, 2, origin, "parse")) == [f"{origin} at parse: 2 of 10 verdicts disagree, 1 may"]


def test_an_exception_is_of_its_release_origin_and_stage() -> None:
    exceptions = Exceptions((Below("1.0", Origin.ARRAY, Stage.CONFIG, 3, "why"),))
    assert missed(launches(10, 3), exceptions=exceptions) == []
    assert missed(launches(10, 4), exceptions=exceptions)
    assert missed(launches(10, 3, stage="parse"), exceptions=exceptions)
    assert missed(launches(10, 3, Origin.OWN), exceptions=exceptions)
    assert bars_missed(Agreement("1.1", launches(10, 3)), exceptions)


def test_values_have_a_bar_too() -> None:
    paths = tuple(f"p{number}" for number in range(100))
    wrong = tuple(Difference(path, 1, 2) for path in paths[:4])
    one = replace(ONE, compared=paths, differences=wrong)
    assert missed([one]) == ["nobody: 96 of 100 values in force are equal, 97% must be"]
    assert missed([replace(one, differences=wrong[1:])]) == []


@pytest.mark.parametrize("engine", ENGINE_NAMES)
def test_every_exception_says_why(engine: str) -> None:
    found = exceptions_of(get_oracle(engine))
    places = [(each.release, each.origin, each.stage) for each in found.below]
    assert len(set(places)) == len(places)
    assert all(each.disagree and len(each.why) > 30 for each in found.below)
    assert all(found.not_started.values())


def test_an_engines_file_is_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "agreement.yaml").write_text(
        'below:\n- {release: 1.0.0, origin: corpus, stage: config, disagree: 3, why: "because\\n  of that"}\n'
        "not_started:\n- {releases: [1.0.0, 1.1.0], why: no wheel}\n"
    )
    monkeypatch.setattr("specconf.verify.bars.files", lambda _: tmp_path)
    found = exceptions_of(get_oracle("vllm"))
    assert found.below == (Below("1.0.0", Origin.CORPUS, Stage.CONFIG, 3, "because of that"),)
    assert found.not_started == {"1.0.0": "no wheel", "1.1.0": "no wheel"}
    (tmp_path / "agreement.yaml").unlink()
    assert exceptions_of(get_oracle("vllm")) == Exceptions()
