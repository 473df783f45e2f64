"""Lowering by release: what is written, what is refused and how loudly, and what is said about exactness."""

from __future__ import annotations

from typing import Any

import pytest

from specconf.compat.view import View
from specconf.engines.base import Models
from specconf.engines.options import written_key
from specconf.engines.tensorrt_llm.eras import UNKNOWN, Era
from specconf.facts import Unavailable
from specconf.findings import Severity
from specconf.rules.judge import judge_spec
from specconf.spec import ALL_FIELDS, Method, Spec
from tests.engines.tensorrt_llm.support import (
    DB,
    ENGINE,
    HEAD,
    LLAMA,
    LLAMA_CONFIG,
    NO_MODELS,
    RELEASES,
    given_model,
    lowered,
    spec,
    speculative,
    view,
)
from tests.strategies import fields_for

EAGLE3: dict[str, Any] = {"num_draft_tokens": 4, "draft__model": HEAD}


def codes(given: Spec, release: str) -> dict[str, Severity]:
    """Code → severity of what lowering finds."""
    return {f.code: f.severity for f in lowered(given, release).findings}


@pytest.mark.parametrize(
    ("method", "release", "word"),
    [
        ("eagle3", "0.20.0", "Eagle"),
        ("eagle3", "1.2.1", "Eagle"),
        ("eagle3", "1.3.0rc5", "Eagle"),
        ("eagle3", "1.3.0rc14", "Eagle3"),
        ("draft_model", "0.20.0", None),
        ("draft_model", "0.21.0", "DraftTarget"),
        ("draft_model", "1.2.1", "DraftTarget"),
        ("draft_model", "1.3.0rc0", None),
        ("draft_model", "1.3.0rc13", None),
        ("draft_model", "1.3.0rc14", "Draft_Target"),
        ("mtp", "0.20.0", "MTP"),
        ("ngram", "0.20.0", None),
        ("ngram", "0.21.0", "NGram"),
        ("sa", "1.2.1", None),
        ("sa", "1.3.0rc14", "SA"),
        ("pard", "1.2.1", None),
        ("pard", "1.3.0rc14", "PARD"),
        ("dflash", "1.3.0rc13", None),
        ("dflash", "1.3.0rc14", "DFlash"),
        ("dspark", "1.3.0rc24", None),
        ("dspark", "1.3.0rc27", "DSpark"),
        ("eagle", "1.4.0rc1", None),
        ("medusa", "1.2.1", None),
        ("suffix", "1.4.0rc1", None),
    ],
)
def test_the_word_for_a_method(method: str, release: str, word: str | None) -> None:
    draft = {} if method in {"ngram", "sa", "suffix", "mtp"} else {"draft__model": HEAD}
    given = spec(method, num_draft_tokens=3, **draft)
    result = lowered(given, release)
    assert result.settings.get("speculative_config.decoding_type") == word
    assert ("speculation.method" in result.refused) is (word is None)
    assert not result.settings.under("speculative_config") if word is None else word


def test_a_release_that_was_not_read_says_so() -> None:
    (finding,) = lowered(spec("draft_model", **EAGLE3), "1.3.0rc5").findings
    assert finding.message == (
        "TensorRT-LLM 1.3.0rc5 was not read for how it spells the method draft_model, "
        "so speculation.method cannot be expressed."
    )
    assert finding.fix == "Use TensorRT-LLM 1.2.1 or older, or 1.3.0rc14 or newer."
    assert finding.severity is Severity.ERROR


@pytest.mark.parametrize("release", RELEASES)
def test_the_eras_and_the_options_agree(release: str) -> None:
    """Two tables speak of the same words: the method's tag, the draft's key, the keys of K, the flag for the file."""
    at, era = view(release), Era(view(release))
    for column, method in (("eagle3_tag", "eagle3"), ("draft_model_tag", "draft_model"), ("ngram_tag", "ngram")):
        words = at.method_words(method)
        expected = words[0][0] if words and words[0][1] else (UNKNOWN if words else None)
        assert era[column] == expected, column
    if era["draft_path_key"] != UNKNOWN:
        assert era["draft_path_key"] == written_key("speculative_config.speculative_model", at)
    for key in era["mtp_length_keys"]:
        assert at.has(f"speculative_config.{key}") is True
    flag = next(o.key for o in at.by_path["cli.config"] if o.ranges.holds(at.point))
    assert era["config_flag"] == flag


