"""Specs that SGLang cannot run as they stand: unknown MTP targets, missing numbers, heads of another kind, refused fields."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from specconf.compat.database import Database
from specconf.engines.lowering import lower
from specconf.engines.sglang import ENGINE
from specconf.findings import Finding, Severity, Stage
from specconf.rules.judge import judge_settings, judge_spec
from specconf.spec import load_spec
from specconf.spec.model import Spec
from specconf.words import Span
from tests.engines.sglang.conftest import COMPAT
from tests.engines.sglang.support import UNKNOWN_MODELS, models_of, resolve

LLAMA = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "num_hidden_layers": 2, "vocab_size": 64}
EAGLE3 = LLAMA | {"architectures": ["LlamaForCausalLMEagle3"], "num_hidden_layers": 1, "draft_vocab_size": 32}
EAGLE = LLAMA | {"architectures": ["LlamaForCausalLMEagle"], "num_hidden_layers": 1}
QWEN3_NEXT = {"architectures": ["Qwen3NextForCausalLM"], "model_type": "qwen3_next", "num_hidden_layers": 2}
MTP: dict[str, Any] = {"target.model": "t", "speculation.method": "mtp", "speculation.num_draft_tokens": 3}
HEAD: dict[str, Any] = {"target.model": "t", "speculation.method": "eagle3", "speculation.draft.model": "d"}


def _found(
    database: Database,
    release: str,
    fields: dict[str, Any],
    target: dict[str, Any] | None = None,
    draft: dict[str, Any] | None = None,
) -> list[Finding]:
    """The findings of a spec whose written fields have places: field n stands in line n."""
    lines = {name: n for n, name in enumerate(fields, 1)}

    def span(name: str) -> Span | None:
        return Span("spec.yaml", lines[name], 1) if name in lines else None

    models = models_of(target, draft) if target else UNKNOWN_MODELS
    return judge_spec(Spec.from_fields(fields), ENGINE, database.at(release), models, span=span).findings


@pytest.mark.parametrize("release", ["0.4.6.post3", "0.4.9", "0.5.1"])
def test_a_target_that_the_release_cannot_draft_with(database: Database, release: str) -> None:
    found = [f for f in _found(database, release, MTP, QWEN3_NEXT) if f.code == "SC305"]
    assert [(f.constraint, f.severity, f.stage) for f in found] == [
        ("sglang/mtp-target-not-known", Severity.WARNING, Stage.LOAD)
    ]
    assert "SGLang 0.5.2 or newer" in found[0].fix
    assert found[0].where is not None


def test_a_target_that_the_release_drafts_with(database: Database) -> None:
    for release in ("0.5.2", "0.5.23"):
        assert not [f for f in _found(database, release, MTP, QWEN3_NEXT) if f.code in {"SC301", "SC305"}]


def test_every_mtp_target_is_missed_before_its_first_release(database: Database) -> None:
    line = database.line.names
    for row in database.tables["mtp_targets"].rows:
        low = min(
            start
            for other in database.tables["mtp_targets"].rows
            if other.value == row.value
            for start, _ in other.ranges.holds_in
        )
        if low <= line.index("0.4.6.post3") or row.value in {"MiMoV2FlashForCausalLM", "Step3p5ForCausalLM"}:
            continue
        config = {"architectures": [row.value], "num_nextn_predict_layers": 1}
        unknown = "sglang/mtp-target-not-known"
        before = [f for f in _found(database, line[low - 1], MTP, config) if f.constraint == unknown]
        assert [line[low] in f.fix for f in before] == [True], row.value
        assert not [f for f in _found(database, line[low], MTP, config) if f.constraint == unknown], row.value


def test_a_family_that_no_release_drafts_for(database: Database) -> None:
    config = {"architectures": ["OtherForCausalLM"], "num_nextn_predict_layers": 1}
    found = [f for f in _found(database, "0.5.23", MTP, config) if f.code == "SC305"]
    assert "speculation.draft.model" in found[0].fix


def test_the_target_named_as_its_own_draft_is_the_same(database: Database) -> None:
    fields = MTP | {"speculation.draft.model": "t"}
    found = _found(database, "0.4.9", fields, QWEN3_NEXT, QWEN3_NEXT)
    assert "sglang/mtp-target-not-known" in {f.constraint for f in found}


def test_no_layers_are_said_once(database: Database) -> None:
    found = _found(database, "0.5.23", MTP, LLAMA)
    assert {f.code for f in found if f.code.startswith("SC30")} == {"SC301"}


METHODS: list[dict[str, Any]] = [
    HEAD,
    HEAD | {"speculation.method": "eagle"},
    {name: value for name, value in MTP.items() if name != "speculation.num_draft_tokens"},
]


@pytest.mark.parametrize("fields", METHODS)
@pytest.mark.parametrize("release", ["0.4.6.post3", "0.5.6", "0.5.23"])
def test_a_missing_number_of_draft_tokens(database: Database, release: str, fields: dict[str, Any]) -> None:
    found = _found(database, release, fields, LLAMA, EAGLE3)
    told = [f for f in found if f.code == "SC202"]
    assert [(f.option, f.severity, f.fix) for f in told] == [
        ("speculation.num_draft_tokens", Severity.ERROR, "Set speculation.num_draft_tokens.")
    ]
    assert told[0].where is not None
    assert "steps, topk and draft tokens together" in told[0].message
    assert not [f for f in found if "topk" in f.option]


def test_a_number_that_the_engine_chooses_as_the_spec_has_it(database: Database) -> None:
    fields = HEAD | {"speculation.method": "draft_model"}
    assert not [f for f in _found(database, "0.5.23", fields, LLAMA, LLAMA) if f.severity is Severity.ERROR]


@pytest.mark.parametrize("release", ["0.4.5", "0.5.6", "0.5.23"])
def test_a_tree_without_verified_tokens_is_told_once(database: Database, release: str) -> None:
    fields = HEAD | {"speculation.num_draft_tokens": 3, "speculation.tree.topk": 4}
    found = _found(database, release, fields, LLAMA, EAGLE3)
    assert [f.option for f in found if f.severity is Severity.ERROR] == ["speculation.tree.topk"]
    assert not [f for f in found if "none of the three" in f.message or "left to it" in f.message]


def test_a_tree_without_a_length(database: Database) -> None:
    fields = HEAD | {"speculation.tree.topk": 4, "speculation.tree.num_verify_tokens": 8}
    found = [f for f in _found(database, "0.5.23", fields, LLAMA, EAGLE3) if f.severity is Severity.ERROR]
    assert [(f.code, f.option) for f in found] == [("SC202", "speculation.num_draft_tokens")]
    assert found[0].where == Span("spec.yaml", 4, 1)


CHANGE_K: list[tuple[str, Any, str]] = [
    ("speculation.schedule", [{"up_to": 4, "k": 3}, {"k": 0}], "0.5.23"),
    ("speculation.disable_above", 8, "0.5.23"),
    ("speculation.adaptive", True, "0.5.10"),
    ("speculation.adaptive", {"steps": [1, 3]}, "0.5.23"),
    ("speculation.tree.topk", 4, "0.5.23"),
]


@pytest.mark.parametrize(("field", "value", "release"), CHANGE_K)
def test_what_changes_the_number_of_draft_tokens_is_an_error(
    database: Database, field: str, value: Any, release: str
) -> None:
    fields = HEAD | {"speculation.num_draft_tokens": 3, field: value}
    told = [f for f in _found(database, release, fields) if f.option == field]
    assert [(f.code, f.severity) for f in told] == [("SC250", Severity.ERROR)]


def _kinds(database: Database, release: str, algorithm: str, draft: dict[str, Any]) -> list[tuple[str, Severity]]:
    words = ("--speculative-num-steps", "3", "--speculative-eagle-topk", "1", "--speculative-num-draft-tokens", "4")
    argv = ("--model-path", "t", "--speculative-algorithm", algorithm, "--speculative-draft-model-path", "d", *words)
    view = database.at(release)
    judgement = judge_settings(resolve(view, *argv), ENGINE, view, models_of(LLAMA, draft))
    return [(f.code, f.severity) for f in judgement.findings if f.code == "SC303"]


def test_an_eagle3_head_is_no_eagle_head_in_any_release(database: Database) -> None:
    for release in database.line.names:
        view = database.at(release)
        if view.lookup("algorithm_words", "EAGLE")[1]:
            assert _kinds(database, release, "EAGLE", EAGLE3) == [("SC303", Severity.WARNING)], release
            assert _kinds(database, release, "EAGLE", EAGLE) == [], release
        if view.lookup("algorithm_words", "EAGLE3")[1]:
            assert _kinds(database, release, "EAGLE3", EAGLE) == [("SC303", Severity.WARNING)], release
            assert _kinds(database, release, "EAGLE3", EAGLE3) == [], release


@pytest.mark.parametrize("release", ["0.3.6", "0.5.10", "0.5.23"])
def test_a_mapping_is_written_as_json_where_the_option_is_json(database: Database, release: str) -> None:
    text = f"""
