"""A draft whose config gives fewer tokens than its target is served with, and what lets SGLang stretch it."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from specconf.compat.database import load_database
from specconf.engines.registry import get_engine
from specconf.rules.judge import Judgement
from specconf.rules.probes import run_probe

ALLOWS = "SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN"
SHORT = {"model_type": "llama", "vocab_size": 1024, "hidden_size": 128, "num_hidden_layers": 2}


def _judged(platform: str, env: Mapping[str, str]) -> Judgement:
    numbers = ["--speculative-num-steps", "3", "--speculative-eagle-topk", "1", "--speculative-num-draft-tokens", "4"]
    head = ["--speculative-algorithm", "EAGLE3", "--speculative-draft-model-path", "d", *numbers]
    launch = {
        "release": "0.5.23",
        "argv": ["python", "-m", "sglang.launch_server", "--model-path", "t", *head],
        "env": dict(env),
        "target": {"architectures": ["LlamaForCausalLM"], "max_position_embeddings": 4096, **SHORT},
        "draft": {"architectures": ["LlamaForCausalLMEagle3"], "max_position_embeddings": 512, **SHORT},
        "facts": {"hardware.platform": platform},
    }
    return run_probe(load_database("sglang"), get_engine("sglang"), launch)[1]


@pytest.mark.parametrize(
    ("platform", "env", "found", "open_question"),
    [
        ("cuda", {}, {"sglang/draft-context-blocks"}, False),
        ("cuda", {ALLOWS: "1"}, {"sglang/draft-context-stretched"}, False),
        ("rocm", {}, set(), True),
        ("rocm", {ALLOWS: "0"}, {"sglang/draft-context-blocks"}, False),
        ("rocm", {ALLOWS: "true"}, {"sglang/draft-context-stretched"}, False),
    ],
)
def test_the_images_for_rocm_set_what_lets_the_draft_be_stretched(
    platform: str, env: Mapping[str, str], found: set[str], open_question: bool
) -> None:
    judgement = _judged(platform, env)
    assert {f.constraint for f in judgement.findings if f.constraint.startswith("sglang/draft-context")} == found
    unchecked = {item.constraint for item in judgement.result.not_checked}
    assert ("sglang/draft-context-blocks" in unchecked) is open_question
