"""Every constraint holds on its own probe and not on its twin, and says so in one plain sentence."""

from __future__ import annotations

import json
import re
from typing import Any

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
    assert constraint.common or constraint.message.startswith("vLLM {release} ")
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


EAGLE = {"method": "eagle", "model": "/models/head", "num_speculative_tokens": 3}
WHOLE = {"method": "draft_model", "model": "/models/draft", "num_speculative_tokens": 3}
NGRAM = {"method": "ngram", "num_speculative_tokens": 3}


def case(
    release: str, config: dict[str, Any], *more: str, env: dict[str, str] | None = None, draft: str = "llama-3.2-1b"
) -> dict[str, Any]:
    """A launch of Llama with a speculative config."""
    argv = ["vllm", "serve", "/models/target", "--speculative-config", json.dumps(config), *more]
    models_ = {"target": fixture("llama-3.1-8b"), "draft": fixture(draft) if "model" in config else None}
    return {"release": release, "argv": argv, "env": env or {}, **models_}


def met(of: dict[str, Any]) -> set[str]:
    """The ids of the constraints that a launch meets."""
    return {f.constraint for f in judged(of).findings if f.constraint}


LOGITS = ("--logits-processors", "pkg.module:Processor")


@pytest.mark.parametrize(
    ("release", "config", "env", "refused"),
    [
        ("0.11.1", EAGLE, {}, True),
        ("0.30.0", EAGLE, {}, True),
        ("0.19.0", EAGLE, {"VLLM_USE_V2_MODEL_RUNNER": "1"}, False),
        ("0.31.0", EAGLE, {}, False),
        ("0.33.0", EAGLE, {}, False),
        ("0.33.0", WHOLE, {}, False),
        ("0.33.0", NGRAM, {}, False),
        ("0.31.0", NGRAM, {}, True),
        ("0.33.0", EAGLE, {"VLLM_USE_V2_MODEL_RUNNER": "0"}, True),
        ("0.33.0", EAGLE, {"VLLM_USE_V2_MODEL_RUNNER": "1"}, False),
        ("0.33.0", WHOLE | {"use_heterogeneous_vocab": True}, {}, True),
        ("0.31.0", WHOLE | {"use_heterogeneous_vocab": True}, {}, False),
        ("0.33.0", EAGLE | {"parallel_drafting": True}, {}, True),
    ],
)
def test_custom_logits_processors_are_refused_by_the_v1_runner_only(
    release: str, config: dict[str, Any], env: dict[str, str], refused: bool
) -> None:
    found = met(case(release, config, *LOGITS, env=env))
    assert any(name.startswith("vllm/logits-processors-refused") for name in found) is refused


@pytest.mark.parametrize(
    ("release", "config", "more", "runner"),
    [
        ("0.29.0", WHOLE, (), "V1"),
        ("0.31.0", WHOLE, (), "V2"),
        ("0.29.0", EAGLE, LOGITS, "V1"),
        ("0.31.0", EAGLE, LOGITS, "V2"),
        ("0.31.0", EAGLE, ("--compilation-config", '{"mode": 1}'), "V1"),
        ("0.32.0", EAGLE, ("--compilation-config", '{"mode": 1}'), "V2"),
        ("0.31.0", EAGLE, ("-tp", "2", "--compilation-config", '{"pass_config": {"enable_sp": true}}'), "V1"),
        ("0.31.0", EAGLE, ("--compilation-config", '{"pass_config": {"enable_sp": true}}'), "V2"),
        ("0.31.0", EAGLE, ("--enable-elastic-ep",), "V1"),
        ("0.33.0", EAGLE, ("--enable-dbo",), "V1"),
        ("0.33.0", {"method": "dflash", "parallel_drafting": True, "num_speculative_tokens": 3}, (), "V2"),
        ("0.33.0", {"method": "suffix", "num_speculative_tokens": 3}, ("--watermark-config", '{"a": 1}'), "V2"),
    ],
)
def test_the_model_runner(release: str, config: dict[str, Any], more: tuple[str, ...], runner: str) -> None:
    result = judged(case(release, config | {"rejection_sample_method": "block"}, *more)).result
    found = {f.constraint for f in result.findings}
    assert ("vllm/block-rejection-ignored" in found) is (runner == "V1")
    assert "vllm/block-rejection-ignored" not in {n.constraint for n in result.not_checked}


