"""The engines, each imported on use."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from specconf.compat.sources import ENGINE_NAMES
from specconf.engines.base import Engine

_MODULES = {
    "vllm": "specconf.engines.vllm",
    "sglang": "specconf.engines.sglang",
    "tensorrt-llm": "specconf.engines.tensorrt_llm",
}
assert tuple(_MODULES) == ENGINE_NAMES


@cache
def get_engine(name: str) -> Engine:
    """An engine by its name."""
    engine: Engine = import_module(_MODULES[name]).ENGINE
    return engine
