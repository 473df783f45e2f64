from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from pydantic import ValidationError

from specconf.spec.contradictions import offending_fields
from specconf.spec.fields import ALL_FIELDS, SPEC_DEFAULTS, description
from specconf.spec.methods import METHODS, Method
from specconf.spec.model import Spec
from specconf.spec.speculation import LossyMode, LossyVerification
from tests.strategies import FIELD_VALUES, fields_for, specs


def spec(method: str = "ngram", **speculation: Any) -> Spec:
    return Spec.model_validate({"target": {"model": "a/b"}, "speculation": {"method": method, **speculation}})


def test_the_names_of_the_contract() -> None:
    assert ALL_FIELDS[:3] == ("name", "target.model", "target.revision")
    assert {
        "speculation.draft.model",
        "speculation.tree.topk",
        "serving.attention_data_parallel_size",
        "features",
    } <= set(ALL_FIELDS)
    assert {
        "speculation.verification",
        "speculation.schedule",
        "speculation.adaptive",
        "deployment.secrets.hf_token",
    } <= set(ALL_FIELDS)
    assert not any(field.startswith(("engines", "specconf")) for field in ALL_FIELDS)
    assert len(ALL_FIELDS) == len(set(ALL_FIELDS)) == 61
    assert set(SPEC_DEFAULTS) <= set(ALL_FIELDS)


def test_every_field_says_what_it_is_and_the_strategies_know_it() -> None:
    assert all(description(field) for field in ALL_FIELDS)
    assert set(FIELD_VALUES) == set(ALL_FIELDS)


@pytest.mark.parametrize("method", list(Method))
def test_every_method_has_traits_and_can_be_drawn(method: Method) -> None:
    assert method.traits is METHODS[method]
    assert "target.model" in fields_for(method)


@pytest.mark.parametrize("method", ["mtp", "ngram", "none"])
def test_the_defaults_of_the_spec_count_as_set(method: str) -> None:
    expected: dict[str, Any] = {
        "target.model": "a/b",
        "speculation.method": method,
        "speculation.verification": "exact",
    }
    if method == "mtp":
        expected |= {"speculation.tree.topk": 1}
    assert spec(method).set_fields() == expected | {"hardware.platform": "cuda"}


def test_leaves_are_json_and_in_the_order_of_the_spec() -> None:
    made = spec(
        "eagle3",
        draft={"model": "h"},
        tree={"topk": 4, "num_verify_tokens": 8},
        verification={"mode": "typical", "posterior_threshold": 0.1, "levels": [1, 2]},
        schedule=[{"up_to": 4, "k": 2}, {"k": 0}],
        adaptive={"x": {"y": 1}},
    )
    fields = made.set_fields()
    assert list(fields) == [field for field in ALL_FIELDS if field in fields]
    assert fields["speculation.verification"] == {"mode": "typical", "posterior_threshold": 0.1, "levels": [1, 2]}
    assert fields["speculation.schedule"] == [{"up_to": 4, "k": 2}, {"k": 0}]
    assert fields["speculation.adaptive"] == {"x": {"y": 1}}
    assert type(fields["speculation.method"]) is str
    verification = made.speculation.verification
    assert isinstance(verification, LossyVerification)
    assert verification.mode is LossyMode.TYPICAL
    assert verification.parameters == {"posterior_threshold": 0.1, "levels": [1, 2]}


def test_features_are_one_leaf_and_empty_is_unset() -> None:
    base = {"target": {"model": "a"}, "speculation": {"method": "none"}}
    assert Spec.model_validate(base | {"features": ["lora"]}).set_fields()["features"] == ["lora"]
    assert Spec.model_validate(base | {"features": []}) == Spec.model_validate(base)


def test_with_field_returns_a_validated_copy() -> None:
    before = spec("mtp", num_draft_tokens=2)
    after = before.with_field("speculation.num_draft_tokens", 3)
    assert (before.speculation.num_draft_tokens, after.speculation.num_draft_tokens) == (2, 3)
    assert after.with_field("speculation.num_draft_tokens", None) == spec("mtp")
    assert (
        before.with_field("speculation.method", "ngram").set_fields() == spec("ngram", num_draft_tokens=2).set_fields()
    )
    with pytest.raises(ValidationError):
        before.with_field("speculation.num_draft_tokens", "3")
    with pytest.raises(ValueError, match=r"no field of the spec: speculation\.k"):
        before.with_field("speculation.k", 3)


def test_changes_keep_engines() -> None:
    data = {
        "target": {"model": "a"},
        "speculation": {"method": "ngram"},
        "engines": {"trtllm": {"cli": {"x": None}}, "vllm": None},
    }
    made = Spec.model_validate(data)
    changed = made.with_fields({"serving.port": 1, "speculation.num_draft_tokens": 2})
    assert changed.engines == made.engines
    assert changed.engine_settings() == {"vllm": {}, "tensorrt-llm": {"cli": {"x": None}}}
    with pytest.raises(ValueError, match="is no engine"):
        made.engines.get("tgi")


