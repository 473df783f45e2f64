"""Every constraint holds on its own probe and not on its twin, and says so in one plain sentence."""

from __future__ import annotations

import pytest

from specconf.compat.rows import Constraint
from specconf.kleene import Ternary
from specconf.rules.checker import condition_of
from specconf.rules.judge import judge_settings
from specconf.words import Launch, Word, words
from tests.engines.vllm.support import ENGINE, database, judged, models, view

CONSTRAINTS = [c for c in database().constraints if c.kind == "executable"]


def ids(constraint: Constraint) -> str:
    return constraint.id


@pytest.mark.parametrize("constraint", CONSTRAINTS, ids=ids)
def test_probe_meets_it_and_twin_does_not(constraint: Constraint) -> None:
    assert constraint.probe is not None
    assert constraint.twin is not None
    met = [f for f in judged(constraint.probe).findings if f.constraint == constraint.id]
    assert len(met) == 1, [f.message for f in judged(constraint.probe).findings]
    assert "unknown value" not in met[0].message + met[0].fix
    twin = judged(constraint.twin)
    assert constraint.id not in {f.constraint for f in twin.findings}
    assert constraint.id not in {n.constraint for n in twin.result.not_checked}


@pytest.mark.parametrize("constraint", CONSTRAINTS, ids=ids)
def test_probe_stands_in_its_range(constraint: Constraint) -> None:
    assert constraint.probe is not None
    held: Ternary = constraint.ranges.holds(database().line.place(constraint.probe["release"]))
    assert held is True


@pytest.mark.parametrize("constraint", CONSTRAINTS, ids=ids)
def test_sentences(constraint: Constraint) -> None:
    assert constraint.message.startswith("vLLM {release} ")
    for text in (constraint.message, constraint.fix):
        assert text.endswith(".")
        assert text[0].isupper() or text.startswith("vLLM")
    assert list(condition_of(constraint).leaves())


def test_a_speculative_config_that_cannot_be_read_is_not_judged() -> None:
    argv = (*words("vllm", "serve", "/models/target", "--speculative-config"), Word(None, raw="$SPEC"))
    for release in ("0.33.0", "0.16.0", "0.12.0", "0.9.2"):
        at = view(release)
        of = models({"architectures": ["LlamaForCausalLM"], "model_type": "llama", "vocab_size": 1024})
        judgement = judge_settings(ENGINE.resolve(Launch("vllm", argv), at), ENGINE, at, of)
        assert judgement.findings == []
        assert judgement.result.not_checked
