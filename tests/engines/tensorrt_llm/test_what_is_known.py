"""What TensorRT-LLM is known to have for single fields, what it lacks, and where it does not run."""

from __future__ import annotations

from typing import Any

import pytest

from specconf.engines.base import Models
from specconf.facts import Unavailable
from specconf.findings import Severity
from specconf.rules.judge import judge_spec
from tests.engines.tensorrt_llm.support import (
    ENGINE,
    HEAD,
    LLAMA_CONFIG,
    NO_MODELS,
    RELEASES,
    emitted,
    given_model,
    lowered,
    spec,
    view,
)

EAGLE3: dict[str, Any] = {"draft__model": HEAD, "num_draft_tokens": 3}
FIRST = [{"up_to": 4, "k": 2}, {"k": 0}]
SCHEDULE = [{"up_to": 4, "k": 3}, {"k": 0}]


@pytest.mark.parametrize(
    ("field", "value", "release"),
    [
        ("tree__topk", 4, "1.2.1"),
        ("schedule", SCHEDULE, "1.1.0"),
        ("schedule", SCHEDULE, "1.3.0rc5"),
        ("schedule", FIRST, "1.2.1"),
        ("schedule", FIRST, "1.4.0rc1"),
        ("disable_above", 8, "1.0.0"),
        ("adaptive", True, "1.4.0rc1"),
    ],
)
def test_what_changes_the_number_of_draft_tokens_is_an_error(field: str, value: Any, release: str) -> None:
    result = lowered(spec("eagle3", **EAGLE3, **{field: value}), release)
    name = f"speculation.{field.replace('__', '.')}"
    told = [f for f in result.findings if f.option == name]
    assert [(f.code, f.severity) for f in told] == [("SC250", Severity.ERROR)]


def test_a_tree_is_pointed_to_the_release_that_has_it() -> None:
    result = lowered(spec("eagle3", tree__topk=4, **EAGLE3), "1.2.1")
    assert "1.3.0rc14 or newer" in next(f.fix for f in result.findings if f.option == "speculation.tree.topk")
    last = lowered(spec("draft_model", tree__topk=4, **EAGLE3), "1.4.0rc1")
    assert "newer" not in next(f.fix for f in last.findings if f.option == "speculation.tree.topk")


@pytest.mark.parametrize("platform", ["rocm", "cpu", "xpu", "npu", "tpu"])
def test_other_platforms_are_told(platform: str) -> None:
    for release in (RELEASES[0], "1.2.1", RELEASES[-1]):
        judgement = judge_spec(spec("ngram", hardware__platform=platform), ENGINE, view(release), NO_MODELS)
        told = [f for f in judgement.findings if f.constraint == "tensorrt-llm/platform"]
        assert [(f.code, f.severity) for f in told] == [("SC401", Severity.WARNING)]
        assert platform in told[0].message


def test_cuda_is_no_news() -> None:
    judgement = judge_spec(spec("ngram"), ENGINE, view("1.2.1"), NO_MODELS)
    assert not [f for f in judgement.findings if f.code == "SC401"]


@pytest.mark.parametrize("release", RELEASES)
def test_the_data_type_is_a_key_of_the_file(release: str) -> None:
    artifact = emitted(spec("none", target__dtype="bfloat16"), release)
    assert list(artifact.files.values()) == ["dtype: bfloat16\n"]


@pytest.mark.parametrize("release", RELEASES)
def test_the_revision_is_a_key_of_the_file_whatever_its_flag_is_called(release: str) -> None:
    artifact = emitted(spec("none", target__revision="abc"), release)
    assert list(artifact.files.values()) == ["revision: abc\n"]


def test_the_served_name_is_a_flag_from_where_it_is_known() -> None:
    given = spec("none", serving__served_model_name="chat")
    assert emitted(given, "1.3.0rc14").argv[-2:] == ("--served_model_name", "chat")
    for release, words in (("1.2.1", "has no flag"), ("1.3.0rc9", "was not read")):
        result = lowered(given, release)
        told = [f for f in result.findings if f.option == "serving.served_model_name"]
        assert [(f.severity, words in f.message) for f in told] == [(Severity.WARNING, True)]


def test_the_seed_is_not_known_to_exist() -> None:
    told = lowered(spec("none", serving__seed=1), "1.4.0rc1").findings
    assert [(f.code, f.severity) for f in told] == [("SC250", Severity.WARNING)]


