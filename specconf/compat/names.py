"""The engines' names, and what people call them."""

from __future__ import annotations

from specconf.errors import UsageError

ENGINE_NAMES = ("vllm", "sglang", "tensorrt-llm")
ENGINE_ALIASES = {"trtllm": "tensorrt-llm", "trt-llm": "tensorrt-llm", "tensorrt_llm": "tensorrt-llm"}


def engine_name(text: str) -> str:
    """The engine's name from a name or alias. Raises UsageError for anything else."""
    name = ENGINE_ALIASES.get(text.lower(), text.lower())
    if name not in ENGINE_NAMES:
        raise UsageError(f"{text!r} is no engine that specconf knows.", hint=f"Engines: {', '.join(ENGINE_NAMES)}.")
    return name
