"""vLLM: everything that knows this engine. What differs between its releases stands in compat/vllm."""

from __future__ import annotations

from specconf.engines.lazy import LazyEngine
from specconf.settings import Settings


class Vllm(LazyEngine, frozen=True):
    """The engine protocol for vLLM."""

    def part_of_several(self, settings: Settings) -> str:
        """A node of several, or a prefill or decode role (a connector that only offloads the KV cache is neither)."""
        transfer = settings.get("kv_transfer_config")
        role = transfer.get("kv_role") if isinstance(transfer, dict) else None
        if role in ("kv_producer", "kv_consumer"):
            return f"kv_role {role} is one side of a disaggregated deployment"
        nodes = settings.get("nnodes")
        return f"nnodes is {nodes}" if isinstance(nodes, int) and nodes > 1 else ""


ENGINE = Vllm(
    package=__name__,
    name="vllm",
    title="vLLM",
    model_path="model",
    draft_path="speculative_config.model",
    abbreviations=True,
    option_scopes={"options": "vllm.cli"},
    reader="options",
    effective_paths=(
        "env.VLLM_USE_V1",
        "env.VLLM_USE_V2_MODEL_RUNNER",
        "disable_cascade_attn",
        "disable_hybrid_kv_cache_manager",
        "max_num_scheduled_tokens",
    ),
)
