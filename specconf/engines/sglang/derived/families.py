"""The attention backend and the page size that a family of targets brings with it, by the kind of GPU.

`None` leaves the choice to the engine's general rule. Which architectures belong to a family, and since when, is the
constraints' business.
"""

from __future__ import annotations

from collections.abc import Mapping

from specconf.engines.sglang.derived.attention import (
    BLACKWELL,
    HOPPER,
    OTHER,
    RTX_BLACKWELL,
    Plain,
    by_gpu,
    kinds,
    plain_backend,
)
from specconf.facts import Derivation, Fact, Facts, Known, Missing, OneOf, either
from specconf.words import JsonValue

_LARGE = {HOPPER: "fa3", BLACKWELL: "trtllm_mha"}
_ANY_CUDA = {HOPPER: "fa3", BLACKWELL: "trtllm_mha", RTX_BLACKWELL: "fa3"}


def cpu_backend(facts: Facts) -> Fact:
    """On a CPU: whether it has the instructions of AMX, no launch says."""
    del facts
    return OneOf(("intel_amx", "torch_native"))


def hybrid_chain_backend(facts: Facts) -> Fact:
    """On B200, a target with recurrent layers: TensorRT-LLM's attention where it is the general choice, else Triton.

    A launch that does not speculate keeps to Triton while the radix cache needs pages of one token.
    """
    rule = Plain(trtllm=frozenset({BLACKWELL}), topk_given=True)
    found, general = kinds(facts), plain_backend(rule, facts)
    if isinstance(found, Missing) or isinstance(general, Missing):
        return found if isinstance(found, Missing) else general
    paged = _may_page(facts)
    return either(
        ("trtllm_mha" if backend == "trtllm_mha" and pages else "triton") if kind == BLACKWELL else None
        for kind in found
        for backend in general.values
        for pages in paged
    )


def _may_page(facts: Facts) -> tuple[bool, ...]:
    word, radix_off = facts.get("option.speculative_algorithm"), facts.get("option.disable_radix_cache")
    strategies = [facts.get(f"option.{name}") for name in ("mamba_radix_cache_strategy", "mamba_scheduler_strategy")]
    if isinstance(word, Known) and word.value is not None:
        return (True,)
    if isinstance(radix_off, Known) and radix_off.value is True:
        return (True,)
    named = {fact.value for fact in strategies if isinstance(fact, Known)}
    if named & {"extra_buffer", "extra_buffer_lazy"}:
        return (True,)
    return (False,) if "no_buffer" in named else (True, False)


def hybrid_page_taken(facts: Facts) -> Fact:
    """The page size that comes with the backend in force on B200: 64 tokens with TensorRT-LLM's, 1 with Triton's."""
    found = facts.get("option.attention_backend")
    if isinstance(found, Missing):
        return found
    return either(64 if backend == "trtllm_mha" else 1 for backend in found.values)


def nemotron_backend(facts: Facts) -> Fact:
    """Nemotron-H on Blackwell: TensorRT-LLM's attention on B200, but Triton with a draft tree or on smaller cards."""
    found, word, topk = (
        kinds(facts),
        facts.get("option.speculative_algorithm"),
        facts.get("option.speculative_eagle_topk"),
    )
    if isinstance(found, Missing) or isinstance(word, Missing) or isinstance(topk, Missing):
        return next(fact for fact in (found, word, topk) if isinstance(fact, Missing))
    return either(
        ("trtllm_mha" if name is None or width in (None, 1) else "triton")
        if kind == BLACKWELL
        else ("triton" if kind == RTX_BLACKWELL and name is not None else None)
        for kind in found
        for name in word.values
        for width in topk.values
    )


