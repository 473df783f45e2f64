"""Which engine an option file is for, told by its top-level keys; and whether a YAML file is an option file at all.

Only names that one engine has decide, with dashes and underscores alike. What the options mean is not known here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from specconf.patterns import pattern


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Options that one engine alone calls so. A file that holds one, and none of another engine, is that engine's.
OWN: Mapping[str, frozenset[str]] = {
    "vllm": _names(
        "max-model-len gpu-memory-utilization max-num-seqs max-num-batched-tokens enforce-eager enable-expert-parallel "
        "enable-prefix-caching enable-chunked-prefill enable-auto-tool-choice async-scheduling compilation-config "
        "limit-mm-per-prompt kv-transfer-config max-cudagraph-capture-size num-speculative-tokens speculative-model "
        "spec-method spec-model spec-tokens cpu-offload-gb all2all-backend data-parallel-size "
        "disable-log-requests no-enable-prefix-caching hf-overrides"
    ),
    "sglang": _names(
        "attn-dp-size mem-fraction-static chunked-prefill-size "
        "cuda-graph-max-bs max-running-requests speculative-algorithm speculative-algo speculative-num-steps "
        "speculative-eagle-topk speculative-num-draft-tokens speculative-draft-model-path disable-cuda-graph "
        "enable-dp-attention enable-metrics disable-radix-cache schedule-conservativeness moe-a2a-backend "
        "disaggregation-mode max-prefill-tokens prefill-attention-backend decode-attention-backend"
    ),
    "tensorrt-llm": _names(
        "kv-cache-config cuda-graph-config enable-attention-dp moe-config disable-overlap-scheduler print-iter-log "
        "attn-backend max-num-tokens moe-expert-parallel-size moe-tensor-parallel-size cache-transceiver-config "
        "torch-compile-config pytorch-backend-config use-cuda-graph cuda-graph-padding-enabled cuda-graph-batch-sizes "
        "enable-iter-perf-stats attention-dp-config guided-decoding-backend sampler-type enable-autotuner "
        "scheduler-config context-parallel-size enable-layerwise-nvtx-marker"
    ),
}
# Names that count with dashes only: with underscores other programs have them too. vLLM's need a `model` beside them.
_DASHED: Mapping[str, frozenset[str]] = {
    "vllm": _names("tensor-parallel-size pipeline-parallel-size served-model-name trust-remote-code"),
    "sglang": _names("model-path tp-size dp-size ep-size pp-size context-length tokenizer-path"),
}
# Keys that no option file has at its top, but what looks alike: manifests, recipes, proxies, evaluations.
_FOREIGN = _names(
    "apiVersion kind services jobs steps model_list litellm_settings tasks resources applications llm_configs "
    "image repos version identity roles benchmark stages variants meta features models groups run setup deployment"
)
_SPECULATION = frozenset({"speculative-config"})
_KEY = pattern(r"""^["']?([A-Za-z][\w.-]*)["']?[ \t]*:(?=\s|$)""", re.MULTILINE)


def is_option_file(text: str) -> bool:
    """Whether the keys at the beginning of a YAML file's lines are those of an engine's options."""
    keys = set(_KEY.findall(text))
    if not keys or keys & _FOREIGN:
        return False
    return bool(speaks_of(keys)) or any(_alike(key) in _SPECULATION for key in keys)


def speaks_of(keys: Iterable[Any]) -> set[str]:
    """The engines that keys speak of."""
    written = {key for key in keys if isinstance(key, str)}
    alike = {_alike(key) for key in written}
    found = {engine for engine, names in OWN.items() if alike & names}
    if any(key.startswith("speculative-algo") for key in alike):
        found.add("sglang")
    if written & _DASHED["sglang"]:
        found.add("sglang")
    if not found and "model" in written and written & _DASHED["vllm"]:
        found.add("vllm")
    return found


def engine_of(options: Mapping[Any, Any]) -> str | None:
    """The engine that an option file's keys speak of, None when they do not tell or contradict each other.

    The way in which it writes speculation tells first.
    """
    found = set()
    if any(isinstance(key, str) and _alike(key).startswith("speculative-algo") for key in options):
        found.add("sglang")
    for key in ("speculative_config", "speculative-config"):
        nested = options.get(key)
        if isinstance(nested, str) and '"method"' in nested:
            found.add("vllm")
        if isinstance(nested, dict):
            found |= {"tensorrt-llm"} if "decoding_type" in nested else set()
            found |= {"vllm"} if "method" in nested else set()
    found = found or speaks_of(options)
    return found.pop() if len(found) == 1 else None


def _alike(key: str) -> str:
    return key.replace("_", "-")