def test_no_rule_asks_for_the_model_runner_of_a_release_without_a_second_one() -> None:
    line = database().line
    asking = [c for c in CONSTRAINTS if "derived.model_runner" in repr(c.when)]
    first = line.names.index("0.12.0")
    assert asking
    assert not [c.id for c in asking for at in range(first) if c.ranges.at(at)]


@pytest.mark.parametrize(
    ("config", "env", "refused"),
    [
        (WHOLE, {}, False),
        (WHOLE, {"VLLM_USE_V2_MODEL_RUNNER": "0"}, True),
        (WHOLE | {"use_heterogeneous_vocab": True}, {}, True),
        (WHOLE | {"parallel_drafting": True}, {}, True),
    ],
)
def test_the_v1_runner_wants_the_draft_as_parallel_as_the_target(
    config: dict[str, Any], env: dict[str, str], refused: bool
) -> None:
    found = met(case("0.33.0", config | {"draft_tensor_parallel_size": 1}, "-tp", "2", env=env))
    assert ("vllm/draft-model-tp-equal-v1-runner" in found) is refused


@pytest.mark.parametrize("release", ["0.8.0", "0.8.1", "0.8.2"])
@pytest.mark.parametrize(("model", "since"), [("[ngram]", "0.8.0"), ("ngram", "0.8.2")])
def test_ngram_on_v1_by_flags(release: str, model: str, since: str) -> None:
    argv = ["vllm", "serve", "/models/target", "--speculative-model", model, "--num-speculative-tokens", "3"]
    found = met({"release": release, "argv": argv, "env": {"VLLM_USE_V1": "1"}, "target": fixture("llama-3.1-8b")})
    assert any(name.startswith("vllm/v1-refuses-08") for name in found) is (release < since)


TYPICAL = {"acceptance_method": "typical_acceptance_sampler"}


@pytest.mark.parametrize(
    ("release", "config", "env", "lossy"),
    [
        ("0.9.2", WHOLE, {}, True),
        ("0.9.2", EAGLE, {}, False),
        ("0.9.2", EAGLE, {"VLLM_USE_V1": "0"}, True),
        ("0.8.5", EAGLE, {}, True),
        ("0.8.5", EAGLE, {"VLLM_USE_V1": "1"}, False),
    ],
)
def test_typical_acceptance_is_lossy_on_v0_and_ignored_on_v1(
    release: str, config: dict[str, Any], env: dict[str, str], lossy: bool
) -> None:
    found = met(case(release, config | TYPICAL, env=env))
    assert ("vllm/typical-acceptance-v0" in found) is lossy
    assert ("vllm/typical-acceptance-ignored-v1" in found) is not lossy


@pytest.mark.parametrize("release", ["0.8.5", "0.9.2", "0.10.0", "0.16.0", "0.33.0"])
@pytest.mark.parametrize(
    ("method", "draft"),
    [
        ("eagle", "llama-3.2-1b"),
        ("eagle3", "llama-3.2-1b"),
        ("draft_model", "eagle-llama3.1-8b"),
        ("draft_model", "eagle3-llama3.1-8b"),
    ],
)
def test_a_draft_of_the_wrong_kind_is_known_in_every_release(release: str, method: str, draft: str) -> None:
    fields = DRAFT | {"speculation.method": method}
    of = models(fixture("llama-3.1-8b"), fixture(draft))
    found = [f for f in judged_spec(fields, release, of).findings if f.constraint and f.code == "SC303"]
    if method == "draft_model" and release == "0.10.0":
        assert not found  # the method itself is refused
        return
    assert found
    assert all(f.evidence is EvidenceKind.INFERRED and f.severity is Severity.WARNING for f in found)


@pytest.mark.parametrize("release", ["0.4.1", "0.6.4", "0.7.3", "0.8.1"])
def test_a_head_that_the_flags_take_for_a_whole_model(release: str) -> None:
    program = ["python", "-m", "vllm.entrypoints.openai.api_server", "--model", "/models/target"]
    argv = [*program, "--speculative-model", "/models/head", "--num-speculative-tokens", "3"]
    for draft, told in (("eagle-llama3.1-8b", True), ("eagle3-llama3.1-8b", True), ("llama-3.2-1b", False)):
        of = {"release": release, "argv": argv, "target": fixture("llama-3.1-8b"), "draft": fixture(draft)}
        assert any(name.startswith("vllm/head-as-draft-model-flags") for name in met(of)) is told


