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


def harvest(**kinds: Any) -> Any:
    """A harvest of all releases with these rows, and with these scopes if any."""
    releases = tuple({"version": version} for version in ORDER)
    rows = [tuple(kinds.get(kind, ())) for kind in ("options", "tables", "messages")]
    return common().Harvest(releases, *rows, scopes=kinds.get("scopes", {}))


def message(where: str, kind: str, fragment: str, **columns: Any) -> dict[str, Any]:
    return {"where": where, "kind": kind, "fragment": fragment, "releases": [{}]} | columns


def verdicts(rows: Any) -> dict[tuple[str, str], str]:
    return {(row.section, row.key): row.verdict for row in rows}


def test_messages_that_the_facts_lack_are_differences_by_file_and_kind() -> None:
    import facts_vllm_messages

    ours = harvest(
        messages=[
            message("vllm/a.py:A.check", "raise", "a draft is needed here"),
            message("vllm/a.py:A.check", "raise", "only one step is possible"),
            message("vllm/a.py:A.load", "raise", "no weights of the draft"),
            message("vllm/b.py:load", "warning", "the head is not shared"),
        ]
    )
    index = [
        {"where": "a.py:check", "kind": "raise ValueError", "key": "a draft is needed", "releases": "0.1.0.."},
        {"where": "c.py:check", "kind": "raise ValueError", "key": "something else altogether", "releases": "0.1.0.."},
    ]
    read = common().Sides({}, ours, ORDER).span
    rows = list(facts_vllm_messages.message_rows(index, ours, ORDER, read))
    assert verdicts(rows) == {
        ("message_index", "a.py:check a draft is needed"): "equal",
        ("message_index", "c.py:check something else altogether"): "different",
        ("message_index: here only", "a.py: 2 raise"): "different",
        ("message_index: here only", "b.py: 1 warning"): "different",
    }
    assert [(row.facts, row.ours) for row in rows[2:]] == [
        ("others of this file", "A.check: only one step is possible; A.load: no weights of the draft"),
        ("no message of this file", "load: the head is not shared"),
    ]


def test_a_message_of_no_release_that_the_facts_read_is_not_compared() -> None:
    import facts_vllm_messages

    ours = harvest(messages=[message("vllm/a.py:f", "raise", "an old one", releases=[{"before": "0.2.0"}])])
    (row,) = facts_vllm_messages.message_rows([], ours, ORDER[1:], common().Sides({}, ours, ORDER[1:]).span)
    assert (row.key, row.verdict) == ("1 messages here", "not compared")


def test_sites_of_the_facts_are_compared_whatever_they_are_about() -> None:
    import facts_sglang_checks

    ours = harvest(
        messages=[
            message("sglang/srt/a.py:f", "raise", "a draft is needed", exception="ValueError"),
            message("sglang/srt/b.py:f", "raise", "a draft is needed", exception="ValueError"),
            message("sglang/srt/b.py:f", "assert", "one draft at most"),
        ]
    )
    sites = [
        {
            "where": "a.py:f",
            "kind": "raise ValueError",
            "fragment": "a draft is needed",
            "intervals": [["0.1.0", "0.4.0"]],
        },
        {"where": "c.py:f", "kind": "assert", "fragment": "tokens must be 2D", "intervals": [["0.1.0", "0.4.0"]]},
    ]
    assert verdicts(facts_sglang_checks.check_rows({"checks_measured": sites}, ours)) == {
        ("checks_measured", "a.py:f | a draft is needed"): "equal",
        ("checks_measured", "c.py:f | tokens must be 2D"): "different",
        ("checks_measured: here only", "b.py: 1 assert"): "different",
        ("checks_measured: here only", "b.py: 1 raise"): "different",
    }


@pytest.mark.parametrize(
    ("listed", "seen"),
    [
        ([["0.1.0", ["a", "b"]]], {"--x choices": "equal"}),
        ([["0.1.0", ["a"]]], {"--x choices": "different"}),
        ([["0.1.0", "NAMES"]], {"--x choices 0.1.0..": "not compared"}),
        ([["0.1.0", ["a", "b"]], ["0.3.0", "NAMES"]], {"--x choices 0.3.0..": "not compared", "--x choices": "equal"}),
    ],
)
def test_choices_of_which_the_facts_have_only_a_name_are_not_compared(listed: Any, seen: dict[str, str]) -> None:
    import facts_sglang

    option = {"names": ["--x"], "path": "x", "scope": "sglang.cli", "choices": ["a", "b"], "releases": [{}]}
    fact = {"intervals": [["0.1.0", "0.4.0"]], "choices": listed}
    rows = facts_sglang._choices("flags", "--x", fact, harvest(options=[option]))
    assert {row.key: row.verdict for row in rows} == seen


def test_forms_and_abbreviations_are_read_off_the_scopes_and_the_options() -> None:
    import facts_vllm

    options = [
        {"names": [name], "path": name, "scope": "vllm.cli", "releases": [{"since": first}]}
        for name, first in (
            ("--speculative-config", "0.2.0"),
            ("--speculative-configuration", "0.4.0"),
            ("--config", "0.1.0"),
        )
    ]
    scopes = {"vllm.speculative_config": [{"releases": [{"since": "0.2.0"}], "forms": ["json", "dotted"]}]}
    fact = {
        "first": "0.2.0",
        "dotted": "0.3.0+: --speculative-config.<key> VALUE; from 0.4.0 dashes in keys become underscores",
        "yaml": "--config file.yaml 0.1.0+; speculative-config as JSON string in any release from 0.2.0; nested mapping 0.3.0+",
        "prefix_match": "argparse abbreviations work (e.g. --speculative-conf)",
    }
    sides = common().Sides({}, harvest(options=options, scopes=scopes), ORDER)
    rows = [*facts_vllm._forms(sides, "s", fact), facts_vllm._abbreviation(sides, "s", fact)]
    assert {row.key: (row.facts, row.ours) for row in rows if row.verdict != "not compared"} == {
        "form dotted": ("0.3.0", "0.2.0"),
        "form dotted_dashes": ("0.4.0", "never"),
        "form yaml": ("0.3.0", "never"),
        "form json": ("0.2.0", "0.2.0"),
        "yaml: --config": ("0.1.0", "0.1.0"),
        "prefix_match: --speculative-conf": ("0.2.0..", "0.2.0..0.3.0"),
    }


def test_files_with_the_interface_are_compared_once_it_is_harvested() -> None:
    import facts_vllm

    def interface(module: str, file: str) -> dict[str, Any]:
        evidence = [{"file": f"vllm/{file}.py", "release": "0.33.0"}]
        return {"table": "eagle3_interface", "value": module, "module": module, "releases": [{}], "evidence": evidence}

    files = ["model_executor/models/llama", "models/kimi/amd/model", "models/kimi/nvidia/model", "models/gone"]
    releases = ({"version": "0.33.0"},)
    rows = [
        interface("llama", "model_executor/models/llama"),
        interface("phi3", "model_executor/models/llama"),
        interface("vllm.models.kimi", "models/kimi/nvidia/model"),
        interface("new", "model_executor/models/new"),
    ]
    sides = common().Sides({}, common().Harvest(releases, (), tuple(rows), ()), ("0.33.0",))
    found = {row.key: row.verdict for row in facts_vllm._interface(sides, files)}
    assert found == dict.fromkeys(files[:3], "equal") | {"models/gone": "different", "files besides": "different"}
    (row,) = facts_vllm._interface(common().Sides({}, harvest(), ORDER), files)
    assert (row.verdict, row.reason) == ("not compared", "not harvested")
