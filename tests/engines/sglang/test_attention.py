"""The attention backend, the page size and the draft's backend that SGLang ends up with where they are not written."""

from __future__ import annotations

from typing import Any

import pytest

from specconf.compat.database import Database
from specconf.engines.sglang import ENGINE
from specconf.facts import Known, OneOf
from specconf.rules.judge import Judgement, judge_settings
from tests.engines.sglang.support import PROGRAM, launch, models_of

LLAMA = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "num_hidden_layers": 2}
PHI = {"architectures": ["PhiForCausalLM"], "model_type": "phi", "num_hidden_layers": 2}
DEEPSEEK = {"architectures": ["DeepseekV3ForCausalLM"], "model_type": "deepseek_v3", "kv_lora_rank": 64}
SPARSE = {**DEEPSEEK, "architectures": ["DeepseekV32ForCausalLM"], "index_topk": 64}
HYBRID = {"architectures": ["Qwen3NextForCausalLM"], "model_type": "qwen3_next"}
DFLASH = {"architectures": ["DFlashDraftModel"], "model_type": "qwen3", "block_size": 8}
CHAIN = ["--speculative-algorithm", "EAGLE", "--speculative-draft-model-path", "d", "--speculative-num-steps", "3"]
CHAIN += ["--speculative-eagle-topk", "1", "--speculative-num-draft-tokens", "4"]
TREE = [*CHAIN[:7], "4", "--speculative-num-draft-tokens", "8"]
DRAFT_BACKEND = "speculative_draft_attention_backend"


def _judged(database: Database, release: str, target: Any, words: list[str], plain: dict[str, Any]) -> Judgement:
    view = database.at(release)
    settings = ENGINE.resolve(launch(*PROGRAM, "--model-path", "t", *words), view)
    return judge_settings(settings, ENGINE, view, models_of(target, DFLASH), plain=plain)


def _value(judgement: Judgement, path: str) -> Any:
    found = judgement.result.effective[path].value
    return set(found.values) if isinstance(found, OneOf) else found.value if isinstance(found, Known) else found


@pytest.mark.parametrize(
    ("release", "gpu", "target", "words", "backend", "page"),
    [
        ("0.5.23", "H100", LLAMA, CHAIN, "fa3", 1),
        ("0.5.23", "B200", LLAMA, CHAIN, "trtllm_mha", 64),
        ("0.5.23", "B200", LLAMA, TREE, "flashinfer", 1),
        ("0.5.23", "RTX 5090", LLAMA, CHAIN, "flashinfer", 1),
        ("0.5.23", "A100", DEEPSEEK, CHAIN, "triton", 1),
        ("0.5.23", "B200", DEEPSEEK, CHAIN, "trtllm_mla", 64),
        ("0.5.23", "H100", SPARSE, CHAIN, "dsa", 64),
        ("0.5.10", "H100", SPARSE, CHAIN, "nsa", 64),
        ("0.5.23", "B200", HYBRID, CHAIN, "trtllm_mha", 64),
        ("0.5.23", "B200", HYBRID, TREE, "triton", 1),
        ("0.5.7", "H100", LLAMA, CHAIN, "fa3", 1),
        ("0.5.7", "H100", PHI, CHAIN, "flashinfer", 1),  # not on that release's list for FlashAttention 3
        ("0.5.8", "H100", PHI, CHAIN, "fa3", 1),
        ("0.5.8", "H100", LLAMA, [*CHAIN, "--page-size", "16"], "flashinfer", 16),
        ("0.5.6.post1", "RTX 5090", LLAMA, CHAIN, "trtllm_mha", 64),
    ],
)
def test_what_a_launch_ends_up_with(
    database: Database, release: str, gpu: str, target: Any, words: list[str], backend: str, page: int
) -> None:
    judgement = _judged(database, release, target, words, {"hardware.gpu": gpu})
    assert (_value(judgement, "attention_backend"), _value(judgement, "page_size")) == (backend, page)


def test_a_tree_decides_the_backend_on_every_cuda_gpu(database: Database) -> None:
    assert _value(_judged(database, "0.5.23", LLAMA, TREE, {}), "attention_backend") == "flashinfer"


def test_without_a_gpu_a_chain_leaves_the_backends_of_all_of_them(database: Database) -> None:
    found = _value(_judged(database, "0.5.23", LLAMA, CHAIN, {}), "attention_backend")
    assert found == {"fa3", "trtllm_mha", "flashinfer"}


def test_what_is_written_stays(database: Database) -> None:
    judgement = _judged(database, "0.5.23", LLAMA, [*CHAIN, "--attention-backend", "triton"], {"hardware.gpu": "B200"})
    assert judgement.result.effective["attention_backend"].origin == "written"


@pytest.mark.parametrize(
    ("platform", "words", "backend"),
    [
        ("cuda", [], "fa3"),
        ("cuda", ["--attention-backend", "torch_native"], "flashinfer"),
        ("rocm", ["--attention-backend", "torch_native"], "triton"),
    ],
)
def test_what_a_dflash_draft_runs_on(database: Database, platform: str, words: list[str], backend: str) -> None:
    plain = {"hardware.platform": platform} | ({"hardware.gpu": "H100"} if platform == "cuda" else {})
    start = ["--speculative-algorithm", "DFLASH", "--speculative-draft-model-path", "d"]
    assert _value(_judged(database, "0.5.23", LLAMA, [*start, *words], plain), DRAFT_BACKEND) == backend


def test_a_page_size_that_meets_the_backend_picked_is_judged(database: Database) -> None:
    found = _judged(database, "0.5.5", LLAMA, [*CHAIN, "--page-size", "16"], {"hardware.gpu": "H100"}).findings
    assert not [f for f in found if f.constraint.startswith("sglang/page-topk")]
    ngram = ["--speculative-algorithm", "NGRAM", "--page-size", "16"]
    found = _judged(database, "0.5.10", LLAMA, ngram, {"hardware.gpu": "H100"}).findings
    assert "sglang/ngram-page" in {f.constraint for f in found}
