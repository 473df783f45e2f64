"""SGLang: what its launches mean at each release. `ENGINE` is what `specconf.engines.registry` hands out."""

from __future__ import annotations

from specconf.engines.lazy import LazyEngine
from specconf.settings import Settings


class SGLang(LazyEngine, frozen=True):
    """The engine protocol for SGLang."""

    def part_of_several(self, settings: Settings) -> str:
        """A node of several, or a prefill or decode role."""
        mode, nodes = settings.get("disaggregation_mode"), settings.get("nnodes")
        if mode in ("prefill", "decode"):
            return f"disaggregation_mode {mode} is one side of a disaggregated deployment"
        return f"nnodes is {nodes}" if isinstance(nodes, int) and nodes > 1 else ""


ENGINE = SGLang(
    package=__name__,
    name="sglang",
    title="SGLang",
    model_path="model_path",
    draft_path="speculative_draft_model_path",
    abbreviations=True,
    option_scopes={"options": "sglang.cli"},
    effective_paths=(
        "attention_backend",
        "chunked_prefill_size",
        "cuda_graph_backend_decode",
        "cuda_graph_bs_decode",
        "cuda_graph_max_bs_decode",
        "disable_cuda_graph",
        "disable_overlap_schedule",
        "disable_radix_cache",
        "enable_mixed_chunk",
        "max_running_requests",
        "mem_fraction_static",
        "page_size",
    ),
)
