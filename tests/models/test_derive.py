"""Facts from configs: the fixture table, nesting, partial rows, and that nothing crashes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specconf.models import FACT_NAMES, Kind, Missing, model_facts
from specconf.models.families import Families

FIXTURES = Path(__file__).parents[1] / "fixtures" / "models"

TABLE: dict[str, dict[str, Any]] = {
    "llama-3.1-8b": {
        "architecture": "LlamaForCausalLM", "model_type": "llama", "vocab_size": 128256, "hidden_size": 4096,
        "num_layers": 32, "num_heads": 32, "num_kv_heads": 8, "head_dim": 128, "max_position_embeddings": 131072,
        "quantization": None, "dtype": "bfloat16", "mtp_layers": 0, "needs_remote_code": False, "kind": "plain",
        "config.rope_scaling.rope_type": "llama3",
    },
    "llama-3.2-1b": {"vocab_size": 128256, "head_dim": 64, "num_layers": 16, "mtp_layers": 0, "kind": "plain"},
    "qwen3-4b": {"vocab_size": 151936, "head_dim": 128, "mtp_layers": 0, "kind": "plain", "config.rope_scaling": None},
    "qwen3-0.6b": {"vocab_size": 151936, "hidden_size": 1024, "num_layers": 28, "kind": "plain"},
    "qwen2.5-7b": {"vocab_size": 152064, "head_dim": 128, "num_kv_heads": 4, "kind": "plain"},
    "qwen2.5-1.5b": {"vocab_size": 151936, "head_dim": 128, "num_kv_heads": 2, "kind": "plain"},
    "mimo-7b": {"mtp_layers": 1, "needs_remote_code": True, "has_auto_map": True, "kind": "plain"},
    "eagle-llama3.1-8b": {"kind": "eagle", "draft_kind": "eagle", "target_hidden_size": 4096, "num_layers": 1},
    "eagle3-llama3.1-8b": {"kind": "eagle3", "draft_vocab_size": 32000, "vocab_size": 128256},
    "deepseek-v3": {
        "mtp_layers": 1, "quantization": "fp8", "has_auto_map": True, "kind": "plain",
        "config.rope_scaling.type": "yarn",
    },
    "opt": {"vocab_size": 50272, "num_kv_heads": 12, "head_dim": 64, "mtp_layers": 0, "kind": "plain"},
}  # fmt: skip

TEXT: dict[str, Any] = {"vocab_size": 64, "hidden_size": 32, "num_attention_heads": 4, "num_hidden_layers": 2}


def fixture(name: str) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((FIXTURES / name / "config.json").read_text())
    return loaded


@pytest.mark.parametrize("name", TABLE)
def test_fixture(name: str) -> None:
    facts = model_facts(fixture(name))
    assert {path: facts.get(path) for path in TABLE[name]} == TABLE[name]


def test_every_fixture_is_in_the_table() -> None:
    assert {path.name for path in FIXTURES.iterdir()} == set(TABLE)


@pytest.mark.parametrize(
    "config",
    [
        {"architectures": ["AForConditionalGeneration"], "text_config": TEXT},
        {"architectures": ["AForConditionalGeneration"], "llm_config": TEXT},
        {"architectures": ["AForConditionalGeneration"], "language_config": TEXT},
        {"architectures": ["AForConditionalGeneration"], "thinker_config": {"text_config": TEXT}},
    ],
    ids=lambda config: next(key for key in config if key.endswith("_config")),
)
def test_nested_text_model(config: dict[str, Any]) -> None:
    facts = model_facts(config)
    assert (facts.vocab_size, facts.head_dim, facts.num_layers) == (64, 8, 2)
    assert facts.get("config.vocab_size") == 64


def test_the_top_level_wins_over_the_text_model() -> None:
    assert model_facts({"vocab_size": 7, "text_config": TEXT}).vocab_size == 7


MTP = [
    ({"num_nextn_predict_layers": 1}, 1),
    ({"num_nextn_predict_layers": 0}, 0),
    ({"num_nextn_predict_layers": None}, 0),
    ({"mtp_num_hidden_layers": 2}, 2),
    ({"text_config": {"mtp_num_hidden_layers": 1}}, 1),
    ({"num_mtp_modules": 3}, 3),
    ({"num_mtp_modules": 7, "num_nextn_predict_layers": 1}, 7),
    ({"num_mtp_layers": 1}, 1),
    ({"mtp_config": {"num_nextn_predict_layers": 8}}, 8),
    ({"model_type": "deepseek_mtp", "n_predict": 2}, 2),
    ({"model_type": "mlp_speculator", "n_predict": 3}, 0),
    ({"model_type": "longcat_flash"}, 1),
    ({"architectures": ["LongcatFlashForCausalLM"]}, 1),
    ({}, 0),
]


@pytest.mark.parametrize(("config", "layers"), MTP)
def test_mtp_layers(config: dict[str, Any], layers: int) -> None:
    assert model_facts(config).mtp_layers == layers


@pytest.mark.parametrize("name", ["qwen3_next", "mimo_v2_flash"])
def test_a_family_that_does_not_count_its_mtp_layers_is_unknown(name: str) -> None:
    found = model_facts({"model_type": name}).mtp_layers
    assert isinstance(found, Missing)
    assert not found.absent


FAMILIES = Families({"one": 1, "some": None, "OneForCausalLM": 1}, frozenset({"afar"}))


@pytest.mark.parametrize(
    ("config", "layers"),
    [
        ({"model_type": "one"}, 1),
        ({"architectures": ["OneForCausalLM"]}, 1),
        ({"model_type": "one", "num_nextn_predict_layers": 3}, 3),
        ({"model_type": "one", "num_nextn_predict_layers": 0}, 0),
        ({"model_type": "longcat_flash"}, 0),
    ],
)
def test_the_families_are_given(config: dict[str, Any], layers: int) -> None:
    assert model_facts(config, families=FAMILIES).mtp_layers == layers


def test_a_given_family_may_leave_its_layers_uncounted_or_its_config_to_remote_code() -> None:
    assert isinstance(model_facts({"model_type": "some"}, families=FAMILIES).mtp_layers, Missing)
    named = {"auto_map": {"AutoConfig": "x.Y"}}
    assert model_facts({"model_type": "afar", **named}, families=FAMILIES).needs_remote_code is True
    assert isinstance(model_facts({"model_type": "mimo", **named}, families=FAMILIES).needs_remote_code, Missing)


def test_an_unknown_layer_count_wins_over_a_number() -> None:
    config = {"model_type": "one", "architectures": ["some"]}
    assert isinstance(model_facts(config, families=FAMILIES).mtp_layers, Missing)


@pytest.mark.parametrize("value", [True, "1", 1.5, [1], {}])
def test_a_count_of_the_wrong_type_is_unknown_not_zero(value: object) -> None:
    found = model_facts({"num_nextn_predict_layers": value}).mtp_layers  # type: ignore[dict-item]
    assert isinstance(found, Missing)
    assert not found.absent


SHOWN = {"tensors_at_hand", "token_tables_at_hand", "text_config_path", "architecture", "architectures", "model_type"}


@pytest.mark.parametrize("path", sorted(FACT_NAMES - SHOWN))
def test_a_partial_config_leaves_the_rest_unknown(path: str) -> None:
    facts = model_facts({"architectures": ["LlamaForCausalLM"], "model_type": "llama"}, complete=False)
    found = facts.get(path)
    assert isinstance(found, Missing)
    assert not found.absent


def test_absent_and_unknown_differ() -> None:
    whole = model_facts({"architectures": ["A"]})
    partial = model_facts({"architectures": ["A"], "rope_scaling": None}, complete=False)
    left_out = model_facts({"architectures": ["A"]}, elided=frozenset({"rope_scaling"}))
    assert whole.get("config.rope_scaling") == Missing("config.json has no rope_scaling", absent=True)
    assert partial.get("config.rope_theta") == Missing("config.json does not show rope_theta")
    assert partial.get("config.rope_scaling.type") == Missing("config.json has no rope_scaling.type", absent=True)
    assert left_out.get("config.rope_scaling.type") == Missing("config.json does not show rope_scaling.type")


def test_paths() -> None:
    facts = model_facts({"architectures": ["A", "B"], "rope_scaling": {"type": "yarn"}})
    assert facts.get("config.architectures.1") == "B"
    assert facts.get("config.architectures.9") == Missing("config.json has no architectures.9", absent=True)
    assert isinstance(facts.get("vocabsize"), Missing)
    assert facts.get("architectures") == ["A", "B"]
    assert facts.known == {"architectures", "rope_scaling"}


REMOTE = [
    ({"model_type": "mimo", "auto_map": {"AutoConfig": "x.Y"}}, True),
    ({"model_type": "llama"}, False),
    ({"model_type": "llama", "auto_map": {}}, False),
]


@pytest.mark.parametrize(("config", "needs"), REMOTE)
def test_remote_code(config: dict[str, Any], needs: bool) -> None:
    assert model_facts(config).needs_remote_code is needs


def test_remote_code_of_a_family_that_transformers_ships_is_unknown() -> None:
    assert isinstance(model_facts(fixture("deepseek-v3")).needs_remote_code, Missing)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=True) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=10,
)
keys = st.sampled_from(
    [
        "architectures", "model_type", "text_config", "llm_config", "thinker_config", "vocab_size", "hidden_size",
        "num_attention_heads", "num_key_value_heads", "head_dim", "quantization_config", "torch_dtype", "auto_map",
        "num_nextn_predict_layers", "mtp_config", "dflash_config", "speculators_config", "bias", "draft_vocab_size",
        "num_hidden_layers", "multi_query", "kv_lora_rank", "model",
    ]
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(
    st.dictionaries(keys | st.text(max_size=8), json_values, max_size=8),
    st.booleans(),
    st.sampled_from(sorted(FACT_NAMES)) | st.text(max_size=20).map(lambda path: f"config.{path}"),
)
def test_no_json_object_crashes(config: dict[str, Any], complete: bool, path: str) -> None:
    facts = model_facts(config, complete=complete)
    facts.get(path)
    facts.evidence(path)
    for name in FACT_NAMES:
        value = facts.get(name)
        if name in {"vocab_size", "mtp_layers", "num_layers", "head_dim"}:
            assert isinstance(value, Missing) or type(value) is int
    assert isinstance(facts.kind, Kind)
