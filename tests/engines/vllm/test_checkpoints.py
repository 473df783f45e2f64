"""What lies beside a config decides on real directories: stripped MTP layers, heads without a map, strangers as drafts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from specconf.engines.base import Models
from specconf.models import ModelFacts, resolve_model
from specconf.models.view import model_views
from tests.engines.vllm.support import judged_spec

GLM = {
    "architectures": ["GlmMoeDsaForCausalLM"], "model_type": "glm_moe_dsa", "hidden_size": 64, "num_hidden_layers": 2,
    "num_attention_heads": 2, "vocab_size": 1024, "max_position_embeddings": 512, "num_nextn_predict_layers": 1,
}  # fmt: skip
QWEN = {**GLM, "architectures": ["Qwen3NextForCausalLM"], "model_type": "qwen3_next"}
HUNYUAN = {**GLM, "architectures": ["HYV3ForCausalLM"], "model_type": "hy_v3"}
LLAMA = {**GLM, "architectures": ["LlamaForCausalLM"], "model_type": "llama"}
FP4 = {"quantization_config": {"quant_method": "modelopt", "quant_algo": "NVFP4"}}
OWN, SCALE = "model.layers.1.mlp.up_proj.weight", "model.layers.1.mlp.up_proj.weight_scale"


def found(path: Path, config: dict[str, Any], *names: str, tokens: dict[str, int] | None = None) -> ModelFacts:
    path.mkdir()
    (path / "config.json").write_text(json.dumps(config))
    if names:
        index = json.dumps({"weight_map": dict.fromkeys(names, "model-1.safetensors")})
        (path / "model.safetensors.index.json").write_text(index)
    if tokens is not None:
        (path / "tokenizer.json").write_text(json.dumps({"model": {"vocab": tokens}}))
    facts = resolve_model(str(path))
    assert isinstance(facts, ModelFacts)
    return facts


def findings(release: str, method: str, target: ModelFacts, draft: ModelFacts | None = None) -> set[str]:
    fields: dict[str, Any] = {
        "target.model": "/models/target",
        "speculation.method": method,
        "speculation.num_draft_tokens": 1,
    }
    if draft is not None:
        fields["speculation.draft.model"] = "/models/draft"
    judgement = judged_spec(fields, release, Models(*model_views(target, draft)))
    return {finding.constraint or finding.code for finding in judgement.findings}


@pytest.mark.parametrize(
    ("release", "config", "constraint"),
    [
        ("0.16.0", GLM | FP4, "vllm/mtp-tensors-missing-silently"),
        ("0.17.0", GLM | FP4, "vllm/mtp-layers-missing"),
        ("0.33.0", GLM | FP4, "vllm/mtp-layers-missing"),
        ("0.16.0", GLM, "vllm/mtp-tensors-missing"),
        ("0.33.0", GLM, "vllm/mtp-layers-missing"),
        ("0.33.0", QWEN | FP4, "vllm/mtp-tensors-missing-silently"),
        ("0.33.0", QWEN, "vllm/mtp-tensors-missing"),
        ("0.33.0", HUNYUAN, "vllm/mtp-tensors-missing-silently"),
    ],
)
def test_stripped_mtp_layers(tmp_path: Path, release: str, config: dict[str, Any], constraint: str) -> None:
    stripped = found(tmp_path / "stripped", config, OWN, SCALE)
    whole = found(
        tmp_path / "whole", config, OWN, SCALE, "model.layers.2.eh_proj.weight", "model.layers.2.x.weight_scale"
    )
    nobody_knows = found(tmp_path / "bare", config)
    about = "vllm/mtp-"
    assert {name for name in findings(release, "mtp", stripped) if name.startswith(about)} == {constraint}
    assert not {name for name in findings(release, "mtp", whole) if name.startswith(about)}
    assert not {name for name in findings(release, "mtp", nobody_knows) if name.startswith(about)}


@pytest.mark.parametrize(("release", "met"), [("0.10.2", False), ("0.11.0", True), ("0.24.0", True), ("0.25.0", False)])
def test_the_projection_of_qwen3_next(tmp_path: Path, release: str, met: bool) -> None:
    config = QWEN | {"quantization_config": FP4["quantization_config"] | {"ignore": ["mtp.layers.0*"]}}
    target = found(tmp_path / "m", config, OWN, SCALE, "mtp.fc.weight", "mtp.layers.0.x.weight")
    assert ("vllm/qwen3-next-mtp-nvfp4" in findings(release, "mtp", target)) is met


def test_a_relative_numbers_tokens_alike_and_a_stranger_does_not(tmp_path: Path) -> None:
    target = found(tmp_path / "target", LLAMA, tokens={"a": 0, "b": 1})
    relative = found(tmp_path / "relative", LLAMA, tokens={"a": 0, "b": 1, "<think>": 2})
    stranger = found(tmp_path / "stranger", LLAMA, tokens={"b": 0, "a": 1})
    name = "vllm/draft-numbers-tokens-otherwise-025"
    assert name in findings("0.33.0", "draft_model", target, stranger)
    assert name not in findings("0.33.0", "draft_model", target, relative)
