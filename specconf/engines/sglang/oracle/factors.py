"""What launches of SGLang differ in: the factors of its covering array, as data.

Levels say which others they go well with, so that most launches are ones that somebody would write. Whether a release takes
them is not written here: it is asked.
"""

from __future__ import annotations

from functools import partial

from specconf.engines.sglang.oracle.wording import STRAY, words
from specconf.oracle.factors import Factor, Factors, Level, flag

_DENSE = ("llama", "qwen2", "qwen3", "mistral", "phi3", "gemma3", "llama-fp8", "llama-awq")
_MTP = ("deepseek-v3", "glm4-moe", "mimo", "qwen3-next", "ernie-moe")
_LORA = ("--enable-lora", "--max-lora-rank", "16", "--lora-target-modules", "all")
_TWO_OR_FOUR = ("tp-size 2", "tensor-parallel-size 4")
_EXPERTS = ("qwen3-moe", "mixtral", "gpt-oss", "deepseek-v2", "deepseek-v3", "glm4-moe", "ernie-moe", "qwen3-next")
_LATENT = ("deepseek-v2", "deepseek-v3")
_PLAIN_TARGETS = (*_DENSE, "qwen3-moe", "mixtral", "gpt-oss", "deepseek-v2")
_EAGLE_TARGETS = ("llama", "qwen2", "qwen3", "qwen3-moe", "gpt-oss", "mistral", "mixtral", "llama-fp8", "llama-awq")
_BLOCK_TARGETS = ("llama", "qwen3", "qwen3-moe", "gpt-oss")
_WITH_NUMBERS = ("EAGLE", "EAGLE3", "NEXTN", "STANDALONE", "eagle", "FROZEN_KV_MTP")
_CHAINS = ("absent", "3/1/4", "1/1/2", "5/1/6", "3/1/-")
_TREES = ("3/4/16", "5/4/8", "2/2/4", "5/8/32")
_ANY_NUMBERS = (*_CHAINS, *_TREES)
_SPECULATES = (
    "EAGLE",
    "EAGLE3",
    "NEXTN",
    "STANDALONE",
    "NGRAM",
    "DFLASH",
    "DSPARK",
    "FROZEN_KV_MTP",
    "UNO",
    "eagle",
    "unknown",
)


# A flag that only a launch that speculates writes.
_of_speculation = partial(flag, needs={"algorithm": _SPECULATES})


def _algorithm(
    word: str, drafts: tuple[str, ...], targets: tuple[str, ...], numbers: tuple[str, ...], weight: int = 5
) -> Level:
    return Level(
        word,
        argv=("--speculative-algorithm", word),
        weight=weight,
        suits={"draft": drafts, "target": targets, "numbers": numbers},
        listed={"algorithm_words": word.upper()},
    )


def _numbers(steps: str, topk: str, tokens: str, *, weight: int = 1, odd: bool = False) -> Level:
    """The three numbers, `-` for one that is not written."""
    names = ("--speculative-num-steps", "--speculative-eagle-topk", "--speculative-num-draft-tokens")
    argv = [
        word for name, value in zip(names, (steps, topk, tokens), strict=True) if value != "-" for word in (name, value)
    ]
    needs = {"algorithm": _SPECULATES}
    return Level(f"{steps}/{topk}/{tokens}", argv=tuple(argv), weight=weight, odd=odd, needs=needs)


_ABSENT = Level("absent", weight=8)
_RARELY = Level("absent", weight=12)

ALGORITHM = Factor(
    "algorithm",
    (
        Level("none", weight=3, needs={"draft": ("absent",), "numbers": ("absent",), "speculation": ("absent",)}),
        _algorithm("EAGLE", ("eagle", "eagle-class", "absent"), (*_EAGLE_TARGETS, *_MTP), _ANY_NUMBERS, weight=8),
        _algorithm("EAGLE3", ("eagle3", "eagle3-short"), _EAGLE_TARGETS, _ANY_NUMBERS, weight=8),
        _algorithm("NEXTN", ("absent", "itself"), _MTP, _CHAINS),
        _algorithm("STANDALONE", ("same", "longer", "shorter", "fp8"), _PLAIN_TARGETS, _ANY_NUMBERS, weight=6),
        _algorithm("NGRAM", ("absent",), (*_PLAIN_TARGETS, *_MTP), ("absent", "-/-/8"), weight=6),
        _algorithm("DFLASH", ("dflash",), _BLOCK_TARGETS, ("absent", "-/-/8"), weight=4),
        _algorithm("DSPARK", ("dspark",), _BLOCK_TARGETS, ("absent", "-/-/8"), weight=4),
        _algorithm("FROZEN_KV_MTP", ("absent", "same"), ("gemma3",), _CHAINS, weight=1),
        _algorithm("UNO", ("absent",), _PLAIN_TARGETS, _ANY_NUMBERS, weight=1),
        _algorithm("eagle", ("eagle",), _EAGLE_TARGETS, _ANY_NUMBERS, weight=1),
        Level("unknown", argv=("--speculative-algorithm", "MEDUSA"), odd=True),
    ),
)

