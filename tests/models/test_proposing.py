"""Which method is proposed for a target: its MTP layers, a published EAGLE3 head, else n-gram lookup; and why."""

from __future__ import annotations

from typing import Any

from specconf.compat.store import load_rows
from specconf.models.derive import model_facts
from specconf.models.facts import ModelFacts, Source, SourceKind
from specconf.models.hub import Cause, Unavailable
from specconf.models.proposing import known_drafts, propose_draft, propose_k, propose_method
from specconf.models.rows import RowTable

PLAIN = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "num_hidden_layers": 2, "vocab_size": 10}
NOBODY = RowTable([])


def facts(config: dict[str, Any], tensors: frozenset[str] | None = None) -> ModelFacts:
    return model_facts(config, source=Source(SourceKind.LOCAL, "config.json"), tensors=tensors)


def head(name: str, **row: Any) -> dict[str, Any]:
    source = {"kind": "source", "package": "vllm", "release": "0.33.0", "file": "tests/models/registry.py"}
    return {"id": name, "kind": "eagle3", "config": {}, "drafts_for": ["o/target"], "source": [source]} | row


def test_layers_of_the_checkpoint_come_first() -> None:
    found = facts(PLAIN | {"num_nextn_predict_layers": 2})
    proposal = propose_method("o/target", found, RowTable([head("o/head")]))
    assert (proposal.method, proposal.draft) == ("mtp", None)
    assert "MTP layers (2)" in proposal.why
    assert propose_k("mtp", found) == (2, propose_k("mtp", found)[1])  # type: ignore[index]


def test_layers_that_the_weights_do_not_hold_are_none() -> None:
    found = facts(PLAIN | {"num_nextn_predict_layers": 1}, frozenset({"model.layers.0.mlp.weight"}))
    proposal = propose_method("o/target", found, NOBODY)
    assert proposal.method == "ngram"
    assert "weights hold no MTP layers" in proposal.why


def test_a_published_head_of_the_target_or_of_its_other_name() -> None:
    target = head("o/target", kind="plain", aliases=["o/old-name"], drafts_for=[])
    rows = RowTable([target, head("o/b"), head("o/a"), head("o/c", kind="unknown", drafts_by="eagle3")])
    for name in ("o/target", "o/old-name"):
        proposal = propose_method(name, facts(PLAIN), rows)
        assert (proposal.method, proposal.draft) == ("eagle3", "o/a")
        assert "vllm 0.33.0, tests/models/registry.py" in proposal.why
        assert "Others: o/b, o/c." in proposal.why


def test_without_either_a_lookup_and_the_reason() -> None:
    rows = RowTable([head("o/other", drafts_for=["o/else"]), head("o/d", kind="dflash")])
    proposal = propose_method("o/target", facts(PLAIN), rows)
    assert proposal.method == "ngram"
    assert "has no MTP layers" in proposal.why
    assert "Published drafts by other methods: o/d (dflash)." in proposal.why
    unknown = propose_method("o/target", Unavailable("nobody was asked", Cause.NOT_HERE), NOBODY)
    assert unknown.method == "ngram"
    assert "not known" in unknown.why


def test_a_plain_model_is_no_known_draft_since_no_row_says_how_it_drafts() -> None:
    rows = RowTable([head("o/small", kind="plain"), head("o/d", kind="plain", drafts_by="draft_model")])
    assert [row.id for row in known_drafts("o/target", rows)["draft_model"]] == ["o/d"]
    assert propose_draft("o/target", "pard", rows) is None


def test_a_row_that_another_hides_is_not_proposed() -> None:
    rows = RowTable([head("o/head", drafts_for=[]), head("o/head")])
    assert known_drafts("o/target", rows) == {}


def test_the_shipped_rows_say_how_their_drafts_draft() -> None:
    rows = RowTable(load_rows("checkpoints"))
    assert (
        propose_draft("meta-llama/Llama-3.1-8B-Instruct", "eagle3", rows).draft == "yuhuili/EAGLE3-LLaMA3.1-Instruct-8B"
    )  # type: ignore[union-attr]
    assert propose_method("Qwen/Qwen3-8B", facts(PLAIN), rows).draft == "AngelSlim/Qwen3-8B_eagle3"


def test_methods_that_bring_their_own_depth_get_none() -> None:
    assert propose_k("dflash", facts(PLAIN)) is None
    assert propose_k("none", facts(PLAIN)) is None
    assert propose_k("eagle3", facts(PLAIN))[0] == 3  # type: ignore[index]