@pytest.mark.parametrize(
    ("release", "expected"),
    [
        ("0.21.0", {"max_draft_len": 3, "num_nextn_predict_layers": 3}),
        ("1.3.0rc17", {"max_draft_len": 3, "num_nextn_predict_layers": 3}),
        ("1.3.0rc22", {"max_draft_len": 3}),
    ],
)
def test_mtp_length_keys(release: str, expected: dict[str, int]) -> None:
    got = speculative(spec("mtp", num_draft_tokens=3), release)
    assert {k: v for k, v in got.items() if k in {"max_draft_len", "num_nextn_predict_layers"}} == expected


@pytest.mark.parametrize(
    ("release", "key"),
    [("0.21.0", "prompt_lookup_num_tokens"), ("1.0.0", "max_draft_len"), ("1.4.0rc1", "max_draft_len")],
)
def test_ngram_length_key(release: str, key: str) -> None:
    got = speculative(spec("ngram", num_draft_tokens=3, ngram__max=5), release)
    assert got == {"decoding_type": "NGram", key: 3, "max_matching_ngram_size": 5}


def test_ngram_has_no_shortest_match() -> None:
    assert codes(spec("ngram", num_draft_tokens=3, ngram__min=2), "1.4.0rc1") == {"SC250": Severity.WARNING}


@pytest.mark.parametrize(
    ("speculation", "k"),
    [
        ({"tree__num_steps": 3}, 3),
        ({"tree__num_verify_tokens": 4}, 3),
        ({"num_draft_tokens": 3, "tree__num_steps": 3, "tree__num_verify_tokens": 4}, 3),
        ({"tree__num_steps": 3, "tree__num_verify_tokens": 4}, 3),
    ],
)
def test_a_chain_says_its_length_once(speculation: dict[str, int], k: int) -> None:
    result = lowered(spec("eagle3", draft__model=HEAD, **speculation), "1.4.0rc1")
    assert result.settings["speculative_config.max_draft_len"] == k
    assert not result.findings


def test_a_chain_that_contradicts_itself_is_refused() -> None:
    given = spec("eagle3", draft__model=HEAD, tree__num_steps=3, tree__num_verify_tokens=9)
    assert lowered(given, "1.4.0rc1").refused == {"speculation.tree.num_verify_tokens"}


TREE = {**EAGLE3, "tree__topk": 4, "tree__num_verify_tokens": 12}


@pytest.mark.parametrize(
    ("method", "release", "written"),
    [
        ("eagle3", "1.2.1", False),
        ("eagle3", "1.3.0rc5", False),
        ("eagle3", "1.3.0rc14", True),
        ("eagle3", "1.4.0rc1", True),
        ("mtp", "1.3.0rc14", False),
        ("mtp", "1.3.0rc21", False),
        ("mtp", "1.3.0rc24", True),
        ("draft_model", "1.4.0rc1", False),
    ],
)
def test_trees(method: str, release: str, written: bool) -> None:
    parts = {k: v for k, v in TREE.items() if method != "mtp" or k != "draft__model"}
    result = lowered(spec(method, **parts), release)
    tree = {k: v for k, v in result.settings.under("speculative_config").items() if "tree" in k or "total" in k}
    if written:
        assert tree == {"use_dynamic_tree": True, "dynamic_tree_max_topK": 4, "max_total_draft_tokens": 11}
        assert "speculation.tree.topk" in result.written
    else:
        assert not tree
        assert {"speculation.tree.topk", "speculation.tree.num_verify_tokens"} <= result.refused


ROWS = [{"up_to": 4, "k": 4}, {"up_to": 16, "k": 2}, {"k": 0}]


