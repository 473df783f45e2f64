"""A launch whose models are known leaves no question open that is only about an option which nobody wrote."""

from __future__ import annotations

from typing import Any

import pytest

from specconf.compat.database import load_database
from specconf.engines.registry import get_engine
from specconf.rules.probes import run_probe

LLAMA: dict[str, Any] = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "vocab_size": 1024,
    "hidden_size": 128,
    "num_attention_heads": 4,
    "num_key_value_heads": 4,
    "num_hidden_layers": 8,
    "max_position_embeddings": 4096,
}
EAGLE3 = {**LLAMA, "architectures": ["LlamaForCausalLMEagle3"], "num_hidden_layers": 1, "draft_vocab_size": 512}
DFLASH = {
    **LLAMA,
    "architectures": ["DFlashDraftModel"],
    "model_type": "qwen3",
    "num_hidden_layers": 2,
    "block_size": 8,
    "dflash_config": {"mask_token_id": 5, "target_layer_ids": [1, 4]},
}
NUMBERS = ("--speculative-num-steps", "3", "--speculative-eagle-topk", "1", "--speculative-num-draft-tokens", "4")
DRAFT = ("--speculative-draft-model-path", "d")


@pytest.mark.parametrize("release", ["0.5.13", "0.5.18", "0.5.23"])
@pytest.mark.parametrize(
    ("words", "draft"),
    [
        ((), None),
        (("--speculative-algorithm", "NGRAM"), None),
        (("--speculative-algorithm", "EAGLE3", *DRAFT, *NUMBERS), EAGLE3),
        (("--speculative-algorithm", "EAGLE3", *DRAFT), EAGLE3),
        (("--speculative-algorithm", "STANDALONE", *DRAFT, *NUMBERS), LLAMA),
        (("--speculative-algorithm", "DFLASH", *DRAFT), DFLASH),
    ],
    ids=["none", "ngram", "eagle3", "eagle3-alone", "standalone", "dflash"],
)
def test_what_is_not_written_is_no_question(release: str, words: tuple[str, ...], draft: dict[str, Any] | None) -> None:
    launch: dict[str, Any] = {
        "release": release,
        "argv": ["python", "-m", "sglang.launch_server", "--model-path", "t", *words],
        "target": LLAMA,
        "facts": {"hardware.platform": "cuda", "hardware.gpu": "H100", "hardware.capability": 9.0},
    }
    if draft is not None:
        launch["draft"] = draft
    _, judgement = run_probe(load_database("sglang"), get_engine("sglang"), launch)
    of_options = {
        item.constraint: sorted(item.missing)
        for item in judgement.result.not_checked
        if item.missing and all(fact.startswith(("option.", "asked.")) for fact in item.missing)
    }
    assert of_options == {}


def test_what_is_filled_in_for_an_unwritten_topk_is_no_finding() -> None:
    argv = ["python", "-m", "sglang.launch_server", "--model-path", "t", "--speculative-algorithm", "NGRAM"]
    told = {}
    for words in ([], ["--speculative-eagle-topk", "3"]):
        launch = {"release": "0.5.23", "argv": [*argv, *words], "target": LLAMA}
        _, judgement = run_probe(load_database("sglang"), get_engine("sglang"), launch)
        told[bool(words)] = {finding.constraint for finding in judgement.findings}
    assert "sglang/ngram-topk" in told[True]
    assert not {"sglang/ngram-topk", "sglang/ngram-topk-unset", "sglang/ngram-steps-derived"} & told[False]
