"""Modules left unquantised that do not have the name the engine looks for, and vocabularies with padding."""

from __future__ import annotations

from typing import Any

import pytest

from tests.engines.vllm.support import judged

V4: dict[str, Any] = {
    "architectures": ["DeepseekV4ForCausalLM"], "model_type": "deepseek_v4", "hidden_size": 64, "num_hidden_layers": 43,
    "num_attention_heads": 2, "vocab_size": 1024, "max_position_embeddings": 512, "num_nextn_predict_layers": 1,
}  # fmt: skip
TENSORS = ["layers.0.attn.wq_a.weight_packed", "layers.0.attn.wq_a.weight_scale", "mtp.0.attn.wq_a.weight"]
MTP = ["vllm", "serve", "/models/target", "--speculative-config", '{"method":"mtp","num_speculative_tokens":1}']


@pytest.mark.parametrize(
    ("entries", "met"),
    [
        (["lm_head"], True),
        (["lm_head", "re:mtp.*"], True),
        (["mtp.0.attn.wq_a", "re:.*gate$", "model.layers.0.attn.wq_a"], True),
        (["mtp.0.attn.wq_a", "model.layers.43.attn.wq_a"], False),
        (["re:.*(mtp|43).*"], None),
        (["re:.*layers.43.*"], None),
    ],
)
def test_what_is_left_out_is_looked_up_by_layer_number(entries: list[str], met: bool | None) -> None:
    quantized = {"quant_method": "compressed-tensors", "format": "pack-quantized", "ignore": entries}
    example = {
        "release": "0.28.0",
        "argv": MTP,
        "target": V4 | {"quantization_config": quantized},
        "target_tensors": TENSORS,
    }
    judgement = judged(example)
    name = "vllm/deepseek-v4-mtp-left-out-by-word"
    assert (name in {f.constraint for f in judgement.findings}) is (met is True)
    assert (name in {n.constraint for n in judgement.result.not_checked}) is (met is None)


@pytest.mark.parametrize(
    ("release", "own", "met"),
    [("0.29.0", 1088, True), ("0.29.0", 1000, False), ("0.30.0", 1088, False), ("0.30.0", 900, True)],
)
def test_a_padded_vocabulary_of_a_block_draft_is_a_reduced_one_to_one_release(
    release: str, own: int, met: bool
) -> None:
    argv = [
        "vllm",
        "serve",
        "/models/target",
        "--speculative-config",
        '{"method":"dspark","model":"/models/draft","num_speculative_tokens":3}',
    ]
    text = {"model_type": "inkling_model", "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
    target = {
        "architectures": ["InklingForConditionalGeneration"], "model_type": "inkling_mm_model", "max_position_embeddings": 512,
        "text_config": text | {"vocab_size": 1088, "unpadded_vocab_size": 1000},
    }  # fmt: skip
    draft = {
        "architectures": ["Qwen3DSparkModel"], "model_type": "qwen3", "hidden_size": 64, "num_hidden_layers": 1,
        "vocab_size": own, "num_attention_heads": 4, "max_position_embeddings": 512, "block_size": 4,
        "target_layer_ids": [0], "mask_token_id": 1,
    }  # fmt: skip
    example = {
        "release": release,
        "argv": argv,
        "target": target,
        "draft": draft,
        "draft_tensors": ["fc.weight", "lm_head.weight"],
    }
    found = {f.constraint for f in judged(example).findings}
    assert any(str(name).startswith("vllm/dspark-reduced-vocabulary") for name in found) is met