def minimax_backend(facts: Facts) -> Fact:
    """MiniMax-M3: on B200, TensorRT-LLM's attention reads an fp8 cache, and FlashAttention 4 any other."""
    found, dtype = kinds(facts), facts.get("option.kv_cache_dtype")
    if isinstance(found, Missing) or isinstance(dtype, Missing):
        return found if isinstance(found, Missing) else dtype
    large = ["trtllm_mha" if kept == "fp8_e4m3" else "fa4" for kept in dtype.values]
    named: dict[str, tuple[JsonValue, ...]] = {HOPPER: ("fa3",), BLACKWELL: tuple(large), "rocm": ("triton",)}
    return either(backend for kind in found for backend in named.get(kind, (None,)))


def sparse_page(facts: Facts) -> Fact:
    """The page of sparse attention: a whole group of pooled index keys."""
    pool = facts.get("target.config.index_kpool")
    if not isinstance(pool, Known):
        return pool
    return Known(64 * (pool.value if isinstance(pool.value, int) and pool.value > 0 else 1))


DERIVATIONS: Mapping[str, Derivation] = {
    "gpt_oss_backend": by_gpu(_LARGE, "triton"),
    "gpt_oss_backend_aiter": by_gpu({**_LARGE, "rocm": "aiter"}, "triton"),
    "gpt_oss_backend_xpu": by_gpu({**_LARGE, "rocm": "aiter", "xpu": "intel_xpu"}, "triton"),
    "llama4_backend_blackwell": by_gpu({BLACKWELL: "trtllm_mha"}, None),
    "llama4_backend": by_gpu({**_LARGE, "rocm": "aiter", "xpu": "intel_xpu"}, "triton"),
    "windowed_backend": by_gpu(_ANY_CUDA | {OTHER: "fa3"}, "triton"),
    "trtllm_mla_on_blackwell": by_gpu({BLACKWELL: "trtllm_mla"}, None),
    "triton_on_blackwell": by_gpu({BLACKWELL: "triton"}, None),
    "flashinfer_on_blackwell": by_gpu({BLACKWELL: "flashinfer"}, None),
    "fa4_on_blackwell": by_gpu({BLACKWELL: "fa4"}, None),
    "trtllm_mha_on_blackwell": by_gpu({BLACKWELL: "trtllm_mha"}, None),
    "trtllm_mha_or_triton": by_gpu({BLACKWELL: "trtllm_mha"}, "triton"),
    "fa4_or_triton": by_gpu({BLACKWELL: "fa4"}, "triton"),
    "fa4_or_triton_hopper_too": by_gpu({BLACKWELL: "fa4", HOPPER: "fa4"}, "triton"),
    "fa4_or_fa3": by_gpu({BLACKWELL: "fa4", RTX_BLACKWELL: "fa4", HOPPER: "fa3"}, None),
    "trtllm_mha_everywhere_new": by_gpu(
        {HOPPER: "trtllm_mha", BLACKWELL: "trtllm_mha", RTX_BLACKWELL: "trtllm_mha"}, None
    ),
    "deterministic_backend": by_gpu({BLACKWELL: "flashinfer", RTX_BLACKWELL: "flashinfer"}, "fa3"),
    "deterministic_backend_latent": by_gpu({BLACKWELL: "triton", RTX_BLACKWELL: "triton"}, "fa3"),
    "minicpm_sparse_backend": by_gpu(
        {BLACKWELL: "minicpm_flashinfer", RTX_BLACKWELL: "minicpm_flashinfer"}, "minicpm_flashattn"
    ),
    "sampling_default": by_gpu(dict.fromkeys((HOPPER, BLACKWELL, RTX_BLACKWELL, OTHER), "flashinfer"), "pytorch"),
    "hybrid_chain_backend": hybrid_chain_backend,
    "hybrid_page_taken": hybrid_page_taken,
    "nemotron_backend": nemotron_backend,
    "minimax_backend_first": by_gpu({HOPPER: "fa3", BLACKWELL: "fa4", "rocm": "triton"}, None),
    "minimax_backend": minimax_backend,
    "cpu_backend": cpu_backend,
    "sparse_page": sparse_page,
}