@given(made=specs())
def test_fields_and_engines_make_the_spec_again(made: Spec) -> None:
    assert Spec.from_fields(made.set_fields(), engines=made.engine_settings()) == made
    assert Spec.model_validate(made.model_dump(by_alias=True)) == made
    assert Spec.model_validate_json(made.model_dump_json(by_alias=True)) == made
    assert made.with_fields({}) == made


@given(made=specs())
def test_the_target_alone_keeps_everything_else(made: Spec) -> None:
    alone = made.without_speculation()
    assert alone.speculation.method is Method.NONE
    kept = {field: value for field, value in made.set_fields().items() if not field.startswith("speculation.")}
    assert alone.set_fields() == kept | {"speculation.method": "none", "speculation.verification": "exact"}
    assert alone.engines == made.engines


STRICT: list[tuple[str, list[Any]]] = [
    ("speculation.num_draft_tokens", ["5", True, 5.0, 0, -1, 2**31]),
    ("serving.memory_fraction", ["0.5", True, 0, 1.01, float("nan")]),
    ("serving.overlap_schedule", [1, 0, "true"]),
    ("serving.host", [1, True, "", " a", "a\nb", "-a", "a\0", "\ud800"]),
    ("serving.port", [0, 65536]),
    ("speculation.method", [1, "Ngram", None, ["ngram"]]),
    ("workload.concurrency", [1, [], ["1"], [True]]),
    ("features", ["lora", [1], ["lora", "lora"]]),
    ("speculation.verification", [True, "lossy", {}, {"mode": "exact"}, {"mode": "fly", "x": float("inf")}]),
    ("speculation.adaptive", [1, "on", {"x": float("nan")}, {"": 1}]),
    ("speculation.schedule", [[], [{}], [{"k": 1, "x": 1}], [{"up_to": 1, "k": "1"}], {"k": 1}]),
    ("hardware.platform", [1, "gpu"]),
]


@pytest.mark.parametrize(("field", "value"), [(field, value) for field, values in STRICT for value in values])
def test_types_and_bounds_are_strict(field: str, value: Any) -> None:
    base = {"target.model": "a/b", "speculation.method": "ngram"}
    with pytest.raises(ValidationError):
        Spec.from_fields(base | {field: value})


def test_whole_numbers_are_numbers_and_specs_are_frozen() -> None:
    made = spec().with_field("serving.memory_fraction", 1)
    assert made.serving.memory_fraction == 1.0
    with pytest.raises(ValidationError, match="frozen"):
        setattr(made.serving, "port", 1)  # noqa: B010


@pytest.mark.parametrize(
    "options",
    [
        {"a": (1,)},
        {"a": {1: 2}},
        {"a": {"": 2}},
        {"a": float("inf")},
        {"a": 2**64},
        {"a": "\ud800"},
        {"a" * 300: 1},
        {"a": object()},
        {"--a": 1},
        {"a=b": 1},
    ],
    ids=lambda options: repr(options)[:40].partition(" at 0x")[0],
)
def test_options_hold_only_what_a_file_can(options: Any) -> None:
    with pytest.raises(ValidationError):
        Spec.from_fields({"target.model": "a", "speculation.method": "none"}, engines={"vllm": {"options": options}})


@pytest.mark.parametrize("env", [{"A": 1}, {"a-b": "x"}, {"": "x"}, {"A": "\0"}, {"A": None}], ids=repr)
def test_environments_are_names_and_text(env: Any) -> None:
    with pytest.raises(ValidationError):
        Spec.from_fields({"target.model": "a", "speculation.method": "none"}, engines={"sglang": {"env": env}})


def test_a_contradiction_names_its_fields() -> None:
    with pytest.raises(ValidationError) as caught:
        spec("suffix", draft={"model": "x"}, tree={"topk": 2}, num_draft_tokens=3)
    assert offending_fields(caught.value) == {"speculation.draft.model", "speculation.tree.topk"}
    with pytest.raises(ValidationError) as caught:
        spec("ngram", num_draft_tokens=0, schedule=[{"up_to": 2, "k": 1}, {"up_to": 2, "k": 1}])
    assert offending_fields(caught.value) == {"speculation.num_draft_tokens", "speculation.schedule.1.up_to"}


def test_validation_errors_do_not_repeat_what_was_given() -> None:
    token = "hf_" + "a1B2" * 8
    with pytest.raises(ValidationError) as caught:
        spec().with_field("deployment.secrets.hf_token", token)
    assert token not in str(caught.value)
