"""What was said of a launch is remembered while its file is judged again, and never told at another place."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from specconf.compat.database import load_database
from specconf.lint.run import FileResult, Linter
from specconf.lint.verdicts import Verdict, Verdicts
from specconf.settings import Settings
from tests.lint.conftest import models

SERVICE = """services:
  a: &a
    image: vllm/vllm-openai:v0.33.0
    command: --model org/m --speculative-model org/d
"""


def _counting(monkeypatch: pytest.MonkeyPatch) -> tuple[Linter, list[int]]:
    asked = [0]
    judge = Linter._at

    def counted(self: Linter, *args: object) -> object:
        asked[0] += 1
        return judge(self, *args)  # type: ignore[arg-type]

    monkeypatch.setattr(Linter, "_at", counted)
    return Linter(load_database, models), asked


def _places(result: FileResult) -> list[tuple[str, int]]:
    return [(f.code, f.where.line if f.where else 0) for f in result.all_findings]


def test_merged_services_are_judged_once(monkeypatch: pytest.MonkeyPatch) -> None:
    linter, asked = _counting(monkeypatch)
    result = linter.text("compose.yaml", SERVICE + "".join(f"  s{i}:\n    <<: *a\n" for i in range(20)))
    assert len(result.launches) == 21
    assert asked == [1]
    assert {len(launch.findings) for launch in result.launches} == {1}


def test_the_same_words_at_other_places_are_told_there(monkeypatch: pytest.MonkeyPatch) -> None:
    linter, asked = _counting(monkeypatch)
    line = "docker run vllm/vllm-openai:v0.33.0 --model org/m --speculative-model org/d\n"
    result = linter.text("run.sh", line * 3)
    assert _places(result) == [("SC101", 1), ("SC101", 2), ("SC101", 3)]
    assert asked == [3]


def test_a_text_that_differs_in_one_launch_is_judged_anew_there_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    linter, asked = _counting(monkeypatch)
    line = "docker run vllm/vllm-openai:v0.33.0 --model org/m --speculative-model org/d\n"
    linter.text("run.sh", line * 5)
    asked[0] = 0
    changed = linter.text("run.sh", line * 2 + line.replace("speculative-model", "spec-model") + line * 2)
    assert asked == [1]
    assert [line for code, line in _places(changed) if code == "SC101"] == [1, 2, 4, 5]


def test_another_release_is_another_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    linter, asked = _counting(monkeypatch)
    text = "docker run vllm/vllm-openai:v0.33.0 --model org/m --speculative-model org/d\n"
    assert _places(linter.text("run.sh", text)) == [("SC101", 1)]
    linter.text("run.sh", text.replace("0.33.0", "0.7.3"))
    assert asked == [2]


def _verdict(name: str) -> Callable[[], Verdict]:
    return lambda: Verdict(Settings(name), [], ())


def test_only_the_text_and_the_one_before_it_are_kept() -> None:
    verdicts = Verdicts()
    for path, key in (("a", 1), ("a", 2), ("a", 3)):
        verdicts.begin(path)
        verdicts.get(key, _verdict(str(key)))
    assert verdicts.get(2, _verdict("anew")).settings.engine == "2"
    assert verdicts.get(1, _verdict("anew")).settings.engine == "anew"
    verdicts.begin("b")
    assert verdicts.get(3, _verdict("anew")).settings.engine == "anew"
