"""What launches of vLLM differ in: the factors of its covering array, as data.

Levels say which others they go well with, so that most launches are ones that somebody would write. Whether a release takes
them is not written here: it is asked.
"""

from __future__ import annotations

from collections.abc import Mapping

from specconf.engines.vllm.oracle.wording import STRAY, words
from specconf.oracle.factors import Factor, Factors, Level, flag
from specconf.words import JsonValue

_DENSE = (
    "llama",
    "qwen2",
    "qwen3",
    "mistral",
    "phi3",
    "granite",
    "opt",
    "gemma3",
    "gemma3-vision",
    "llama-fp8",
    "llama-awq",
)
_MTP = ("deepseek-v3", "glm4-moe", "mimo", "qwen3-next", "ernie-moe")
_EXPERTS = ("qwen3-moe", "mixtral", "gpt-oss", "deepseek-v2", "deepseek-v3", "glm4-moe", "ernie-moe", "qwen3-next")
_EAGLE3 = ("llama", "qwen2", "qwen3", "qwen3-moe", "gpt-oss", "mistral", "llama-fp8", "llama-awq", "deepseek-v3")
_PLAIN_DRAFTS = ("same", "longer", "shorter")
_PLAIN_TARGETS = (*_DENSE, "qwen3-moe", "mixtral", "gpt-oss", "deepseek-v2")
_BY_TEXT = ("ngram", "ngram_gpu")
_SPECULATES = (
    "ngram",
    "ngram_gpu",
    "draft_model",
    "eagle",
    "eagle3",
    "mtp",
    "family_mtp",
    "suffix",
    "medusa",
    "mlp_speculator",
    "dflash",
    "dspark",
    "omitted",
    "extract_hidden_states",
    "unknown",
)
_HEADS = ("eagle", "eagle3", "mtp", "family_mtp", "omitted")
_WITH_MODEL = ("draft_model", *_HEADS, "medusa", "dflash", "dspark")


def _key(name: str, value: JsonValue, *methods: str, weight: int = 1, odd: bool = False, label: str = "") -> Level:
    """A member of the speculative config, with the methods it is for."""
    suits = {"method": methods} if methods else {}
    needs = {"method": _SPECULATES}
    return Level(label or f"{name}={value}", keys={name: value}, weight=weight, odd=odd, suits=suits, needs=needs)


def _method(
    word: str, *, drafts: tuple[str, ...], weight: int = 4, targets: tuple[str, ...] = (), sound_since: str = ""
) -> Level:
    suits: Mapping[str, tuple[str, ...]] = {"draft": drafts, **({"target": targets} if targets else {})}
    return Level(word, keys={"method": word}, weight=weight, suits=suits, sound_since=sound_since)


def _refused(word: str, draft: str) -> Level:
    """A method that a release knows by name and hardly ever takes."""
    return Level(word, keys={"method": word}, odd=True, suits={"draft": (draft,)}, listed={"method_words": word})


_ABSENT = Level("absent", weight=8)

METHOD = Factor(
    "method",
    (
        Level(
            "none",
            weight=3,
            needs={
                "draft": ("absent",),
                "k": ("absent",),
                "lookup": ("absent",),
                "draft settings": ("absent",),
                "verification": ("absent",),
                "spelling": ("json",),
            },
        ),
        _method("ngram", drafts=("absent",)),
        _method("ngram_gpu", drafts=("absent",), weight=2),
        _method(
            "draft_model",
            drafts=("same", "longer", "shorter", "fp8"),
            weight=6,
            targets=_PLAIN_TARGETS,
            sound_since="0.15.0",
        ),
        _method("eagle", drafts=("eagle", "eagle-named"), weight=6),
        _method("eagle3", drafts=("eagle3", "eagle3-short", "speculators"), weight=6, targets=_EAGLE3),
        _method("mtp", drafts=("absent", "itself"), weight=6, targets=_MTP),
        Level(
            "family_mtp",
            keys={"method": "{drawn}"},
            draws=r".*_mtp",
            weight=3,
            suits={"draft": ("absent", "itself"), "target": _MTP},
        ),
        # Hardly any environment has the package that the engine asks for first.
        _refused("suffix", "absent"),
        _method("medusa", drafts=("medusa",), weight=1),
        _refused("mlp_speculator", "mlp-speculator"),
        _method("dflash", drafts=("dflash",), weight=3, targets=("llama", "qwen3", "qwen3-moe", "gpt-oss")),
        _method("dspark", drafts=("dspark",), weight=1, targets=("llama", "qwen3", "qwen3-moe", "gpt-oss")),
        _method("extract_hidden_states", drafts=("absent",), weight=1),
        Level(
            "omitted",
            weight=3,
            suits={"draft": ("same", "eagle-named", "eagle3", "speculators", "medusa", "mlp-speculator", "itself")},
        ),
        Level("unknown", keys={"method": "lookahead"}, odd=True),
    ),
)