NUMBERS = Factor(
    "numbers",
    (
        Level("absent", weight=6),
        _numbers("3", "1", "4", weight=6),
        _numbers("1", "1", "2", weight=2),
        _numbers("5", "1", "6", weight=2),
        _numbers("3", "1", "-"),
        _numbers("3", "4", "16", weight=2),
        _numbers("5", "4", "8", weight=2),
        _numbers("2", "2", "4"),
        _numbers("5", "8", "32", weight=2),
        _numbers("-", "-", "8", weight=1),
        _numbers("3", "1", "8", odd=True),
        _numbers("3", "-", "-", odd=True),
        _numbers("-", "4", "-", odd=True),
        _numbers("3", "4", "-", odd=True),
        _numbers("-", "1", "4", odd=True),
        _numbers("0", "1", "1", odd=True),
        _numbers("2", "2", "64", odd=True),
        _numbers("3", "4", "2", odd=True),
        _numbers("three", "1", "4", odd=True),
    ),
)

DRAFT = Factor(
    "draft",
    (
        _ABSENT,
        Level("same", draft="same"),
        Level("longer", draft="longer", weight=1),
        Level("shorter", draft="shorter", weight=1),
        Level("fp8", draft="fp8", weight=1),
        Level("other vocabulary", draft="other-vocabulary", needs={"algorithm": _SPECULATES}, odd=True),
        Level("eagle", draft="eagle", weight=1),
        Level("eagle-class", draft="eagle-class"),
        Level("eagle3", draft="eagle3"),
        Level("eagle3-short", draft="eagle3-short", weight=1),
        Level("itself", argv=("--speculative-draft-model-path", "{target}"), suits={"target": _MTP}),
        Level("dflash", draft="dflash", listed={"algorithm_words": "DFLASH"}),
        Level("dspark", draft="dspark", listed={"algorithm_words": "DSPARK"}),
    ),
)

