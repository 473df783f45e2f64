"""Asking SGLang: its argument parser, resolution and checks, as on a machine with one kind of GPU."""

from __future__ import annotations

from functools import partial

from specconf.oracle.asking import Verdict
from specconf.oracle.engine import EngineOracle, Pretended, canary

_canary = partial(canary, ("python", "-m", "sglang.launch_server", "--model-path", "target"))

ORACLE = EngineOracle(
    engine="sglang",
    package=__name__,
    gpus=("H100", "H200", "B200", "A100"),
    cards={"A100": "A100 80GB"},  # sold in two sizes
    canaries=(
        _canary("a plain launch is accepted", Verdict.ACCEPTS, "config"),
        _canary("an unknown algorithm is rejected", Verdict.REJECTS, None, "--speculative-algorithm", "NO_SUCH"),
        _canary("an unknown backend is rejected", Verdict.REJECTS, "parse", "--attention-backend", "no_such"),
        _canary("an unknown flag is rejected", Verdict.REJECTS, "parse", "--no-such-flag"),
    ),
    facts={
        "hardware.platform": "cuda",
        "role.bare_models": True,  # a question's models are their configs alone
    },
    pretended=(
        Pretended("DeepEP", "moe_a2a_backend", ("deepep",)),
        Pretended("mooncake-transfer-engine", "moe_a2a_backend", ("mooncake",)),
        Pretended("mooncake-transfer-engine", "hicache_storage_backend", ("mooncake",)),
        Pretended("mooncake-transfer-engine", "elastic_ep_backend", ("mooncake",)),
    ),
    effective={
        "speculative_algorithm": ("speculative_algorithm",),
        "speculative_num_steps": ("speculative_num_steps",),
        "speculative_eagle_topk": ("speculative_eagle_topk",),
        "speculative_num_draft_tokens": ("speculative_num_draft_tokens",),
        "disable_overlap_schedule": ("disable_overlap_schedule",),
        "max_running_requests": ("max_running_requests",),
        "enable_mixed_chunk": ("enable_mixed_chunk",),
        "chunked_prefill_size": ("chunked_prefill_size",),
        "disable_cuda_graph": ("disable_cuda_graph",),
        "cuda_graph_backend_decode": ("cuda_graph_config.decode.backend", "cuda_graph_backend_decode"),
        "cuda_graph_max_bs_decode": (
            "cuda_graph_config.decode.max_bs",
            "cuda_graph_max_bs_decode",
            "cuda_graph_max_bs",
        ),
        "mem_fraction_static": ("mem_fraction_static",),
        "disable_radix_cache": ("disable_radix_cache",),
        "attention_backend": ("attention_backend",),
        "page_size": ("page_size",),
        "speculative_draft_model_quantization": ("speculative_draft_model_quantization",),
        "speculative_draft_attention_backend": ("speculative_draft_attention_backend",),
        "speculative_moe_runner_backend": ("speculative_moe_runner_backend",),
    },
)