@pytest.mark.parametrize(
    ("checkpoint", "severity"),
    [({"quantization_config": {"quant_method": "fp8"}}, None), ({}, Severity.ERROR), (None, Severity.WARNING)],
)
def test_quantization_is_the_checkpoints(checkpoint: dict[str, Any] | None, severity: Severity | None) -> None:
    target = Unavailable("target", "x") if checkpoint is None else given_model("target", LLAMA_CONFIG | checkpoint)
    result = lowered(spec("none", target__quantization="fp8"), "1.4.0rc1", Models(target, Unavailable("draft", "x")))
    told = [f.severity for f in result.findings if f.option == "target.quantization"]
    assert told == ([] if severity is None else [severity])
    assert "quant_config" not in result.settings


PLAIN = {**LLAMA_CONFIG, "num_hidden_layers": 4}
EAGLE3_HEAD = {**LLAMA_CONFIG, "architectures": ["LlamaForCausalLMEagle3"], "draft_vocab_size": 32000}
EAGLE_HEAD = {**LLAMA_CONFIG, "architectures": ["LlamaForCausalLMEagle"], "num_hidden_layers": 1}
SPECULATORS = {"speculators_model_type": "eagle3", "speculators_config": {"algorithm": "eagle3"}}
DFLASH = {**LLAMA_CONFIG, "architectures": ["DFlashDraftModel"]}


def _engine_kinds(method: str, draft: dict[str, Any], release: str) -> list[tuple[str, Severity, str]]:
    """What the engine's own constraints say about the kind of a draft."""
    models = Models(given_model("target", LLAMA_CONFIG), given_model("draft", draft))
    asked = spec(method, draft__model="org/draft", num_draft_tokens=3)
    found = judge_spec(asked, ENGINE, view(release), models).findings
    own = [f for f in found if f.code == "SC303" and f.constraint]
    return [(f.constraint.removeprefix("tensorrt-llm/"), f.severity, str(f.evidence)) for f in own if f.constraint]


def _names_a_draft(release: str) -> bool:
    """False for the few releases of which no spelling of the draft is known, so that none is written."""
    written = lowered(spec("eagle3", draft__model="org/draft", num_draft_tokens=3), release).settings
    return "speculative_config.speculative_model" in written


def test_nearly_every_release_names_a_draft() -> None:
    assert [r for r in RELEASES if not _names_a_draft(r)] == [
        *(f"0.21.0rc{n}" for n in range(3)),
        *(f"1.0.0rc{n}" for n in range(7)),
    ]


@pytest.mark.parametrize("release", [r for r in RELEASES if _names_a_draft(r)])
def test_a_whole_model_is_no_eagle3_head_in_any_release(release: str) -> None:
    expected = [("draft-of-another-kind", Severity.WARNING, "inferred")]
    assert _engine_kinds("eagle3", PLAIN, release) == expected
    assert _engine_kinds("eagle3", DFLASH, release) == expected


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("draft", [EAGLE3_HEAD, SPECULATORS], ids=["plain config", "speculators"])
def test_an_eagle3_head_is_one(draft: dict[str, Any], release: str) -> None:
    assert _engine_kinds("eagle3", draft, release) == []


@pytest.mark.parametrize(
    ("method", "draft", "constraint"),
    [
        ("eagle3", EAGLE_HEAD, "eagle-1-head"),
        ("draft_model", EAGLE_HEAD, "draft-of-another-kind"),
        ("draft_model", EAGLE3_HEAD, "draft-of-another-kind"),
        ("draft_model", SPECULATORS, "draft-of-another-kind"),
        ("draft_model", DFLASH, "draft-of-another-kind"),
        ("draft_model", PLAIN, None),
        ("pard", EAGLE3_HEAD, "draft-of-another-kind"),
        ("pard", PLAIN, None),
        ("dflash", PLAIN, "draft-of-another-kind"),
        ("dflash", EAGLE3_HEAD, "draft-of-another-kind"),
        ("dflash", DFLASH, None),
        ("dspark", DFLASH, "draft-of-another-kind"),
    ],
)
def test_every_method_looks_at_the_kind_of_its_draft(
    method: str, draft: dict[str, Any], constraint: str | None
) -> None:
    found = _engine_kinds(method, draft, RELEASES[-1])
    assert [name for name, _, _ in found] == ([constraint] if constraint else [])