K = Factor(
    "k",
    (
        Level("absent", weight=1, suits={"method": ("none", "suffix")}),
        _key("num_speculative_tokens", 3, weight=8),
        _key("num_speculative_tokens", 1, weight=4),
        _key("num_speculative_tokens", 8, weight=3),
        _key("num_speculative_tokens", "4", weight=1, label="a text"),
        _key("num_speculative_tokens", 0, odd=True),
        _key("num_speculative_tokens", -1, odd=True),
        _key("num_speculative_tokens", "many", odd=True),
    ),
)

DRAFT = Factor(
    "draft",
    (
        _ABSENT,
        Level("same", draft="same"),
        Level("longer", draft="longer"),
        Level("shorter", draft="shorter"),
        Level("fp8", draft="fp8", weight=1),
        Level("other vocabulary", draft="other-vocabulary", suits={"method": ("ngram",)}),
        Level("eagle", draft="eagle"),
        Level("eagle-class", draft="eagle-class", weight=1, odd=True),
        Level("eagle-named", draft="eagle", folder="models/eagle-head", weight=1),
        Level("eagle3", draft="eagle3"),
        Level("eagle3-short", draft="eagle3-short", weight=1),
        Level("speculators", draft="speculators-eagle3"),
        Level("itself", keys={"model": "{target}"}, suits={"target": _MTP}),
        Level("medusa", draft="medusa", weight=1, listed={"method_words": "medusa"}),
        Level("mlp-speculator", draft="mlp-speculator", weight=1, listed={"method_words": "mlp_speculator"}),
        Level("dflash", draft="dflash", listed={"method_words": "dflash"}),
        Level("dspark", draft="dspark", weight=1, listed={"method_words": "dspark"}),
        Level("llama draft of another family", draft="llama", suits={"target": ("opt", "gemma3")}, odd=True),
    ),
)

TARGET = Factor(
    "target",
    tuple(
        Level(
            name,
            target=name,
            sound_since="0.11.0" if name == "qwen3-next" else "",
            weight=4 if name in ("llama", "qwen3") else 2 if name in (*_MTP, *_EAGLE3) else 1,
        )
        for name in (*_PLAIN_TARGETS, *_MTP)
    ),
)

SPELLING = Factor(
    "spelling",
    (
        Level("json", weight=6),
        Level("dotted", weight=2),
        Level("flags", argv=("--spec-method", "ngram", "--spec-model", "m", "--spec-tokens", "3"), weight=2),
        Level("file with a text", argv=("--config", "options.yaml"), weight=1),
        Level("file with a mapping", argv=("--config", "options.yaml"), weight=1, listed={"behaviours": "yaml_nested"}),
        Level("module", weight=2),
    ),
)

