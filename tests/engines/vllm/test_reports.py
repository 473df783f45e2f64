"""Known faults of which only reports tell: what a launch leaves open is not checked, and never taken for granted."""

from __future__ import annotations

from typing import Any

import pytest

from tests.engines.vllm import support

NGRAM = [
    "vllm",
    "serve",
    "m",
    "--reasoning-parser",
    "qwen3",
    "--speculative-config",
    '{"method":"ngram","num_speculative_tokens":3}',
]
MANY = [
    "vllm",
    "serve",
    "m",
    "--enforce-eager",
    "--speculative-config",
    '{"method":"eagle3","model":"d","num_speculative_tokens":15}',
]
FLASHINFER = ["vllm", "serve", "m", "--kv-cache-dtype", "fp8", "--attention-backend", "FLASHINFER", "--speculative-config",
              '{"method":"qwen3_next_mtp","num_speculative_tokens":3}']  # fmt: skip
QWEN3_NEXT = {"architectures": ["Qwen3NextForCausalLM"], "model_type": "qwen3_next", "vocab_size": 1024}
HEAD = {"architectures": ["LlamaForCausalLMEagle3"], "model_type": "llama", "vocab_size": 1024, "hidden_size": 64}


def told(constraint: str, **case: Any) -> bool:
    return constraint in {finding.constraint for finding in support.judged(case).findings}


def undecided(constraint: str, **case: Any) -> bool:
    return constraint in {item.constraint for item in support.judged(case).result.not_checked}


@pytest.mark.parametrize(
    ("facts", "said", "unknown"),
    [
        ({}, False, True),
        ({"features": ["structured_output"]}, True, False),
        ({"features": ["streaming"]}, False, False),
    ],
)
def test_structured_output_after_reasoning_is_not_checked_where_nobody_lists_features(
    facts: dict[str, Any], said: bool, unknown: bool
) -> None:
    case = {"release": "0.24.0", "argv": NGRAM, "facts": facts}
    assert told("vllm/grammar-after-reasoning", **case) is said
    assert undecided("vllm/grammar-after-reasoning", **case) is unknown


def test_a_grammar_that_holds_in_reasoning_too_is_no_fault() -> None:
    argv = [*NGRAM, "--structured-outputs-config", '{"enable_in_reasoning":true}']
    case = {"release": "0.24.0", "argv": argv, "facts": {"features": ["structured_output"]}}
    assert not told("vllm/grammar-after-reasoning", **case)
    assert not undecided("vllm/grammar-after-reasoning", **case)


@pytest.mark.parametrize("release", ["0.25.0", "0.29.0", "0.30.0"])
def test_what_later_releases_do_after_the_reasoning_is_not_told_as_known(release: str) -> None:
    assert not told(
        "vllm/grammar-after-reasoning", release=release, argv=NGRAM, facts={"features": ["structured_output"]}
    )


@pytest.mark.parametrize(
    ("more", "facts", "said", "unknown"),
    [
        ([], {}, False, True),
        ([], {"features": ["tools"]}, True, False),
        ([], {"features": ["streaming"]}, False, False),
        (["--guided-decoding-backend", "xgrammar"], {}, True, False),
        (["--guided-decoding-backend", "outlines"], {"features": ["tools"]}, False, False),
    ],
)
def test_guided_decoding_is_told_where_the_features_or_the_launch_name_it(
    more: list[str], facts: dict[str, Any], said: bool, unknown: bool
) -> None:
    argv = ["vllm", "serve", "m", "--speculative-model", "d", "--num-speculative-tokens", "3", *more]
    case = {"release": "0.6.6", "argv": argv, "facts": facts}
    assert told("vllm/guided-decoding-v0", **case) is said
    assert undecided("vllm/guided-decoding-v0", **case) is unknown


@pytest.mark.parametrize(
    ("gpu", "said", "unknown"), [(None, False, True), ("H100", True, False), ("B200", False, False)]
)
def test_a_fault_of_hopper_is_not_checked_where_no_gpu_is_known(gpu: str | None, said: bool, unknown: bool) -> None:
    facts = {"hardware.gpu": gpu} if gpu else {}
    case = {"release": "0.15.0", "argv": FLASHINFER, "target": QWEN3_NEXT, "facts": facts}
    assert told("vllm/flashinfer-fp8-kv-three-drafts", **case) is said
    assert undecided("vllm/flashinfer-fp8-kv-three-drafts", **case) is unknown


@pytest.mark.parametrize("release", ["0.12.0", "0.26.0"])
def test_a_head_drafts_in_sequence_unless_asked_otherwise(release: str) -> None:
    assert told("vllm/many-sequential-drafts-eager", release=release, argv=MANY, draft=HEAD)


def test_parallel_drafting_that_is_asked_for_costs_no_steps() -> None:
    argv = [*MANY[:-1], '{"method":"eagle3","model":"d","num_speculative_tokens":15,"parallel_drafting":true}']
    assert not told("vllm/many-sequential-drafts-eager", release="0.26.0", argv=argv, draft=HEAD)
