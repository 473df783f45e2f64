"""Attention backends: whichever of the three options names one, and what prefill and decode together make of it."""

from __future__ import annotations

import pytest

from specconf.compat.database import Database
from specconf.engines.sglang import ENGINE
from specconf.rules.judge import Judgement, judge_settings
from specconf.words import Launch, Word, words
from tests.engines.sglang.support import PROGRAM, in_force, models_of, resolve

LLAMA = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "num_hidden_layers": 2, "vocab_size": 64}
EAGLE = LLAMA | {"architectures": ["LlamaForCausalLMEagle"], "num_hidden_layers": 1}
HEAD = ("--model-path", "t", "--speculative-algorithm", "EAGLE", "--speculative-draft-model-path", "d")
CHAIN = ("--speculative-num-steps", "3", "--speculative-eagle-topk", "1", "--speculative-num-draft-tokens", "4")
TREE = ("--speculative-num-steps", "5", "--speculative-eagle-topk", "4", "--speculative-num-draft-tokens", "8")
BOTH, PREFILL, DECODE = "--attention-backend", "--prefill-attention-backend", "--decode-attention-backend"


def judged(database: Database, release: str, *argv: str, gpu: str | None = None) -> Judgement:
    """A launch of an EAGLE head at a release."""
    view = database.at(release)
    plain = {} if gpu is None else {"hardware.gpu": gpu}
    return judge_settings(resolve(view, *HEAD, *argv), ENGINE, view, models_of(LLAMA, EAGLE), plain=plain)


def told(judgement: Judgement) -> set[str]:
    """The ids of what was found, without the engine's name."""
    return {f.constraint.removeprefix("sglang/") for f in judgement.findings if f.constraint}


@pytest.mark.parametrize(
    ("release", "argv", "constraint"),
    [
        ("0.4.10.post1", (BOTH, "trtllm_mla"), "trtllm-mla-no-speculation"),
        ("0.5.0rc1", (BOTH, "trtllm_mla"), "trtllm-mla-no-speculation"),
        ("0.5.0rc1", (DECODE, "trtllm_mla"), "trtllm-mla-decode-no-speculation"),
        ("0.5.0rc2", (BOTH, "fa3", DECODE, "trtllm_mla"), "trtllm-mla-decode-no-speculation"),
        ("0.5.0rc2", (BOTH, "trtllm_mla", DECODE, "trtllm_mla"), "trtllm-mla-no-speculation"),
        ("0.5.0rc2", (PREFILL, "trtllm_mla"), None),
        ("0.5.1", (DECODE, "trtllm_mla"), None),
        *(("0.5.0rc1", (option, "trtllm_mha"), "trtllm-mha-no-speculation") for option in (BOTH, PREFILL, DECODE)),
    ],
)
def test_backends_that_do_not_speculate_yet(
    database: Database, release: str, argv: tuple[str, ...], constraint: str | None
) -> None:
    found = {name for name in told(judged(database, release, *CHAIN, *argv)) if name.endswith("no-speculation")}
    assert found == ({constraint} if constraint else set())


@pytest.mark.parametrize("release", ["0.5.1", "0.5.10", "0.5.14", "0.5.23"])
@pytest.mark.parametrize("option", [BOTH, PREFILL, DECODE])
def test_trtllm_mha_takes_no_tree_wherever_it_is_named(database: Database, release: str, option: str) -> None:
    assert "trtllm-mha-topk" in told(judged(database, release, *TREE, option, "trtllm_mha"))
    assert "trtllm-mha-topk" not in told(judged(database, release, *CHAIN, option, "trtllm_mha"))


def test_one_backend_for_prefill_and_decode_is_the_attention_backend(database: Database) -> None:
    argv = (*CHAIN, BOTH, "fa3", PREFILL, "flex_attention", DECODE, "flex_attention")
    before, since = (judged(database, release, *argv) for release in ("0.5.4", "0.5.4.post1"))
    assert in_force(before, "attention_backend") == "fa3"
    assert "flex-attention" not in told(before)
    assert in_force(since, "attention_backend") == "flex_attention"
    assert {"one-backend-for-both", "flex-attention"} <= told(since)


