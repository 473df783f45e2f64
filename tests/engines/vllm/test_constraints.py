"""Every constraint holds on its own probe and not on its twin, and says so in one plain sentence."""

from __future__ import annotations

import json
import re

import pytest

from specconf.compat.rows import Constraint
from specconf.engines.base import default_fact
from specconf.facts import Known
from specconf.findings import EvidenceKind, Severity
from specconf.kleene import Ternary
from specconf.rules.checker import condition_of
from specconf.rules.judge import judge_settings
from specconf.words import Launch, Word, words
from tests.engines.vllm.support import ENGINE, database, fixture, judged, judged_spec, models, view

DRAFT = {
    "target.model": "org/target",
    "speculation.method": "draft_model",
    "speculation.draft.model": "org/draft",
    "speculation.num_draft_tokens": 3,
}
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


@pytest.mark.parametrize("constraint", CONSTRAINTS, ids=ids)
def test_conditions_are_decidable_wherever_they_hold(constraint: Constraint) -> None:
    """An option that a release does not have, in a scope without a known default there, could never be decided."""
    line = database().line
    for path in {m[1] for m in re.finditer(r"'option\.([\w.]+)'", repr(constraint.when))}:
        for position, release in enumerate(line.names):
            if constraint.ranges.at(position):
                at = view(release)
                assert at.by_path.get(path) or isinstance(default_fact(at)(path), Known), f"{path} at {release}"


@pytest.mark.parametrize("release", ["0.6.4", "0.7.3", "0.8.1", "0.8.2", "0.9.2", "0.33.0"])
@pytest.mark.parametrize(("size", "refused"), [(1, False), (2, True), (3, True), (4, False)])
def test_tensor_parallel_sizes_of_a_draft(release: str, size: int, refused: bool) -> None:
    fields = DRAFT | {"serving.tensor_parallel_size": 4, "speculation.draft.tensor_parallel_size": size}
    of = models(fixture("llama-3.1-8b"), fixture("llama-3.2-1b"))
    judgement = judged_spec(fields, release, of)
    assert any("tensor parallel size 1 or the target's 4" in f.message for f in judgement.errors) is refused
    assert not [n for n in judgement.result.not_checked if "draft-tp" in n.constraint]


@pytest.mark.parametrize("release", ["0.8.5", "0.8.5.post1", "0.9.0", "0.9.2", "0.10.0", "0.12.0", "0.16.0", "0.33.0"])
@pytest.mark.parametrize(
    ("method", "head"), [("eagle", "eagle3-llama3.1-8b"), ("eagle3", "eagle-llama3.1-8b")], ids=["eagle", "eagle3"]
)
def test_a_head_of_the_other_kind_is_known_in_every_release(release: str, method: str, head: str) -> None:
    fields = DRAFT | {"speculation.method": method}
    right = "eagle3" if method == "eagle" else "eagle"
    of = models(fixture("llama-3.1-8b"), fixture(head))
    found = [f for f in judged_spec(fields, release, of).findings if f.constraint and f.code == "SC303"]
    assert found
    assert all(f.severity is not Severity.ERROR for f in found if f.evidence is EvidenceKind.INFERRED)
    fitting = judged_spec(fields | {"speculation.method": right}, release, of)
    assert not [f for f in fitting.findings if f.code == "SC303"]


def test_an_eagle3_head_where_the_name_alone_makes_it_an_eagle_head() -> None:
    of = models(fixture("llama-3.1-8b"), fixture("eagle3-llama3.1-8b"))
    fields = DRAFT | {"speculation.method": "eagle", "speculation.draft.model": "org/eagle-head"}
    for release in ("0.7.3", "0.8.1", "0.8.4"):
        found = {f.constraint for f in judged_spec(fields, release, of).findings}
        assert "vllm/eagle3-weights-by-eagle-name" in found


def test_a_missing_window_names_the_field_of_the_spec() -> None:
    fields = {"target.model": "org/t", "speculation.method": "ngram", "speculation.num_draft_tokens": 3}
    (finding,) = judged_spec(fields, "0.6.3", models(fixture("llama-3.1-8b"))).errors
    assert finding.fix == "Add --ngram-prompt-lookup-max (speculation.ngram.max), for example 4."


def test_only_the_one_word_spelling_of_an_option_file_is_ignored() -> None:
    def ignored(*argv: str) -> bool:
        case = {"release": "0.33.0", "argv": ["vllm", "serve", "m", *argv], "files": {"c.yaml": "seed: 1\n"}}
        return "vllm/config-file-with-equals" in {f.constraint for f in judged(case).findings}

    assert ignored("--config=c.yaml")
    assert not ignored("--config", "c.yaml")
    assert not ignored()


def test_a_target_that_drafts_as_a_whole_is_told_before_010() -> None:
    target = {"architectures": ["Qwen3NextForCausalLM"], "model_type": "qwen3_next", "vocab_size": 1024}
    for release, draft, told in (("0.9.1", "m", True), ("0.9.1", "org/other", False)):
        config = json.dumps({"model": draft, "num_speculative_tokens": 2})
        case = {"release": release, "argv": ["vllm", "serve", "m", "--speculative-config", config], "target": target}
        found = {f.constraint for f in judged(case).findings}
        assert ("vllm/target-drafts-as-a-whole" in found) is told