TENSOR_PARALLEL = Factor(
    "tensor parallel",
    (
        _ABSENT,
        flag("--tensor-parallel-size", "2", weight=3),
        flag("-tp", "4", weight=1),
        flag("--tensor-parallel-size", "3", odd=True),
    ),
)
PIPELINE_PARALLEL = Factor(
    "pipeline parallel",
    (
        Level("absent", weight=9),
        flag("--pipeline-parallel-size", "2", weight=1, method=("none", "ngram", "draft_model")),
    ),
)
DATA_PARALLEL = Factor("data parallel", (Level("absent", weight=9), flag("--data-parallel-size", "2")))
EXPERT_PARALLEL = Factor(
    "expert parallel", (Level("absent", weight=5), flag("--enable-expert-parallel", target=_EXPERTS))
)
FEATURE = Factor(
    "feature",
    (
        Level("absent", weight=9),
        flag("--enable-lora", target=("llama", "qwen2", "qwen3", "mistral")),
        flag("--limit-mm-per-prompt", '{"image": 0}', target=("gemma3-vision",)),
        flag("--language-model-only", target=("gemma3-vision",)),
        flag("--structured-outputs-config", '{"backend": "xgrammar"}'),
        flag("--structured-outputs-config", '{"backend": "guidance", "disable_any_whitespace": true}'),
        flag("--guided-decoding-backend", "xgrammar"),
        flag("--enable-auto-tool-choice", "--tool-call-parser", "hermes"),
        flag("--max-logprobs", "5"),
    ),
)
PREFIX_CACHING = Factor(
    "prefix caching", (_ABSENT, flag("--enable-prefix-caching"), flag("--no-enable-prefix-caching", weight=2))
)
CHUNKED_PREFILL = Factor(
    "chunked prefill",
    (_ABSENT, flag("--enable-chunked-prefill", weight=2), flag("--no-enable-chunked-prefill")),
)
ASYNC_SCHEDULING = Factor(
    "async scheduling",
    (
        _ABSENT,
        flag("--async-scheduling", weight=2, sound_since="0.12.0", method=("none", *_HEADS)),
        flag("--no-async-scheduling", weight=2),
    ),
)
GRAPHS = Factor(
    "graphs",
    (
        _ABSENT,
        flag("--enforce-eager", weight=3),
        flag("-O1"),
        flag("--compilation-config", '{"cudagraph_mode": "PIECEWISE"}'),
        flag("--cudagraph-capture-sizes", "1", "2", "4", "8"),
    ),
)
SEQUENCES = Factor(
    "sequences",
    (
        _ABSENT,
        flag("--max-num-seqs", "64", weight=3),
        flag("--max-num-seqs", "1"),
        flag("--max-num-seqs", "1024", batched_tokens=("absent", "max-num-batched-tokens 8192")),
        flag("--max-num-seqs", "0", odd=True),
    ),
)
BATCHED_TOKENS = Factor(
    "batched tokens",
    (
        _ABSENT,
        flag("--max-num-batched-tokens", "8192", weight=3),
        flag("--max-num-batched-tokens", "2k", chunked_prefill=("absent", "enable-chunked-prefill")),
        flag("--max-num-batched-tokens", "512", chunked_prefill=("absent", "enable-chunked-prefill")),
        flag("--max-num-batched-tokens", "16", odd=True),
    ),
)
CONTEXT = Factor(
    "context",
    (
        _ABSENT,
        flag("--max-model-len", "1024", weight=3),
        flag("--max-model-len", "4k"),
        flag("--max-model-len", "16384", odd=True),
    ),
)
KV_CACHE = Factor(
    "kv cache",
    (
        Level("absent", weight=12),
        flag("--kv-cache-dtype", "auto"),
        flag("--kv-cache-dtype", "bfloat16"),
        flag("--kv-cache-dtype", "fp8", sound_since="0.22.0"),
        flag("--block-size", "32", sound_since="0.11.0"),
        flag("--kv-cache-dtype", "int3", odd=True),
    ),
)
BACKEND = Factor(
    "attention backend",
    (
        Level("absent", weight=12),
        flag("--attention-backend", "CPU_ATTN"),
        flag("--attention-backend", "FLASH_ATTN"),
        flag("--attention-backend", "triton_attn"),
        Level("env", env={"VLLM_ATTENTION_BACKEND": "TORCH_SDPA"}, weight=1),
        flag("--attention-backend", "NO_SUCH", odd=True),
    ),
)
LOOKUP = Factor(
    "lookup",
    (
        Level("absent", weight=8),
        Level("2-4", keys={"prompt_lookup_min": 2, "prompt_lookup_max": 4}, weight=4, suits={"method": _BY_TEXT}),
        _key("prompt_lookup_max", 5, *_BY_TEXT),
        _key("prompt_lookup_min", 3, *_BY_TEXT),
        Level("4-2", keys={"prompt_lookup_min": 4, "prompt_lookup_max": 2}, needs={"method": _BY_TEXT}, odd=True),
        Level("0", keys={"prompt_lookup_max": 0}, needs={"method": _BY_TEXT}, odd=True),
        _key("suffix_decoding_max_tree_depth", 12, "suffix", label="suffix_depth"),
        _key("suffix_decoding_max_spec_factor", 1.5, "suffix", label="suffix_factor"),
        _key("suffix_decoding_min_token_prob", 1.5, "suffix", label="suffix_prob"),
    ),
)
DRAFT_SETTINGS = Factor(
    "draft settings",
    (
        Level("absent", weight=8),
        Level(
            "draft 1",
            keys={"draft_tensor_parallel_size": 1},
            weight=1,
            needs={"method": _SPECULATES},
            suits={"method": _HEADS},
        ),
        Level(
            "draft 2",
            keys={"draft_tensor_parallel_size": 2},
            weight=1,
            needs={"method": _SPECULATES},
            suits={"method": ("draft_model", *_HEADS), "tensor parallel": ("tensor-parallel-size 2",)},
        ),
        _key("draft_tensor_parallel_size", 3, odd=True),
        _key("max_model_len", 512, *_WITH_MODEL),
        _key("max_model_len", 100000, *_WITH_MODEL, odd=True),
        _key("quantization", "fp8", *_WITH_MODEL),
        _key("quantization", "no_such", odd=True),
        _key("enforce_eager", True, *_WITH_MODEL),
        _key("kv_cache_dtype", "fp8", *_WITH_MODEL),
        _key("attention_backend", "FLASH_ATTN", *_WITH_MODEL),
        _key("moe_backend", "triton", *_WITH_MODEL),
        _key("tensor_parallel_size", 2, odd=True),
        _key("revision", "main", *_WITH_MODEL),
    ),
)
VERIFICATION = Factor(
    "verification",
    (
        Level("absent", weight=8),
        _key("disable_by_batch_size", 16),
        _key("parallel_drafting", True, "draft_model", "eagle", "eagle3"),
        _key("rejection_sample_method", "block"),
        _key("rejection_sample_method", "standard"),
        _key("rejection_sample_method", "strict"),
        _key("rejection_sample_method", "probabilistic"),
        Level(
            "synthetic",
            keys={"rejection_sample_method": "synthetic", "synthetic_acceptance_rates": [0.8, 0.6, 0.4]},
            weight=1,
            suits={"k": ("num_speculative_tokens=3",)},
            needs={"method": _SPECULATES},
        ),
        Level(
            "fly",
            keys={"rejection_sample_method": "fly"},
            weight=1,
            suits={"k": ("num_speculative_tokens=3", "num_speculative_tokens=8"), "method": _WITH_MODEL},
            needs={"method": _SPECULATES},
        ),
        _key("draft_sample_method", "probabilistic", *_WITH_MODEL),
        _key("draft_sample_method", "greedy", *_WITH_MODEL),
        _key("use_heterogeneous_vocab", True, "draft_model"),
        _key("num_speculative_tokens_per_batch_size", [[1, 4, 3], [5, 64, 1]]),
        _key("speculative_token_tree", "[(0,), (0, 0), (0, 0, 0)]", "eagle", "eagle3"),
        _key("disable_padded_drafter_batch", True, *_HEADS),
        _key("use_local_argmax_reduction", True, "eagle", "eagle3"),
        _key("disable_logprobs", False),
        _key("enable_adaptive_verification", True, "dspark"),
        _key("rejection_sample_method", "no_such", odd=True),
    ),
)

FACTORS = Factors(
    engine="vllm",
    factors=(
        METHOD,
        DRAFT,
        TARGET,
        K,
        SPELLING,
        LOOKUP,
        DRAFT_SETTINGS,
        VERIFICATION,
        TENSOR_PARALLEL,
        PIPELINE_PARALLEL,
        DATA_PARALLEL,
        EXPERT_PARALLEL,
        FEATURE,
        PREFIX_CACHING,
        CHUNKED_PREFILL,
        ASYNC_SCHEDULING,
        GRAPHS,
        SEQUENCES,
        BATCHED_TOKENS,
        CONTEXT,
        KV_CACHE,
        BACKEND,
    ),
    cli="vllm.cli",
    members="vllm.speculative_config",
    words=words,
    stray=STRAY,
)
