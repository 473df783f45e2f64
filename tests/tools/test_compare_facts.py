"""The comparison of harvested data with a facts file: spans, verdicts, explanations and the file that is committed."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
ORDER = ("0.1.0", "0.2.0", "0.3.0", "0.4.0")


@pytest.fixture(autouse=True)
def _tools(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))


def common() -> Any:
    import facts_common

    return facts_common


@pytest.mark.parametrize(
    ("members", "text"),
    [
        (ORDER, "0.1.0.."),
        (("0.2.0", "0.3.0"), "0.2.0..0.3.0"),
        (("0.1.0", "0.3.0", "0.4.0"), "0.1.0, 0.3.0.."),
        (("0.2.5",), "never"),
    ],
)
def test_a_span_names_its_unbroken_runs(members: tuple[str, ...], text: str) -> None:
    assert str(common().span(ORDER, members)) == text


def test_ranges_are_expanded_over_the_releases_of_the_harvest() -> None:
    releases = tuple({"version": version} for version in ORDER)
    harvest = common().Harvest(releases, (), ({"table": "words", "value": "a"},), ())
    row = {
        "releases": [
            {"before": "0.2.0"},
            {"since": {"not_in": "0.2.0", "in": "0.3.0"}, "before": {"in": "0.3.0", "not_in": "1"}},
        ]
    }
    assert harvest.held(row) == {"0.1.0", "0.3.0"}
    assert harvest.table("words", value="b") == []


@pytest.mark.parametrize("text", ["0.1.0..0.2.0, 0.4.0..", "0.1.0-0.2.0, 0.4.0-", "0.1.0 - 0.2.0, 0.4.0"])
def test_the_facts_write_spans_in_several_ways(text: str) -> None:
    harvest = common().Harvest((), (), (), ())
    assert str(common().Sides({}, harvest, ORDER).span(text)) == "0.1.0..0.2.0, 0.4.0.."


def test_a_difference_needs_an_explanation_and_an_explanation_a_difference() -> None:
    row, explained = common().Row, common().Explanation
    rows = [
        row("s", "a: x", "1", "1", "equal"),
        row("s", "b: x", "1", "2", "different"),
        row("s", "c", "1", "2", "different"),
    ]
    entries = [explained("s", "b: *", "engine", "read it"), explained("s", "a: x", "engine", "nothing to explain")]
    judged, unused = common().judge(rows, entries)
    assert [item.verdict for item in judged] == ["equal", "explained", "different"]
    assert unused == entries[1:]


def test_an_explanation_says_who_is_right(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text("- {section: s, key: [a, b], right: both, why: the same in other words}\n")
    assert [entry.key for entry in common().read_explanations(path)] == ["a", "b"]
    path.write_text("- {section: s, key: a, right: nobody, why: x}\n")
    with pytest.raises(ValueError, match="right"):
        common().read_explanations(path)


def write(folder: Path, **kinds: list[dict[str, Any]]) -> None:
    """Harvested files of these rows."""
    for kind, rows in kinds.items():
        (folder / f"{kind}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_the_program_exits_by_what_is_not_explained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import compare_facts

    fake = ModuleType("facts_vllm")
    fake.ABOUT = "A check."  # type: ignore[attr-defined]
    fake.rows = lambda facts, ours: [  # type: ignore[attr-defined]
        common().compared("s", "releases", facts["n"], len(ours.releases)),
        common().skipped("s", "prose", "words", "nothing to compare it with"),
    ]
    monkeypatch.setitem(sys.modules, "facts_vllm", fake)
    write(tmp_path, releases=[{"version": "0.1.0"}], options=[], tables=[], messages=[])
    facts, explained, result = tmp_path / "f.json", tmp_path / "why.yaml", tmp_path / "result.md"
    facts.write_text('{"n": 2}')
    words = ["vllm", str(facts), "--harvested", str(tmp_path), "--explained", str(explained), "--write", str(result)]
    assert compare_facts.main(words) == 1
    explained.write_text("- {section: s, key: releases, right: engine, why: The a|b release is one.}\n")
    assert compare_facts.main(words) == 0
    assert "1 explained" in capsys.readouterr().out
    text = result.read_text()
    assert "| releases | 2 | 1 | engine | The a\\|b release is one. |" in text
    assert "| prose | nothing to compare it with |" in text
    facts.write_text('{"n": 1}')
    assert compare_facts.main(words) == 1
    assert "unused explanation: s / releases" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        ("Expected ~ draft tokens, got", "Expected ~ draft tokens, got ~ instead", True),
        ("prompt_lookup_max=~ must be > 0", "prompt_lookup_min=~ must be > 0", False),
        ("rate: ~~, accepted", "rate: ~%%, accepted", True),
        ("Draft", "Draft model loaded here", False),
    ],
)
def test_messages_are_alike_when_one_begins_as_the_other(left: str, right: str, same: bool) -> None:
    import facts_vllm_messages

    assert facts_vllm_messages.alike(left, right) is same


def test_prose_about_families_is_read_into_values() -> None:
    import facts_vllm_families

    fact = {"target": "step3p5 (and step3p7, arch Step3p5/Step3p7 0.23.0+)", "first": "0.15.1"}
    assert sorted(facts_vllm_families._targets(fact)) == [
        ("Step3p5", "0.23.0"),
        ("Step3p7", "0.23.0"),
        ("step3p5", "0.15.1"),
        ("step3p7", "0.23.0"),
    ]