@pytest.mark.parametrize(
    ("release", "path", "value"),
    [
        ("1.4.0rc1", "draft_len_schedule@upper", {"4": 4, "16": 2}),
        ("1.3.0rc14", "draft_len_schedule@upper", {"4": 4, "16": 2}),
        ("1.2.1", "draft_len_schedule@lower", {"1": 4, "5": 2, "17": 0}),
        ("1.2.0", "draft_len_schedule@lower", {"1": 4, "5": 2, "17": 0}),
        ("1.3.0rc5", None, None),
        ("1.2.0rc4", None, None),
        ("1.1.0", None, None),
    ],
)
def test_schedules_by_the_meaning_of_their_keys(release: str, path: str | None, value: Any) -> None:
    result = lowered(spec("eagle3", schedule=ROWS, **EAGLE3), release)
    found = {p: v for p, v in result.settings.under("speculative_config").items() if p.startswith("draft_len")}
    assert found == ({path: value} if path else {})
    assert ("speculation.schedule" in result.refused) is (path is None)


def test_a_schedule_goes_on_up_to_where_speculation_stops() -> None:
    given = spec("eagle3", schedule=ROWS[:2], disable_above=64, **EAGLE3)
    assert speculative(given, "1.4.0rc1")["draft_len_schedule@upper"] == {"4": 4, "64": 2}
    assert "max_concurrency" not in speculative(given, "1.4.0rc1")
    assert speculative(given, "1.2.1")["draft_len_schedule@lower"] == {"1": 4, "5": 2, "65": 0}


def test_the_end_of_a_schedule_is_told() -> None:
    assert codes(spec("eagle3", schedule=ROWS[:2], **EAGLE3), "1.4.0rc1") == {"SC202": Severity.INFO}


def test_the_first_row_of_a_schedule_is_the_whole_length() -> None:
    result = lowered(spec("eagle3", schedule=[{"up_to": 4, "k": 3}], **EAGLE3), "1.4.0rc1")
    assert result.refused == {"speculation.schedule"}


@pytest.mark.parametrize(
    ("release", "written"), [("1.0.0", False), ("1.1.0rc3", False), ("1.1.0", True), ("1.4.0rc1", True)]
)
def test_disable_above(release: str, written: bool) -> None:
    result = lowered(spec("eagle3", disable_above=32, **EAGLE3), release)
    assert (result.settings.get("speculative_config.max_concurrency") == 32) is written
    assert ("speculation.disable_above" in result.refused) is not written


@pytest.mark.parametrize(
    ("method", "release", "written", "code"),
    [
        ("eagle3", "1.1.0", False, "SC502"),
        ("eagle3", "1.2.0rc4", False, "SC502"),
        ("eagle3", "1.2.0", True, ""),
        ("eagle3", "1.2.1", True, ""),
        ("eagle3", "1.3.0rc5", True, ""),
        ("eagle3", "1.3.0rc21", True, ""),
        ("eagle3", "1.3.0rc22", False, ""),
        ("draft_model", "1.2.1", True, ""),
        ("draft_model", "1.3.0rc14", True, ""),
        ("draft_model", "1.4.0rc1", False, ""),
        ("mtp", "1.1.0", False, "SC502"),
        ("mtp", "1.2.1", False, "SC501"),
        ("mtp", "1.3.0rc5", False, "SC502"),
        ("mtp", "1.3.0rc14", True, ""),
        ("mtp", "1.3.0rc22", False, ""),
        ("ngram", "1.2.1", False, ""),
    ],
)
def test_exact_verification(method: str, release: str, written: bool, code: str) -> None:
    draft = {"draft__model": HEAD} if method in {"eagle3", "draft_model"} else {}
    result = lowered(spec(method, num_draft_tokens=1, **draft), release)
    assert (result.settings.get("speculative_config.allow_advanced_sampling") is True) is written
    assert [f.code for f in result.findings] == ([code] if code else [])
    assert all(f.severity is not Severity.ERROR for f in result.findings)


def test_greedy_requests_need_no_word_about_sampling() -> None:
    given = spec("mtp", num_draft_tokens=1, workload__sampling="greedy")
    assert not lowered(given, "1.2.1").findings


