"""Asking vLLM: its whole `vllm serve` command line and its engine config, on its CPU platform."""

from __future__ import annotations

from functools import partial

from specconf.oracle.asking import Verdict
from specconf.oracle.engine import EngineOracle, Pretended, canary

# The form that every release has: `vllm serve` begins with 0.5.2.
_canary = partial(canary, ("python", "-m", "vllm.entrypoints.openai.api_server", "--model", "target"))

ORACLE = EngineOracle(
    engine="vllm",
    package=__name__,
    canaries=(
        _canary("a plain launch is accepted", Verdict.ACCEPTS, "config"),
        _canary("an unknown flag is rejected", Verdict.REJECTS, "parse", "--no-such-flag"),
        _canary("an unknown data type is rejected", Verdict.REJECTS, "parse", "--dtype", "no-such-type"),
        _canary("a text for a number is rejected", Verdict.REJECTS, "parse", "--max-num-seqs", "many"),
    ),
    facts={
        "hardware.platform": "cpu",
        "hardware.triton": True,
        "hardware.amx": False,
        "role.bare_models": True,  # a question's models are their configs alone
    },
    load_facts={"hardware.platform": "cpu", "hardware.triton": False},
    own_code=frozenset({"KimiK25ForConditionalGeneration"}),  # its image processor
    pretended=(Pretended("arctic-inference", "speculative_config.method", ("suffix",)),),
    effective={
        "max_num_seqs": ("scheduler_config.max_num_seqs",),
        "max_num_batched_tokens": ("scheduler_config.max_num_batched_tokens",),
        "async_scheduling": ("scheduler_config.async_scheduling",),
        "enable_chunked_prefill": (
            "scheduler_config.enable_chunked_prefill",
            "scheduler_config.chunked_prefill_enabled",
        ),
        "tensor_parallel_size": ("parallel_config.tensor_parallel_size",),
        "pipeline_parallel_size": ("parallel_config.pipeline_parallel_size",),
        "data_parallel_size": ("parallel_config.data_parallel_size",),
        "max_model_len": ("model_config.max_model_len",),
        "enforce_eager": ("model_config.enforce_eager",),
        "gpu_memory_utilization": ("cache_config.gpu_memory_utilization",),
        "enable_prefix_caching": ("cache_config.enable_prefix_caching",),
        "kv_cache_dtype": ("cache_config.cache_dtype",),
        # The engine leaves the key as it is written; the length that it gives the draft stands with the draft's own config.
        "speculative_config.max_model_len": ("speculative_config.draft_max_model_len",),
        **{
            f"speculative_config.{name}": (f"speculative_config.{name}",)
            for name in (
                "method",
                "num_speculative_tokens",
                "prompt_lookup_min",
                "prompt_lookup_max",
                "draft_tensor_parallel_size",
                "disable_by_batch_size",
                "quantization",
                "parallel_drafting",
                "rejection_sample_method",
                "draft_sample_method",
                "use_heterogeneous_vocab",
            )
        },
    },
)
