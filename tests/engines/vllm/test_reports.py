"""Facts that a launch leaves open: known faults are told unless what is known speaks against them."""

from __future__ import annotations

from typing import Any

import pytest

from specconf.findings import Severity
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


@pytest.mark.parametrize(
    ("facts", "severity"),
    [({}, Severity.INFO), ({"features": ["structured_output"]}, Severity.WARNING), ({"features": ["streaming"]}, None)],
)
def test_structured_output_after_reasoning_is_a_warning_where_the_features_list_it(
    facts: dict[str, Any], severity: Severity | None
) -> None:
    found = support.judged({"release": "0.24.0", "argv": NGRAM, "facts": facts}).findings
    about = [f.severity for f in found if (f.constraint or "").startswith("vllm/grammar-after-reasoning")]
    assert about == ([severity] if severity else [])


def test_a_grammar_that_holds_in_reasoning_too_is_no_fault() -> None:
    argv = [*NGRAM, "--structured-outputs-config", '{"enable_in_reasoning":true}']
    assert not told("vllm/grammar-after-reasoning-untold", release="0.24.0", argv=argv)


@pytest.mark.parametrize("release", ["0.25.0", "0.29.0", "0.30.0"])
def test_what_later_releases_do_after_the_reasoning_is_not_told_as_known(release: str) -> None:
    assert not told("vllm/grammar-after-reasoning-untold", release=release, argv=NGRAM)


@pytest.mark.parametrize(("gpu", "said"), [(None, True), ("H100", True), ("B200", False), ("A100", False)])
def test_hopper_unless_another_gpu_is_known(gpu: str | None, said: bool) -> None:
    facts = {"hardware.gpu": gpu} if gpu else {}
    case = {"release": "0.15.0", "argv": FLASHINFER, "target": QWEN3_NEXT, "facts": facts}
    assert told("vllm/flashinfer-fp8-kv-three-drafts", **case) is said


@pytest.mark.parametrize(
    ("draft", "said"),
    [
        (HEAD, True),
        ({**HEAD, "architectures": ["PEagleDraftModel"]}, False),
        ({**HEAD, "speculators_model_type": "peagle"}, False),
    ],
)
def test_a_head_that_drafts_at_once_costs_no_steps(draft: dict[str, Any], said: bool) -> None:
    assert told("vllm/many-sequential-drafts-eager", release="0.26.0", argv=MANY, draft=draft) is said


def test_parallel_drafting_that_is_asked_for_costs_no_steps() -> None:
    argv = [*MANY[:-1], '{"method":"eagle3","model":"d","num_speculative_tokens":15,"parallel_drafting":true}']
    assert not told("vllm/many-sequential-drafts-eager", release="0.26.0", argv=argv, draft=HEAD)
