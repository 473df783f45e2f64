"""Launches and verdicts that users get for well-known checkpoints, written out in full."""

from __future__ import annotations

from typing import Any

import pytest

from specconf.findings import Severity
from specconf.rules.judge import Judgement
from tests.engines.vllm.support import argv, judged_spec, known

QWEN, QWEN_DRAFT = "Qwen/Qwen3-4B-Thinking-2507", "Qwen/Qwen3-0.6B"
LLAMA, LLAMA_DRAFT = "meta-llama/Llama-3.1-8B-Instruct", "meta-llama/Llama-3.2-1B-Instruct"
OTHER, OTHER_DRAFT = "Qwen/Qwen2.5-7B-Instruct", "Qwen/Qwen2.5-1.5B-Instruct"
MIMO = "XiaomiMiMo/MiMo-7B-Base"


def spec(target: str, method: str, k: int, draft: str | None = None, **more: Any) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "target.model": target,
        "speculation.method": method,
        "speculation.num_draft_tokens": k,
        **{name.replace("__", "."): value for name, value in more.items()},
    }
    return fields | ({"speculation.draft.model": draft} if draft else {})


def errors(judgement: Judgement) -> list[str]:
    return [f"{f.code} {f.message}" for f in judgement.errors]


@pytest.mark.parametrize(
    ("fields", "release", "expected"),
    [
        (
            spec(QWEN, "draft_model", 5, QWEN_DRAFT),
            "0.33.0",
            [
                "vllm",
                "serve",
                QWEN,
                "--speculative-config",
                '{"method":"draft_model","model":"Qwen/Qwen3-0.6B","num_speculative_tokens":5}',
            ],
        ),
        (
            spec(LLAMA, "draft_model", 4, LLAMA_DRAFT),
            "0.8.1",
            ["vllm", "serve", LLAMA, "--speculative-model", LLAMA_DRAFT, "--num-speculative-tokens", "4"],
        ),
        (
            spec(LLAMA, "draft_model", 4, LLAMA_DRAFT),
            "0.8.2",
            ["vllm", "serve", LLAMA, "--speculative-model", LLAMA_DRAFT, "--num-speculative-tokens", "4"],
        ),
        (
            spec(LLAMA, "draft_model", 4, LLAMA_DRAFT, serving__seed=7),
            "0.5.1",
            [
                "python",
                "-m",
                "vllm.entrypoints.openai.api_server",
                "--model",
                LLAMA,
                "--seed",
                "7",
                "--speculative-model",
                LLAMA_DRAFT,
                "--use-v2-block-manager",
                "--num-speculative-tokens",
                "4",
            ],
        ),
        (
            spec(MIMO, "mtp", 1, target__trust_remote_code=True, serving__tensor_parallel_size=1),
            "0.33.0",
            [
                "vllm",
                "serve",
                MIMO,
                "--trust-remote-code",
                "--tensor-parallel-size",
                "1",
                "--speculative-config",
                '{"method":"mtp","num_speculative_tokens":1}',
            ],
        ),
        (
            spec(MIMO, "mtp", 1, target__trust_remote_code=True, serving__tensor_parallel_size=1),
            "0.10.2",
            [
                "vllm",
                "serve",
                MIMO,
                "--trust-remote-code",
                "--tensor-parallel-size",
                "1",
                "--speculative-config",
                '{"method":"deepseek_mtp","num_speculative_tokens":1}',
            ],
        ),
        (
            spec(QWEN, "ngram", 3, speculation__ngram__max=4, serving__overlap_schedule=False),
            "0.20.2",
            [
                "vllm",
                "serve",
                QWEN,
                "--no-async-scheduling",
                "--speculative-config",
                '{"method":"ngram","num_speculative_tokens":3,"prompt_lookup_max":4}',
            ],
        ),
        (
            spec(QWEN, "ngram", 3, speculation__ngram__max=4),
            "0.7.3",
            [
                "vllm",
                "serve",
                QWEN,
                "--speculative-model",
                "[ngram]",
                "--num-speculative-tokens",
                "3",
                "--ngram-prompt-lookup-max",
                "4",
            ],
        ),
    ],
)
def test_accepted(fields: dict[str, Any], release: str, expected: list[str]) -> None:
    of = known(fields["target.model"], fields.get("speculation.draft.model"))
    assert argv(fields, release, of) == expected
    assert errors(judged_spec(fields, release, of)) == []


@pytest.mark.parametrize(
    ("fields", "release", "said", "fix"),
    [
        (
            spec(QWEN, "draft_model", 5, QWEN_DRAFT),
            "0.12.0",
            ["SC201 vLLM 0.12.0 has no draft-model speculation on its V1 engine (0.10.0 to 0.14.1) and stops at start "
             "with a NotImplementedError."],
            "Use vLLM 0.15.0 or newer, or an EAGLE head, MTP or n-gram.",
        ),
        (
            spec(OTHER, "draft_model", 4, OTHER_DRAFT),
            "0.33.0",
            ["SC302 vLLM 0.33.0 needs target and draft model to have one vocabulary size unless "
             "use_heterogeneous_vocab is true, and stops at start: 152064 against 151936."],
            "Use a draft (speculation.draft.model) with the target's vocabulary size, or set use_heterogeneous_vocab to true.",
        ),
        (
            spec(OTHER, "draft_model", 4, OTHER_DRAFT),
            "0.8.1",
            ["SC302 vLLM 0.8.1 needs target and draft to have one vocabulary size, and its worker stops with an "
             "AssertionError: 152064 against 151936."],
            "Use a draft (speculation.draft.model) with the target's vocabulary size.",
        ),
        (
            spec(MIMO, "mtp", 1),
            "0.33.0",
            [f"SC304 vLLM 0.33.0 cannot read the config of {MIMO} without code from its repository, which "
             "--trust-remote-code would allow, and stops at start."],
            "Add --trust-remote-code (target.trust_remote_code), after reading that code.",
        ),
        (
            spec(LLAMA, "mtp", 1),
            "0.33.0",
            [
                f"SC301 {LLAMA} (LlamaForCausalLM) has no MTP layers, so method mtp has nothing to draft with.",
                "SC301 vLLM 0.33.0 knows no MTP draft for LlamaForCausalLM of model type llama and stops at start: "
                "Unsupported speculative method 'mtp'.",
            ],
            "Use a target with MTP layers, or a draft model, an EAGLE head or n-gram.",
        ),
    ],
)  # fmt: skip
def test_refused(fields: dict[str, Any], release: str, said: list[str], fix: str) -> None:
    judgement = judged_spec(fields, release, known(fields["target.model"], fields.get("speculation.draft.model")))
    assert errors(judgement) == said
    assert judgement.errors[0].fix == fix


def test_where_a_method_is_to_be_had() -> None:
    (finding,) = judged_spec(spec(QWEN, "suffix", 8), "0.10.2", known(QWEN)).errors
    assert finding.fix == "Choose another method, or vLLM 0.11.1 or newer."


@pytest.mark.parametrize("release", ["0.33.0", "0.20.2", "0.15.0", "0.9.2", "0.8.1", "0.5.4", "0.4.1"])
def test_a_plain_draft_model_leaves_nothing_unchecked(release: str) -> None:
    judgement = judged_spec(spec(LLAMA, "draft_model", 4, LLAMA_DRAFT), release, known(LLAMA, LLAMA_DRAFT))
    unchecked = {n.constraint for n in judgement.result.not_checked}
    assert unchecked <= {"vllm/architecture"}  # model registries were not read
    assert all(f.severity is not Severity.ERROR for f in judgement.findings)
