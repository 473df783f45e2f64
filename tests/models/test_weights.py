"""What tensor names tell of MTP layers, schemes and vocabulary maps, and that nobody reads them unasked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from specconf.models import Missing, ModelFacts, model_facts, resolve_model

CONFIG: dict[str, Any] = {"architectures": ["AForCausalLM"], "num_hidden_layers": 2}
OWN = "model.layers.1.mlp.up_proj.weight"


def fact(path: str, *names: str, config: dict[str, Any] = CONFIG) -> Any:
    return model_facts(config, tensors=frozenset(names)).get(path)


@pytest.mark.parametrize(
    "name",
    [
        "mtp.fc.weight", "mtp.0.attn.wq.weight", "model.mtp.layers.0.eh_proj.weight", "model.mtp_layers.0.input_proj.weight",
        "model.mtp_block.0.mlp.up_proj.weight", "model.mtp_emb_norm.0.weight", "nextn.layers.0.x.weight",
        "model.layers.2.eh_proj.weight", "language_model.model.layers.2.enorm.weight", "decoder.extra_heads.0.weight",
    ],
)  # fmt: skip
def test_every_naming_of_mtp_layers(name: str) -> None:
    assert fact("has_mtp_tensors", OWN, name) is True


@pytest.mark.parametrize(
    "name", ["lm_head.weight", "vision_model.encoder.layers.30.x.weight", "model.embed_tokens.weight"]
)
def test_no_mtp_layers(name: str) -> None:
    assert fact("has_mtp_tensors", OWN, name) is False
    assert fact("mtp_quantized_tensors", OWN, name) is None


def test_layers_beyond_the_target_need_its_number_of_layers() -> None:
    assert isinstance(fact("has_mtp_tensors", OWN, config={}), Missing)
    assert fact("has_mtp_tensors", "mtp.fc.weight", config={}) is True


@pytest.mark.parametrize(
    "beside",
    [
        "weight_scale",
        "weight_scale_inv",
        "weight_packed",
        "qweight",
        "scales",
        "weight_global_scale",
        "gate_up_proj_blocks",
    ],
)
def test_the_scheme_of_the_rest_and_of_the_mtp_layers(beside: str) -> None:
    own, mtp = f"model.layers.1.mlp.up_proj.{beside}", f"mtp.layers.0.mlp.up_proj.{beside}"
    assert (fact("quantized_tensors", own), fact("quantized_tensors", OWN)) == (True, False)
    assert fact("mtp_quantized_tensors", own, mtp) is True
    assert fact("mtp_quantized_tensors", own, "mtp.layers.0.mlp.up_proj.weight") is False


def test_a_scale_counts_beside_a_weight_only() -> None:
    assert fact("quantized_tensors", "layers.0.ffn.w1.weight", "layers.0.ffn.w1.scale") is True
    assert fact("quantized_tensors", "layers.0.norm.scale") is False


def test_the_projection_in_front() -> None:
    assert fact("mtp_projection_quantized", "mtp.fc.weight", "mtp.layers.0.x.weight_scale") is False
    assert fact("mtp_projection_quantized", "model.layers.2.eh_proj.weight_scale_inv") is True
    assert fact("mtp_projection_quantized", "mtp.layers.0.x.weight") is None


def test_heads() -> None:
    assert (fact("has_vocab_map", "d2t", "fc.weight"), fact("has_vocab_map", "fc.weight")) == (True, False)
    assert (fact("has_own_head", "lm_head.weight"), fact("has_own_head", "fc.weight")) == (True, False)


def test_no_list_of_tensors_is_unknown() -> None:
    assert isinstance(model_facts(CONFIG).get("has_mtp_tensors"), Missing)
    assert isinstance(fact("has_mtp_tensors"), Missing)
    assert (model_facts(CONFIG).get("tensors_at_hand"), fact("tensors_at_hand", OWN)) == (False, True)


def write(directory: Path, index: str | None = None, **headers: bytes) -> ModelFacts:
    directory.mkdir()
    (directory / "config.json").write_text(json.dumps(CONFIG))
    if index is not None:
        (directory / "model.safetensors.index.json").write_text(index)
    for name, header in headers.items():
        (directory / f"{name}.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + b"\0")
    found = resolve_model(str(directory))
    assert isinstance(found, ModelFacts)
    return found


def test_names_of_the_index_count_and_other_files_do_not(tmp_path: Path) -> None:
    header = b'{"mtp.fc.weight": {}}'
    facts = write(tmp_path / "m", json.dumps({"weight_map": {OWN: "f"}}), mtp=header)
    assert facts.get("has_mtp_tensors") is False


def test_without_an_index_every_file_counts(tmp_path: Path) -> None:
    own = b'{"__metadata__": {}, "' + OWN.encode() + b'": {}}'
    assert write(tmp_path / "both", model=own, mtp=b'{"mtp.fc.weight": {}}').get("has_mtp_tensors") is True
    assert write(tmp_path / "one", model=own).get("has_mtp_tensors") is False
    assert isinstance(write(tmp_path / "broken", model=own, mtp=b"{").get("has_mtp_tensors"), Missing)


@pytest.mark.parametrize("index", ["[]", "{", '{"weight_map": 1}', "[" * 100_000])
def test_a_broken_index_is_unknown(tmp_path: Path, index: str) -> None:
    assert isinstance(write(tmp_path / "m", index).get("has_mtp_tensors"), Missing)


def test_names_are_read_when_asked_for_and_once(tmp_path: Path) -> None:
    facts = write(tmp_path / "m", '{"weight_map": {"mtp.x": "f"}}')
    index = tmp_path / "m" / "model.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": {OWN: "f"}}))
    assert facts.get("has_mtp_tensors") is False
    index.unlink()
    assert facts.get("has_mtp_tensors") is False
