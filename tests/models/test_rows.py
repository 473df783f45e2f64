"""Checkpoint rows: what a file may hold, and that the shipped files hold it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from specconf.compat.store import load_rows
from specconf.errors import DatabaseError
from specconf.models import Kind, Missing, ModelFacts, index_rows, load_checkpoint_rows, resolve_model

CHECKPOINTS = Path(__file__).parents[2] / "compat" / "checkpoints"
MACHINE = (
    "aiconfigurator.jsonl",
    "vllm_test_registry.jsonl",
    "vllm_docs.jsonl",
    "vllm_recipes.jsonl",
    "sglang_tests.jsonl",
)
NAMES = ("targets.yaml", "drafts.yaml", *MACHINE)

GOOD = """
- id: owner/name
  aliases: [owner/old-name]
  kind: plain
  config: {architectures: [LlamaForCausalLM], vocab_size: 9}
  remote_code: true
  source:
  - {kind: inferred, ref: owner/base}
  - {kind: report, ref: issue 1, keys: [vocab_size]}
"""


def shipped() -> dict[str, list[str]]:
    return {
        name: [row.id for row in load_checkpoint_rows((CHECKPOINTS / name).read_text(), name=name)] for name in NAMES
    }


def test_a_row() -> None:
    (row,) = load_checkpoint_rows(GOOD)
    assert (row.id, row.kind, row.complete, row.remote_code) == ("owner/name", Kind.PLAIN, False, True)
    assert row.evidence == "inferred"
    facts = resolve_model("owner/old-name", checkpoints=index_rows([row]))
    assert not isinstance(facts, Missing)
    assert facts.get("needs_remote_code") is True  # type: ignore[union-attr]
    assert [facts.evidence(path) for path in ("vocab_size", "config.vocab_size", "kind")] == [  # type: ignore[union-attr]
        "report",
        "report",
        "inferred",
    ]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("a: 1", "must hold a list"),
        ("- 1", "row 1 is not a mapping"),
        ("- {id: a/b, kind: plain}", "needs at least one source"),
        ("- {id: ../b, kind: plain, source: [{kind: docs, ref: x}]}", "needs an id"),
        ("- {id: a/b, kind: model, source: [{kind: docs, ref: x}]}", "kind must be one of"),
        ("- {id: a/b, kind: plain, source: [{kind: rumour, ref: x}]}", "source's kind"),
        ("- {id: a/b, kind: plain, source: [{kind: docs}]}", "names a ref or a file"),
        ("- {id: a/b, kind: plain, colour: red, source: [{kind: docs, ref: x}]}", "unknown keys: colour"),
        ("- {id: a/b, kind: plain, remote_code: 1, source: [{kind: docs, ref: x}]}", "remote_code must be bool"),
        ("- {id: a/b, kind: plain, config: [], source: [{kind: docs, ref: x}]}", "config must be a mapping"),
        (GOOD + GOOD, "owner/name has two rows"),
        ("- {", "cannot be read"),
    ],
)
def test_a_wrong_row_is_a_database_error(text: str, complaint: str) -> None:
    with pytest.raises(DatabaseError, match=complaint):
        load_checkpoint_rows(text)


def test_no_row_at_all() -> None:
    assert load_checkpoint_rows("") == []
    assert load_checkpoint_rows("\n", name="x.jsonl") == []


def test_earlier_groups_hide_later_ones() -> None:
    first = load_checkpoint_rows("- {id: a/b, kind: eagle, source: [{kind: docs, ref: x}]}")
    second = load_checkpoint_rows("- {id: a/b, kind: plain, source: [{kind: docs, ref: x}]}")
    assert index_rows(first, second)["a/b"].kind is Kind.EAGLE


def test_the_shipped_rows_load_and_hold_the_named_models() -> None:
    ids = shipped()
    assert {
        "meta-llama/Llama-3.1-8B-Instruct",
        "meta-llama/Llama-3.2-1B-Instruct",
        "Qwen/Qwen3-4B-Thinking-2507",
        "Qwen/Qwen3-0.6B",
        "Qwen/Qwen2.5-7B-Instruct",
        "Qwen/Qwen2.5-1.5B-Instruct",
        "XiaomiMiMo/MiMo-7B-Base",
        "XiaomiMiMo/MiMo-7B-RL",
    } <= set(ids["targets.yaml"])
    assert "yuhuili/EAGLE3-LLaMA3.1-Instruct-8B" in ids["drafts.yaml"]


@pytest.mark.parametrize("name", MACHINE)
def test_machine_written_rows_are_in_order(name: str) -> None:
    assert shipped()[name] == sorted(shipped()[name])


def test_a_partial_row_does_not_deny_mtp_layers() -> None:
    index = index_rows(load_checkpoint_rows((CHECKPOINTS / "aiconfigurator.jsonl").read_text(), name="a.jsonl"))
    partial = [row for row in index.values() if not row.complete]
    assert partial
    for row in partial:
        facts = resolve_model(row.id, checkpoints=index)
        shown = "num_nextn_predict_layers" in json.dumps(dict(row.config))
        assert facts.mtp_layers != 0 or shown  # type: ignore[union-attr]


def test_how_a_row_says_a_head_drafts_counts_where_nothing_else_tells() -> None:
    (row,) = load_checkpoint_rows(
        "- {id: a/b, kind: unknown, drafts_by: dspark, drafts_for: [a/t], source: [{kind: docs, ref: x}]}"
    )
    facts = resolve_model("a/b", checkpoints=index_rows([row]))
    assert isinstance(facts, ModelFacts)
    assert (facts.get("draft_kind"), facts.get("drafts_for")) == ("dspark", ["a/t"])
    assert isinstance(facts.get("kind"), Missing)


def test_the_index_keeps_the_row_that_shows_most_of_an_id() -> None:
    rows = {row["id"]: row for row in load_rows("checkpoints")}
    assert len(rows) == len(load_rows("checkpoints"))
    assert len(rows["Qwen/Qwen3-0.6B"]["config"]) > 10
    assert rows["yuhuili/EAGLE3-LLaMA3.1-Instruct-8B"]["drafts_for"] == ["meta-llama/Llama-3.1-8B-Instruct"]
    assert rows["Inferact/Kimi-K3-DSpark"]["drafts_by"] == "dspark"