def test_listed_sampled_requests_with_mtp_1_2_are_an_error() -> None:
    given = spec("mtp", num_draft_tokens=1, workload__sampling="mixed")
    errors = judge_spec(given, ENGINE, view("1.2.1"), NO_MODELS).errors
    assert [(f.code, f.constraint) for f in errors] == [("SC501", "tensorrt-llm/mtp-sampled-is-greedy-1-2")]


@pytest.mark.parametrize("release", ["1.2.1", "1.4.0rc1"])
def test_listed_sampled_requests_with_eagle3_are_fine(release: str) -> None:
    given = spec("eagle3", workload__sampling="sampled", **EAGLE3)
    assert not judge_spec(given, ENGINE, view(release), NO_MODELS).errors


RELAXED = {"mode": "relaxed", "topk": 10, "delta": 0.6}


@pytest.mark.parametrize(
    ("method", "mode", "release", "written"),
    [
        ("mtp", RELAXED, "0.20.0", False),
        ("mtp", RELAXED, "0.21.0", True),
        ("mtp", RELAXED, "1.4.0rc1", True),
        ("eagle3", RELAXED, "1.4.0rc1", False),
        ("mtp", {"mode": "relaxed", "window": 3}, "1.4.0rc1", False),
        ("mtp", {"mode": "typical"}, "1.4.0rc1", False),
    ],
)
def test_lossy_verification(method: str, mode: dict[str, Any], release: str, written: bool) -> None:
    draft = {"draft__model": HEAD} if method == "eagle3" else {}
    result = lowered(spec(method, num_draft_tokens=1, verification=mode, **draft), release)
    if not written:
        assert "speculation.verification" in result.refused
        assert any(f.severity is Severity.ERROR for f in result.findings)
        return
    got = result.settings.under("speculative_config")
    assert (got["use_relaxed_acceptance_for_thinking"], got["relaxed_topk"], got["relaxed_delta"]) == (True, 10, 0.6)


@pytest.mark.parametrize(
    ("release", "sampling", "written"),
    [
        ("1.3.0rc22", "standard", True),
        ("1.3.0rc14", "standard", False),
        ("1.3.0rc18", "standard", False),
        ("1.4.0rc1", "block", False),
    ],
)
def test_rejection_sampling(release: str, sampling: str, written: bool) -> None:
    result = lowered(spec("eagle3", sampling__rejection=sampling, **EAGLE3), release)
    assert (result.settings.get("speculative_config.use_rejection_sampling") is True) is written
    assert ("speculation.sampling.rejection" in result.refused) is not written


def test_mtp_takes_other_weights_only_where_that_is_known() -> None:
    given = spec("mtp", num_draft_tokens=1, draft__model="org/heads")
    assert speculative(given, "1.4.0rc1")["speculative_model"] == "org/heads"
    assert lowered(given, "1.2.1").refused == {"speculation.draft.model"}


def test_adaptive_lengths() -> None:
    assert not lowered(spec("eagle3", adaptive=False, **EAGLE3), "1.4.0rc1").refused
    assert codes(spec("eagle3", adaptive=True, **EAGLE3), "1.4.0rc1") == {"SC250": Severity.ERROR}


def test_llama_has_no_mtp_layers_by_the_spec_and_by_the_engine() -> None:
    models = Models(given_model("target", LLAMA_CONFIG), Unavailable("draft", "none"))
    for release in ("1.2.1", "1.4.0rc1"):
        judgement = judge_spec(spec("mtp", num_draft_tokens=1), ENGINE, view(release), models)
        found = {(f.constraint, f.severity) for f in judgement.findings if f.code == "SC301"}
        assert found == {("", Severity.ERROR), ("tensorrt-llm/mtp-no-layers", Severity.WARNING)}


def test_eager_needs_no_bound_on_graphs() -> None:
    given = spec("none", serving__enforce_eager=True, serving__cuda_graph_max_batch=8)
    result = lowered(given, "1.4.0rc1")
    assert result.settings.flat() == {"model": LLAMA, "cuda_graph_config": None}
    assert not result.refused


