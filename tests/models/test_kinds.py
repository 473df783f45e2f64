"""Telling heads from models by what they hold, never by what they are called."""

from __future__ import annotations

from typing import Any

import pytest

from specconf.models import Kind, model_facts

ONE: dict[str, Any] = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "num_hidden_layers": 1}
TABLE: list[tuple[dict[str, Any], Kind]] = [
    ({"architectures": ["LlamaForCausalLM"], "num_hidden_layers": 32}, Kind.PLAIN),
    ({"architectures": ["Eagle2_5_VLForConditionalGeneration"], "num_hidden_layers": 32}, Kind.PLAIN),
    ({"architectures": ["GPT2LMHeadModel"], "n_layer": 12}, Kind.PLAIN),
    (ONE, Kind.UNKNOWN),
    (ONE | {"bias": False}, Kind.EAGLE),
    (ONE | {"draft_vocab_size": 32000}, Kind.EAGLE3),
    ({"architectures": ["LlamaForCausalLM"], "num_hidden_layers": 40, "draft_vocab_size": 32000}, Kind.EAGLE3),
    ({"architectures": ["LlamaForCausalLMEagle3"], "num_hidden_layers": 1}, Kind.EAGLE3),
    ({"architectures": ["Eagle3Qwen3ForCausalLM"]}, Kind.EAGLE3),
    ({"architectures": ["LlamaForCausalLMEagle"]}, Kind.EAGLE),
    ({"architectures": ["EagleDeepSeekMTPModel"]}, Kind.EAGLE),
    ({"model_type": "eagle", "model": {"vocab_size": 9}}, Kind.EAGLE),
    ({"architectures": ["PEagleDraftModel"], "draft_vocab_size": 9}, Kind.UNKNOWN),
    ({"architectures": ["LiLiCorrDraftModel"], "num_hidden_layers": 5}, Kind.UNKNOWN),
    ({"architectures": ["DFlashDraftModel"], "model_type": "qwen3"}, Kind.DFLASH),
    ({"architectures": ["DSparkDraftModel"], "draft_vocab_size": 32000, "dflash_config": {}}, Kind.DSPARK),
    ({"architectures": ["A"], "dflash_config": {"projector_type": "dspark"}}, Kind.DSPARK),
    ({"architectures": ["A"], "dflash_config": {"mask_token_id": 1}}, Kind.DFLASH),
    ({"model_type": "gemma4_assistant", "architectures": ["Gemma4AssistantForCausalLM"]}, Kind.MTP_ASSISTANT),
    ({"architectures": ["DeepseekV3ForCausalLMNextN"]}, Kind.MTP_ASSISTANT),
    ({"model_type": "medusa"}, Kind.MEDUSA),
    ({"architectures": ["A"], "medusa_num_heads": 3}, Kind.MEDUSA),
    ({"architectures": ["MLPSpeculatorPreTrainedModel"], "model_type": "mlp_speculator"}, Kind.MLP_SPECULATOR),
    ({"architectures": ["Eagle3Speculator"], "speculators_model_type": "eagle3"}, Kind.SPECULATORS),
    ({"vocab_size": 9}, Kind.UNKNOWN),
    ({}, Kind.UNKNOWN),
]


@pytest.mark.parametrize(("config", "kind"), TABLE)
def test_by_config(config: dict[str, Any], kind: Kind) -> None:
    facts = model_facts(config)
    assert facts.kind is kind
    assert facts.kind_reason


@pytest.mark.parametrize(
    ("names", "kind"),
    [
        ({"midlayer.hidden_norm.weight", "fc.weight", "d2t"}, Kind.EAGLE3),
        ({"fc.weight", "layers.0.mlp.up_proj.weight"}, Kind.EAGLE),
        ({"model.embed_tokens.weight", "model.layers.0.mlp.up_proj.weight", "lm_head.weight"}, Kind.PLAIN),
        (set(), Kind.UNKNOWN),
    ],
)
def test_by_tensors_where_the_config_cannot_tell(names: set[str], kind: Kind) -> None:
    assert model_facts(ONE, tensors=frozenset(names)).kind is kind


def test_a_speculators_checkpoint_says_what_it_drafts_by() -> None:
    inner = {"vocab_size": 128256, "hidden_size": 4096, "num_attention_heads": 32, "num_hidden_layers": 1}
    config: dict[str, Any] = {
        "speculators_model_type": "eagle3",
        "draft_vocab_size": 32000,
        "transformer_layer_config": inner,
    }
    facts = model_facts(config)
    assert (facts.draft_kind, facts.vocab_size, facts.get("target_hidden_size")) == ("eagle3", 128256, 4096)
