"""How large a step is captured as a CUDA graph, in tokens, beside how large decode steps get.

The engine's grid is 1, 2, 4, then every 8th size below 256 and every 16th from there; a limit between two sizes counts as the
smaller one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from specconf.engines.vllm.derived.members import member, whole_number
from specconf.engines.vllm.derived.scheduling import draft_tokens
from specconf.engines.vllm.derived.speculation import CONFIG
from specconf.facts import Derivation, Fact, Facts, Known, Missing

_SCHEDULE = f"asked.{CONFIG}.num_speculative_tokens_per_batch_size"
_DEFAULT_LIMIT = 512
_FINE_TO = 32  # --performance-mode interactivity captures every size up to here
# Attention backends that capture decode steps of several tokens per request in every release.
_WHOLE_DECODE = ("FLASH_ATTN", "FLASH_ATTN_VLLM_V1", "TRITON_ATTN", "TRITON_ATTN_VLLM_V1")
# Compute capabilities on which FlashAttention comes first.
_FLASH_ATTENTION = (8.0, 10.0)


def _requests(facts: Facts) -> int | Missing:
    return whole_number(facts.get("option.max_num_seqs"), "max_num_seqs")


def decode_step(facts: Facts) -> Fact:
    """Tokens of one request in a decode step: its own and K drafted ones."""
    length = whole_number(draft_tokens(facts), f"{CONFIG}.num_speculative_tokens")
    return length if isinstance(length, Missing) else Known(length + 1)


def widest_decode_step(facts: Facts) -> Fact:
    """Tokens of a decode step of all requests that are served at once, where every step drafts K tokens: no more than the
    scheduler gives a step, where that is known.
    """
    schedule, requests = facts.get(_SCHEDULE), _requests(facts)
    if schedule != Known(None):
        return schedule if isinstance(schedule, Missing) else Missing("the widest step of a draft length by batch size")
    width = whole_number(decode_step(facts), f"{CONFIG}.num_speculative_tokens")
    if isinstance(requests, Missing):
        return requests
    if isinstance(width, Missing):
        return width
    limits = (facts.get("option.max_num_batched_tokens"), facts.get("option.max_num_scheduled_tokens"))
    known = [limit.value for limit in limits if isinstance(limit, Known) and isinstance(limit.value, int)]
    return Known(min([requests * width, *(limit for limit in known if limit > 0)]))


def _graph_option(facts: Facts, *names: str) -> Fact:
    """The first of some options that is written, by a flag of its own or inside --compilation-config."""
    whole = facts.get("asked.compilation_config")
    if isinstance(whole, Known) and whole.value is not None and not isinstance(whole.value, dict):
        return Missing("the members of --compilation-config")
    for name in names:
        for fact in (facts.get(f"asked.{name}"), member(facts, "compilation_config", name)):
            if not isinstance(fact, Known) or fact.value is not None:
                return fact
    return Known(None)


def graph_sizes_asked(facts: Facts) -> Fact:
    """Whether the launch says which sizes are captured, or up to which."""
    asked = _graph_option(facts, "cudagraph_capture_sizes", "cuda_graph_sizes", "max_cudagraph_capture_size")
    return Known(asked.value is not None and asked.value != []) if isinstance(asked, Known) else asked


def _grid(limit: int, *, coarse_from: int = 256) -> int:
    """The largest size of the grid that is no larger than a limit."""
    if limit < 8:
        return max((size for size in (1, 2, 4) if size <= limit), default=0)
    return limit - limit % (8 if limit < coarse_from else 16)


def _listed(sizes: Sequence[object], facts: Facts) -> Fact:
    """The largest of a list of sizes that a step may have."""
    budget = facts.get("asked.max_num_batched_tokens")
    if not isinstance(budget, Known):
        return budget
    numbers = [size for size in sizes if isinstance(size, int)]
    kept = [size for size in numbers if not isinstance(budget.value, int) or size <= budget.value]
    return Known(max(kept, default=0)) if len(numbers) == len(sizes) else Missing("the sizes of CUDA graphs")


def largest_graph_asked(facts: Facts) -> Fact:
    """The largest captured size where the launch says sizes or a limit; None where it says neither."""
    sizes = _graph_option(facts, "cudagraph_capture_sizes", "cuda_graph_sizes")
    if not isinstance(sizes, Known) or isinstance(sizes.value, list):
        return _listed(sizes.value, facts) if isinstance(sizes, Known) and isinstance(sizes.value, list) else sizes
    limit, mode = _graph_option(facts, "max_cudagraph_capture_size"), facts.get("asked.performance_mode")
    if not isinstance(limit, Known) or not isinstance(limit.value, int):
        return limit
    budget = facts.get("asked.max_num_batched_tokens")
    if not isinstance(budget, Known) or not isinstance(mode, Known):
        return mode if isinstance(budget, Known) else budget
    if isinstance(budget.value, int) and budget.value < limit.value:
        return Missing("the sizes of CUDA graphs", "the token budget of a step cuts them")
    if mode.value == "interactivity" and limit.value <= _FINE_TO:
        return limit
    return Known(_grid(limit.value))


def largest_graph_listed(facts: Facts) -> Fact:
    """The same for --cuda-graph-sizes, of which a single value is a limit on every 8th size."""
    sizes = _graph_option(facts, "cudagraph_capture_sizes", "cuda_graph_sizes")
    if not isinstance(sizes, Known) or not isinstance(sizes.value, list):
        return sizes
    own = facts.get("asked.cuda_graph_sizes")
    if (
        isinstance(own, Known)
        and own.value == sizes.value
        and len(sizes.value) == 1
        and isinstance(sizes.value[0], int)
    ):
        return Known(_grid(sizes.value[0], coarse_from=sizes.value[0] + 1))
    return _listed(sizes.value, facts)


def _by_requests(coarse_from: int) -> Derivation:
    """The largest size of a default that counts two tokens for each request, without drafted ones."""

    def derive(facts: Facts) -> Fact:
        requests = _requests(facts)
        if isinstance(requests, Missing):
            return requests
        return Known(_grid(min(requests * 2, _DEFAULT_LIMIT), coarse_from=coarse_from))

    return derive


def step_fits_tensor_parallel(facts: Facts) -> Fact:
    """Whether one of K + 1 and the tensor parallel size is a multiple of the other."""
    width = whole_number(decode_step(facts), f"{CONFIG}.num_speculative_tokens")
    ranks = whole_number(facts.get("option.tensor_parallel_size"), "tensor_parallel_size")
    if isinstance(width, Missing):
        return width
    if isinstance(ranks, Missing):
        return ranks
    return Known(max(width, ranks) % min(width, ranks) == 0)


def captures_whole_decode(facts: Facts) -> Fact:
    """Whether the attention backend captures decode steps of several tokens per request in every release: FlashAttention or
    Triton where the launch names it, FlashAttention where the GPU and a plain target leave nothing else to choose.
    """
    names = (facts.get("asked.attention_backend"), facts.get("env.VLLM_ATTENTION_BACKEND"))
    for name in (*names, member(facts, "attention_config", "backend")):
        if not isinstance(name, Known):
            return name
        if isinstance(name.value, str):
            return (
                Known(True) if name.value.upper() in _WHOLE_DECODE else Missing("what the attention backend captures")
            )
    return _flash_attention_by_default(facts)


def _flash_attention_by_default(facts: Facts) -> Fact:
    """True on a GPU of the A100 to H200 generations for a target without latent attention, with an ordinary KV cache."""
    needed = [
        facts.get(path) for path in ("hardware.capability", "target.config.kv_lora_rank", "option.kv_cache_dtype")
    ]
    missing = [fact for fact in needed if not isinstance(fact, Known)]
    if missing:
        return missing[0]
    capability, latent, cache = (fact.value for fact in needed if isinstance(fact, Known))
    plain = isinstance(capability, float) and _FLASH_ATTENTION[0] <= capability < _FLASH_ATTENTION[1]
    return Known(True) if plain and latent is None and cache == "auto" else Missing("the attention backend")


DERIVATIONS: Mapping[str, Derivation] = {
    "decode_step": decode_step,
    "widest_decode_step": widest_decode_step,
    "graph_sizes_asked": graph_sizes_asked,
    "largest_graph_asked": largest_graph_asked,
    "largest_graph_listed": largest_graph_listed,
    "largest_graph_by_requests": _by_requests(256),
    "largest_graph_by_requests_eights": _by_requests(_DEFAULT_LIMIT + 1),
    "step_fits_tensor_parallel": step_fits_tensor_parallel,
    "captures_whole_decode": captures_whole_decode,
}