@pytest.mark.parametrize(
    ("tp", "attention", "value", "refused"),
    [(4, 4, True, False), (4, 1, False, False), (4, 2, None, True), (None, 2, None, True)],
)
def test_attention_data_parallelism_is_a_switch(
    tp: int | None, attention: int, value: bool | None, refused: bool
) -> None:
    given = spec("none", serving__attention_data_parallel_size=attention)
    if tp is not None:
        given = given.with_field("serving.tensor_parallel_size", tp)
    result = lowered(given, "1.4.0rc1")
    assert result.settings.get("enable_attention_dp") is value
    assert bool(result.refused) is refused


def test_part_of_an_object_that_a_field_switches_off_is_a_conflict() -> None:
    fields: dict[str, Any] = {"target.model": LLAMA, "speculation.method": "none", "serving.enforce_eager": True}
    options = {"tensorrt-llm": {"options": {"cuda_graph_config": {"enable_padding": True}}}}
    result = lowered(Spec.from_fields(fields, engines=options), "1.4.0rc1")
    assert [f.code for f in result.findings] == ["SC252"]


VALUES: dict[str, Any] = {
    "speculation.tree.topk": 1,
    "speculation.tree.num_steps": 3,
    "speculation.tree.num_verify_tokens": 4,
    "speculation.num_draft_tokens": 3,
    "speculation.draft.model": HEAD,
    "speculation.schedule": [{"up_to": 4, "k": 3}],
    "speculation.verification": "exact",
    "speculation.sampling.rejection": "standard",
    "speculation.sampling.draft": "greedy",
    "speculation.adaptive": True,
}


def _value(field: str) -> Any:
    from tests.strategies import FIELD_VALUES

    return VALUES[field] if field in VALUES else FIELD_VALUES[field].example()


def _points() -> list[View]:
    between = ("1.2.0.dev1", "1.3.0rc13.dev1", "1.3.0rc16", "1.4.0rc0.post1", "2.0.0")
    return [*(view(r) for r in RELEASES), *(DB.at(r) for r in between)]


@pytest.mark.filterwarnings("ignore::hypothesis.errors.NonInteractiveExampleWarning")
def test_no_field_of_any_method_is_forgotten_in_any_release() -> None:
    """`lower` raises DatabaseError for a field that is neither written, covered nor refused."""
    drawn = {field: _value(field) for field in ALL_FIELDS}
    for method in Method:
        fields = {f: drawn[f] for f in fields_for(method) if f != "speculation.schedule"}
        given = Spec.from_fields({**fields, "speculation.method": method.value, "speculation.verification": "exact"})
        for at in _points():
            from specconf.engines.lowering import lower

            result = lower(given, ENGINE, at, NO_MODELS)
            assert result.settings["model"] == drawn["target.model"]


PLAIN: list[Spec] = [
    spec("eagle3", **EAGLE3),
    spec("eagle3", schedule=ROWS, disable_above=64, tree__topk=2, sampling__rejection="standard", **EAGLE3),
    spec("draft_model", **EAGLE3),
    spec("mtp", num_draft_tokens=1),
    spec("mtp", num_draft_tokens=2, disable_above=8, verification={"mode": "relaxed", "topk": 2}),
    spec("ngram", num_draft_tokens=3, ngram__max=4),
    spec("sa", num_draft_tokens=3, ngram__max=4),
    spec("pard", **EAGLE3),
    spec("dflash", **EAGLE3),
    spec("dspark", **EAGLE3),
]


@pytest.mark.parametrize("given", PLAIN, ids=lambda s: f"{s.speculation.method}-{len(s.set_fields())}")
def test_what_can_be_said_is_not_what_the_engine_rejects(given: Spec) -> None:
    """The database's own rules find no error in what lowering writes, in any release that can say the method."""
    said = 0
    for release in RELEASES:
        judgement = judge_spec(given, ENGINE, view(release), NO_MODELS)
        assert judgement.lowered is not None
        if "speculation.method" not in judgement.lowered.refused:
            said += 1
            assert not [f for f in judgement.errors if f.constraint or f.code.startswith("SC1")], release
    assert said