@pytest.mark.parametrize("release", ["0.5.6", "0.5.10", "0.5.13", "0.5.23"])
def test_a_tree_with_pages_looks_at_the_backend_in_force(database: Database, release: str) -> None:
    paged = (*TREE, "--page-size", "64")
    both = judged(database, release, *paged, PREFILL, "torch_native", DECODE, "torch_native")
    assert any(name.startswith("page-topk") for name in told(both))
    good = judged(database, release, *paged, BOTH, "torch_native", PREFILL, "flashinfer", DECODE, "flashinfer")
    assert not any(name.startswith("page-topk") for name in told(good))


def test_words_that_were_not_read_replace_no_written_backend(database: Database) -> None:
    view = database.at("0.5.23")
    known = models_of(LLAMA, EAGLE)
    launch = Launch("sglang", (*words(*PROGRAM, *HEAD, *CHAIN, BOTH, "flex_attention"), Word(None, raw="$EXTRA")))
    assert "flex-attention" in told(judge_settings(ENGINE.resolve(launch, view), ENGINE, view, known))
    launch = Launch("sglang", (*words(*PROGRAM, *HEAD, *CHAIN), Word(None, raw="$EXTRA")))
    assert "flex-attention" not in told(judge_settings(ENGINE.resolve(launch, view), ENGINE, view, known))


@pytest.mark.parametrize(
    ("release", "argv", "gpu", "refused"),
    [
        ("0.5.9", (BOTH, "trtllm_mha"), "H100", True),
        ("0.5.9", (DECODE, "trtllm_mha"), "H100", True),
        ("0.5.9", (DECODE, "trtllm_mha"), "B200", False),
        ("0.5.10", (BOTH, "trtllm_mha"), "H100", True),
        ("0.5.10", (PREFILL, "trtllm_mha"), "H100", True),
        ("0.5.10", (DECODE, "trtllm_mha"), "H100", False),
        ("0.5.10", (BOTH, "trtllm_mha", PREFILL, "fa3"), "H100", False),
        ("0.5.10", (DECODE, "trtllm_mha"), "A100", True),
        ("0.5.18", (BOTH, "trtllm_mha"), "B200", False),
        ("0.5.19", (BOTH, "trtllm_mha"), "H100", False),
        ("0.5.23", (PREFILL, "trtllm_mha"), "A100", True),
        ("0.5.23", (BOTH, "trtllm_mha", PREFILL, "fa3", DECODE, "fa3"), "A100", False),
    ],
)
def test_the_gpu_for_trtllm_mha(
    database: Database, release: str, argv: tuple[str, ...], gpu: str, refused: bool
) -> None:
    found = told(judged(database, release, *CHAIN, *argv, gpu=gpu))
    assert len({name for name in found if name.endswith("-gpu")}) == refused


@pytest.mark.parametrize(
    ("release", "argv", "page"),
    [
        ("0.4.5.post2", (BOTH, "flashmla"), 64),
        ("0.5.10", (DECODE, "flashmla"), 64),
        ("0.5.10", (DECODE, "cutlass_mla"), 128),
        ("0.5.10", (BOTH, "trtllm_mla"), 64),
        ("0.5.10", (BOTH, "trtllm_mla", "--page-size", "32"), 32),
        ("0.5.10", (PREFILL, "trtllm_mla"), 1),
        ("0.5.10", (PREFILL, "trtllm_mha", "--page-size", "128"), 64),
        ("0.5.23", (PREFILL, "trtllm_mha", "--page-size", "128"), 128),
        ("0.5.23", ("--speculative-draft-attention-backend", "trtllm_mha"), 64),
        ("0.5.23", (PREFILL, "hpc_ops"), 64),
    ],
)
def test_the_page_size_that_a_backend_brings(
    database: Database, release: str, argv: tuple[str, ...], page: int
) -> None:
    judgement = judged(database, release, *CHAIN, *argv, gpu="H100")
    assert in_force(judgement, "page_size") == page


def test_a_page_size_that_a_backend_brings_counts_for_trees(database: Database) -> None:
    assert "page-topk-flashinfer-fa3" in told(judged(database, "0.5.10", *TREE, BOTH, "trtllm_mla"))