specconf: 1
target: {{model: org/t}}
speculation: {{method: none}}
engines:
  sglang: {{release: "{release}", options: {{json-model-override-args: {{a: {{b: 1}}}}}}}}
"""
    view = database.at(release)
    settings = lower(load_spec(text, "spec.yaml").spec, ENGINE, view, UNKNOWN_MODELS).settings
    assert not settings.problems
    argv = ENGINE.emit(settings, view, "argv").argv
    assert argv[-2:] == ("--json-model-override-args", '{"a":{"b":1}}')


OWN_WORDS = re.compile(r"--attention-backend|--speculative-(draft-model-path|use-|adaptive-config|accept-)")


def test_fixes_name_the_field_beside_the_option() -> None:
    for path in sorted(Path(COMPAT, "sglang", "constraints").glob("*.yaml")):
        for row in yaml.safe_load(path.read_text())["constraints"]:
            fix = str(row.get("fix", ""))
            if OWN_WORDS.search(fix):
                assert re.search(r"(speculation|serving|target)\.", fix), (row["id"], fix)


@pytest.mark.parametrize("release", ["0.5.13", "0.5.21", "0.5.23"])
def test_a_number_that_is_left_out_leaves_no_rule_unchecked(database: Database, release: str) -> None:
    fields = {**HEAD, "speculation.num_draft_tokens": 3}
    judged = judge_spec(Spec.from_fields(fields), ENGINE, database.at(release), models_of(LLAMA, EAGLE3))
    limits = {"sglang/window-not-positive", "sglang/sink-negative"}
    assert not [item for item in judged.result.not_checked if item.constraint in limits]