@pytest.mark.parametrize(
    ("name", "refused"),
    [
        ("/models/target", True), ("./target", True), ("~/target", True), ("a/b/c", True), ("org/target.git", True),
        ("org/a--b", True), ("-org/target", True), ("org-/target", True), ("org/" + "n" * 97, True), (None, True),
        ("org/target", None), ("models/target", None), ("gpt2", None), ("o" * 97 + "/target", None),
    ],
)  # fmt: skip
def test_a_verifier_is_known_to_be_refused_only_where_it_names_no_repository(
    name: str | None, refused: bool | None
) -> None:
    verifier = {"name_or_path": name, "architectures": ["LlamaForCausalLM"]}
    config = {"algorithm": "eagle3", "verifier": verifier, "proposal_methods": []}
    target = {"architectures": ["Eagle3Speculator"], "speculators_model_type": "eagle3", "speculators_config": config}
    result = judged({"release": "0.33.0", "argv": ["vllm", "serve", "/models/target"], "target": target}).result
    assert ("vllm/speculators-local-verifier" in {f.constraint for f in result.findings}) is (refused is True)
    assert ("vllm/speculators-local-verifier" in {n.constraint for n in result.not_checked}) is (refused is None)


@pytest.mark.parametrize(
    ("release", "more", "refused"),
    [
        ("0.33.0", ("--enforce-eager",), True),
        ("0.33.0", ("-O0",), True),
        ("0.33.0", ("-O0", "--compilation-config", '{"cudagraph_mode": "full"}'), False),
        ("0.33.0", ("--compilation-config", '{"cudagraph_mode": "piecewise"}'), True),
        ("0.33.0", ("--compilation-config", '{"cudagraph_mode": 1}'), True),
        ("0.33.0", ("--compilation-config", '{"cudagraph_mode": "FULL_DECODE_ONLY"}'), False),
        ("0.33.0", (), False),
        ("0.29.0", ("--enforce-eager",), True),
        ("0.29.0", ("--compilation-config", '{"cudagraph_mode": "PIECEWISE"}'), False),
    ],
)
def test_adaptive_verification_needs_cuda_graphs(release: str, more: tuple[str, ...], refused: bool) -> None:
    config = {"method": "dspark", "num_speculative_tokens": 3, "enable_adaptive_verification": True}
    found = met(case(release, config, *more))
    assert any(name.startswith("vllm/adaptive-eager") for name in found) is refused


@pytest.mark.parametrize(
    ("release", "config", "more", "refused"),
    [
        ("0.19.0", NGRAM, (), False),
        ("0.20.0", NGRAM, (), True),
        ("0.20.0", EAGLE, (), False),
        ("0.20.0", EAGLE, LOGITS, True),
        ("0.30.0", EAGLE, LOGITS, True),
        ("0.31.0", EAGLE, LOGITS, False),
        ("0.23.0", EAGLE | {"method": "eagle3"}, ("-pp", "2"), True),
        ("0.30.0", EAGLE | {"method": "eagle3"}, ("-pp", "2"), False),
        ("0.24.0", EAGLE | {"parallel_drafting": True}, (), True),
        ("0.31.0", NGRAM, (), True),
        ("0.32.0", NGRAM, (), False),
        ("0.31.0", WHOLE | {"use_heterogeneous_vocab": True}, (), False),
        ("0.33.0", WHOLE | {"use_heterogeneous_vocab": True}, (), True),
        ("0.33.0", WHOLE, (), False),
    ],
)
def test_what_the_v2_runner_refuses_where_it_is_asked_for(
    release: str, config: dict[str, Any], more: tuple[str, ...], refused: bool
) -> None:
    env = {"VLLM_USE_V2_MODEL_RUNNER": "1"}
    of = "eagle3-llama3.1-8b" if config["method"] == "eagle3" else "llama-3.2-1b"
    found = met(case(release, config, *more, env=env, draft=of))
    assert any(name.startswith("vllm/v2-runner-refuses") for name in found) is refused
