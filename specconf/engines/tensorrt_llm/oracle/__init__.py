"""Asking TensorRT-LLM: the command line of `trtllm-serve` and its LlmArgs, in an environment of the user's own.

Its package needs a GPU's libraries to be imported at all and is not on the package index, so no environment is built.
Written from the sources of `tensorrt_llm/commands/serve.py` and `tensorrt_llm/llmapi/llm.py`; never run against the
package itself.
"""

from __future__ import annotations

from functools import partial

from specconf.oracle.asking import Verdict
from specconf.oracle.engine import EngineOracle, canary

# 0.20.0 takes the TensorRT backend where none is named.
_canary = partial(canary, ("trtllm-serve", "target", "--backend", "pytorch"))

ORACLE = EngineOracle(
    engine="tensorrt-llm",
    package=__name__,
    facts={"hardware.platform": "cuda"},
    own_python_only=True,
    canaries=(
        _canary("a plain launch is accepted", Verdict.ACCEPTS, "config"),
        _canary("an unknown flag is rejected", Verdict.REJECTS, "parse", "--no_such_flag"),
        _canary("a text for a number is rejected", Verdict.REJECTS, "parse", "--max_batch_size", "many"),
    ),
    effective={
        name: (name,)
        for name in (
            "max_batch_size",
            "max_num_tokens",
            "max_seq_len",
            "tensor_parallel_size",
            "pipeline_parallel_size",
            "moe_expert_parallel_size",
            "enable_attention_dp",
            "enable_chunked_prefill",
            "disable_overlap_scheduler",
            "attn_backend",
            "kv_cache_config.dtype",
            "kv_cache_config.free_gpu_memory_fraction",
            "kv_cache_config.enable_block_reuse",
            "speculative_config.decoding_type",
            "speculative_config.max_draft_len",
            "speculative_config.num_nextn_predict_layers",
            "speculative_config.max_total_draft_tokens",
            "speculative_config.max_concurrency",
            "speculative_config.allow_advanced_sampling",
            "speculative_config.use_rejection_sampling",
            "speculative_config.use_dynamic_tree",
            "speculative_config.max_matching_ngram_size",
        )
    },
)