TARGET = Factor(
    "target",
    tuple(
        Level(name, target=name, weight=4 if name in ("llama", "qwen3") else 2 if name in (*_MTP, "gpt-oss") else 1)
        for name in (*_PLAIN_TARGETS, *_MTP)
    ),
)
SPELLING = Factor(
    "spelling", (Level("module", weight=6), Level("command", weight=2, scope="sglang.serve"), Level("joined", weight=2))
)
TENSOR_PARALLEL = Factor(
    "tensor parallel",
    (
        _ABSENT,
        flag("--tp-size", "2", weight=3),
        flag("--tensor-parallel-size", "4"),
        flag("--tp-size", "8", target=("deepseek-v3", "glm4-moe", "qwen3-moe")),
        flag("--tp-size", "3", odd=True),
    ),
)
PIPELINE_PARALLEL = Factor("pipeline parallel", (_RARELY, flag("--pp-size", "2", algorithm=("none",))))
DATA_PARALLEL = Factor(
    "data parallel",
    (
        _RARELY,
        flag("--dp-size", "2"),
        flag(
            "--dp-size",
            "2",
            "--enable-dp-attention",
            label="dp attention",
            target=_EXPERTS,
            tensor_parallel=_TWO_OR_FOUR,
        ),
        flag("--attn-dp-size", "2", target=_EXPERTS, tensor_parallel=_TWO_OR_FOUR),
        flag("--enable-dp-attention", odd=True),
        flag("--dp-size", "3", "--enable-dp-attention", label="dp attention 3", odd=True),
    ),
)
EXPERT_PARALLEL = Factor(
    "expert parallel",
    (
        _RARELY,
        flag("--ep-size", "2", target=_EXPERTS, tensor_parallel=("tp-size 2",)),
        flag("--ep-size", "4", target=_EXPERTS, tensor_parallel=("tensor-parallel-size 4",)),
        flag("--enable-ep-moe", target=_EXPERTS),
        flag("--moe-a2a-backend", "deepep", target=("deepseek-v3", "qwen3-moe"), tensor_parallel=("tp-size 8",)),
        flag("--moe-runner-backend", "triton", target=_EXPERTS),
        flag("--moe-runner-backend", "flashinfer_trtllm", target=_EXPERTS, gpu=("B200",)),
    ),
)
BACKEND = Factor(
    "attention backend",
    (
        _ABSENT,
        flag("--attention-backend", "fa3", weight=2, gpu=("H100", "H200")),
        flag("--attention-backend", "flashinfer", weight=2),
        flag("--attention-backend", "triton", weight=2),
        flag("--attention-backend", "torch_native", algorithm=("none",)),
        flag("--attention-backend", "flashmla", target=_LATENT, page_size=("absent", "page-size 64")),
        flag("--attention-backend", "cutlass_mla", target=_LATENT, gpu=("B200",)),
        flag("--attention-backend", "trtllm_mla", target=_LATENT, gpu=("B200",)),
        flag("--attention-backend", "trtllm_mha", gpu=("B200",), numbers=_CHAINS),
        flag("--attention-backend", "fa4", gpu=("B200", "H100")),
        flag("--attention-backend", "no_such", odd=True),
    ),
)
PART_BACKEND = Factor(
    "backend of a part",
    (
        _RARELY,
        flag("--prefill-attention-backend", "fa3", gpu=("H100", "H200")),
        flag("--prefill-attention-backend", "flashinfer", "--decode-attention-backend", "triton", label="both"),
        flag("--decode-attention-backend", "flashinfer"),
        flag("--sampling-backend", "pytorch"),
    ),
)
PAGE_SIZE = Factor(
    "page size",
    (
        Level("absent", weight=10),
        flag("--page-size", "1"),
        flag("--page-size", "64", numbers=_CHAINS),
        flag("--page-size", "16", numbers=_CHAINS),
    ),
)
OVERLAP = Factor(
    "overlap",
    (
        _ABSENT,
        flag("--disable-overlap-schedule", weight=2),
        Level("spec v2", env={"SGLANG_ENABLE_SPEC_V2": "1"}, weight=2, suits={"numbers": _CHAINS}),
        Level("no spec v2", env={"SGLANG_ENABLE_SPEC_V2": "0"}, weight=1),
    ),
)
PREFILL = Factor(
    "prefill",
    (
        _ABSENT,
        flag("--chunked-prefill-size", "4096", weight=2),
        flag("--chunked-prefill-size", "-1"),
        flag("--enable-mixed-chunk", weight=2),
        flag("--chunked-prefill-size", "100", page_size=("absent", "page-size 1")),
        flag("--config", "{file}", label="option file"),
    ),
)
BATCH = Factor(
    "batch",
    (
        _ABSENT,
        flag("--max-running-requests", "64", weight=3),
        flag("--max-running-requests", "1"),
        flag("--max-running-requests", "0", odd=True),
    ),
)
MEMORY = Factor(
    "memory",
    (
        _ABSENT,
        flag("--mem-fraction-static", "0.85", weight=3),
        flag("--mem-fraction-static", "0.5"),
        flag("--context-length", "2048"),
        flag("--kv-cache-dtype", "fp8_e5m2"),
        flag("--kv-cache-dtype", "fp8_e4m3"),
        flag("--quantization", "fp8", target=("llama", "qwen3", "qwen3-moe")),
        flag("--mem-fraction-static", "1.2", odd=True),
    ),
)
GRAPHS = Factor(
    "graphs",
    (
        _ABSENT,
        flag("--disable-cuda-graph", weight=2),
        flag("--cuda-graph-max-bs", "32", weight=2),
        flag("--cuda-graph-max-bs-decode", "32", weight=2),
        flag("--cuda-graph-bs", "1", "2", "4"),
        flag("--cuda-graph-bs-decode", "1", "2", "4"),
        flag("--disable-piecewise-cuda-graph"),
        flag("--cuda-graph-backend-decode", "disabled"),
    ),
)
FEATURE = Factor(
    "feature",
    (
        _RARELY,
        flag("--disable-radix-cache", weight=2),
        flag(
            "--enable-lora",
            "--max-lora-rank",
            "16",
            "--lora-target-modules",
            "all",
            label="lora",
            target=("llama", "qwen3"),
        ),
        flag("--enable-deterministic-inference", target=("llama", "qwen3", "deepseek-v3")),
        flag("--disaggregation-mode", "prefill"),
        flag("--disaggregation-mode", "decode"),
        flag("--enable-hierarchical-cache"),
        flag("--grammar-backend", "xgrammar"),
        flag("--enable-two-batch-overlap", target=_EXPERTS),
        flag("--enable-return-hidden-states"),
        flag("--mamba-scheduler-strategy", "extra_buffer", target=("qwen3-next",)),
        flag("--mamba-radix-cache-strategy", "extra_buffer", target=("qwen3-next",)),
    ),
)
SPECULATION = Factor(
    "speculation",
    (
        Level("absent", weight=8),
        _of_speculation("--speculative-attention-mode", "decode", algorithm=_WITH_NUMBERS),
        _of_speculation("--speculative-attention-mode", "no_such", odd=True),
        _of_speculation("--speculative-draft-attention-backend", "triton", algorithm=_WITH_NUMBERS),
        _of_speculation("--speculative-draft-attention-backend", "flashinfer", algorithm=_WITH_NUMBERS),
        _of_speculation("--speculative-moe-runner-backend", "triton", target=_EXPERTS),
        _of_speculation("--speculative-accept-threshold-single", "0.9", algorithm=_WITH_NUMBERS),
        _of_speculation("--speculative-accept-threshold-single", "1.5", odd=True),
        _of_speculation("--speculative-accept-threshold-acc", "0.8", algorithm=_WITH_NUMBERS),
        _of_speculation("--speculative-adaptive", algorithm=("EAGLE", "EAGLE3"), numbers=("3/1/4", "5/1/6", "absent")),
        _of_speculation("--speculative-use-rejection-sampling", algorithm=_WITH_NUMBERS, numbers=_CHAINS),
        _of_speculation("--speculative-use-block-verification", algorithm=_WITH_NUMBERS, numbers=_CHAINS),
        _of_speculation("--speculative-token-map", "tokens.pt", algorithm=("EAGLE",)),
        _of_speculation("--speculative-draft-window-size", "128", algorithm=("EAGLE3", "DFLASH")),
        _of_speculation("--speculative-draft-model-quantization", "fp8", draft=("same", "eagle", "eagle3", "dflash")),
        _of_speculation("--speculative-draft-model-quantization", "unquant", draft=("same", "eagle", "eagle3")),
        _of_speculation("--speculative-draft-kv-cache-dtype", "fp8_e4m3", algorithm=_WITH_NUMBERS),
        _of_speculation("--speculative-ngram-max-match-window-size", "8", algorithm=("NGRAM",)),
        _of_speculation("--speculative-ngram-min-match-window-size", "9", odd=True),
        _of_speculation("--speculative-ngram-max-trie-depth", "12", algorithm=("NGRAM",)),
        _of_speculation("--speculative-ngram-max-bfs-breadth", "4", algorithm=("NGRAM",)),
        _of_speculation("--speculative-ngram-match-type", "PROB", algorithm=("NGRAM",)),
        _of_speculation("--speculative-dflash-block-size", "8", algorithm=("DFLASH",), numbers=("absent",)),
        _of_speculation("--speculative-dflash-block-size", "4", odd=True),
        _of_speculation("--speculative-dspark-block-size", "4", algorithm=("DSPARK",), numbers=("absent",)),
        _of_speculation("--enable-multi-layer-eagle", target=_MTP),
    ),
)
GPU = Factor(
    "gpu",
    (
        Level("H100", gpu="H100", weight=8),
        Level("H200", gpu="H200", weight=1),
        Level("B200", gpu="B200", weight=2),
        Level("A100", gpu="A100", weight=1),
    ),
)

FACTORS = Factors(
    engine="sglang",
    factors=(
        ALGORITHM,
        DRAFT,
        TARGET,
        NUMBERS,
        GPU,
        SPELLING,
        SPECULATION,
        TENSOR_PARALLEL,
        PIPELINE_PARALLEL,
        DATA_PARALLEL,
        EXPERT_PARALLEL,
        BACKEND,
        PART_BACKEND,
        PAGE_SIZE,
        OVERLAP,
        PREFILL,
        BATCH,
        MEMORY,
        GRAPHS,
        FEATURE,
    ),
    cli="sglang.cli",
    members="",
    words=words,
    stray=STRAY,
)
