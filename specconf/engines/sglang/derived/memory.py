"""What SGLang chooses by the memory of a GPU: the size of a prefill step, and the batches that graphs are captured for.

The formulas have changed often. Each form has a fact of its own here, named after what it looks at; which release uses
which is said by the constraints that set the option.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from specconf.facts import Derivation, Fact, Facts, Known, Missing, either
from specconf.hardware import reported_memory
from specconf.words import JsonValue

GIB = 1024
# Up to which memory (below, in MiB), a value; the last one is for all that is larger.
Steps = Sequence[tuple[float, int]]
REST = float("inf")


def gpu_mib(facts: Facts) -> Fact:
    """Mebibytes of the GPU as its driver reports them; several where cards of several sizes have the name."""
    platform = facts.get("hardware.platform")
    if platform != Known("cuda"):
        return platform if isinstance(platform, Missing) else Missing("the memory of the device")
    gpu = facts.get("hardware.gpu")
    if not isinstance(gpu, Known) or not isinstance(gpu.value, str):
        return Missing("hardware.gpu")
    return _one_of(reported_memory(gpu.value)) or Missing(f"the memory of {gpu.value}")


def _one_of(values: Sequence[JsonValue]) -> Fact | None:
    return either(values) if values else None


def _by_memory(facts: Facts, choose: Callable[[float], JsonValue]) -> Fact:
    """A value for each size that the GPU may have."""
    memory = gpu_mib(facts)
    if isinstance(memory, Missing):
        return memory
    values = [choose(float(size)) for size in memory.values if isinstance(size, int | float)]
    return _one_of(values) or Missing("hardware.gpu")


def _step(steps: Steps, memory: float) -> int:
    return next(value for below, value in steps if memory < below)


def _chunk(steps: Steps, facts: Facts) -> Fact:
    return _by_memory(facts, lambda memory: _step(steps, memory))


def _graphs(narrow: Steps, wide: Steps, facts: Facts) -> Fact:
    """The largest batch of the decode graphs, by memory and whether four GPUs or more share the model."""
    width = facts.get("option.tp_size")
    if not isinstance(width, Known) or not isinstance(width.value, int):
        return width if isinstance(width, Missing) else Missing("option.tp_size")
    steps = narrow if width.value < 4 else wide
    return _by_memory(facts, lambda memory: _step(steps, memory))


def graphs_within_limit(facts: Facts) -> Fact:
    """The largest batch of the decode graphs, no larger than a limit of running requests that is written."""
    largest, limit = graphs_six_sizes_wider(facts), facts.get("option.max_running_requests")
    if isinstance(limit, Missing) or isinstance(largest, Missing):
        return limit if isinstance(limit, Missing) else largest
    return either(_within(size, most) for size in largest.values for most in limit.values)


def _within(size: JsonValue, most: JsonValue) -> JsonValue:
    return min(size, most) if isinstance(size, int) and isinstance(most, int) else size


def graph_sizes(facts: Facts, *, last: int = 65, ends: bool = True) -> Fact:
    """The batch sizes that decode graphs are captured for: denser for small batches when there is speculation.

    A CPU's own sizes depend on its memory. `ends`: the largest batch is always among them; `last` is where the steps of
    four stop.
    """
    found = [
        facts.get(f"option.{n}")
        for n in ("cuda_graph_max_bs_decode", "disable_cuda_graph_padding", "speculative_algorithm")
    ]
    largest, every, algorithm = found
    if facts.get("option.device") == Known("cpu"):
        return Missing("the memory of the device")
    if not isinstance(largest, Known) or not isinstance(every, Known) or not isinstance(algorithm, Known):
        return next((f for f in found if isinstance(f, Missing)), Missing("option.cuda_graph_max_bs_decode"))
    if not isinstance(largest.value, int) or isinstance(largest.value, bool):
        return Missing("option.cuda_graph_max_bs_decode")
    top = largest.value
    if every.value is True:
        return Known(list(range(1, top + 1)))
    if algorithm.value is None:
        sizes = [1, 2, 4, 8, 12, *range(16, 257, 8), *range(272, 512, 16), *range(512, top + 1, 32)]
    else:
        sizes = [*range(1, 9), *range(10, 33, 2), *range(40, last, 4), *range(72, 257, 8), *range(272, top + 1, 16)]
    kept = [size for size in sizes if size <= top]
    return Known([*kept, top] if ends and top not in kept else list(kept))


def largest_graph(facts: Facts) -> Fact:
    """The largest of the batch sizes that are written for decode graphs."""
    sizes = facts.get("option.cuda_graph_bs_decode")
    if isinstance(sizes, Known) and isinstance(sizes.value, list) and sizes.value:
        return Known(max(size for size in sizes.value if isinstance(size, int)))
    return sizes if isinstance(sizes, Missing) else Missing("option.cuda_graph_bs_decode")


_SMALL = ((25_000, 2048), (REST, 8192))
_THREE_EARLY = ((25_000, 2048), (180_000.5, 8192), (REST, 16384))
_THREE = ((35 * GIB, 2048), (160 * GIB, 8192), (REST, 16384))
_FOUR = ((35 * GIB, 2048), (60 * GIB, 4096), (160 * GIB, 8192), (REST, 16384))
_FOUR_WIDER = ((20 * GIB, 2048), (60 * GIB, 4096), (160 * GIB, 8192), (REST, 16384))
_NARROW = ((20 * GIB, 8), (35 * GIB, 16), (60 * GIB, 32), (160 * GIB, 256), (REST, 512))
_NARROW_24 = ((20 * GIB, 8), (35 * GIB, 24), (60 * GIB, 32), (160 * GIB, 256), (REST, 512))
_NARROW_48 = ((20 * GIB, 8), (35 * GIB, 48), (60 * GIB, 32), (160 * GIB, 256), (REST, 512))
_WIDE = ((20 * GIB, 8), (35 * GIB, 80), (60 * GIB, 160), (REST, 512))
_WIDE_160 = ((20 * GIB, 8), (60 * GIB, 160), (REST, 512))

graphs_six_sizes_wider = partial(_graphs, _NARROW_48, _WIDE_160)

DERIVATIONS: Mapping[str, Derivation] = {
    "gpu_mib": gpu_mib,
    "chunk_two_sizes": partial(_chunk, _SMALL),
    "chunk_three_sizes_25": partial(_chunk, _THREE_EARLY),
    "chunk_three_sizes": partial(_chunk, _THREE),
    "chunk_four_sizes": partial(_chunk, _FOUR),
    "chunk_four_sizes_wider": partial(_chunk, _FOUR_WIDER),
    "graphs_two_sizes": partial(_graphs, ((25_000, 8), (REST, 160)), ((25_000, 80), (REST, 160))),
    "graphs_small": partial(_graphs, ((REST, 8),), ((REST, 80),)),
    "graphs_six_sizes": partial(_graphs, _NARROW, _WIDE),
    "graphs_six_sizes_24": partial(_graphs, _NARROW_24, _WIDE),
    "graphs_six_sizes_wider": graphs_six_sizes_wider,
    "graphs_within_limit": graphs_within_limit,
    "largest_graph": largest_graph,
    "graph_sizes": graph_sizes,
    "graph_sizes_short": partial(graph_sizes, ends=False),
    "graph_sizes_to_60": partial(graph_sizes, last=64, ends=False),
}
