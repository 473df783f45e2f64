"""vLLM's server. `/health` asks the engine whether it lives and generates nothing, so it answers at once."""

from __future__ import annotations

from specconf.engines.serving import Serving, product
from specconf.settings import Settings


def _gpus(settings: Settings) -> int:
    replicas = "data_parallel_size_local" if "data_parallel_size_local" in settings else "data_parallel_size"
    return product(settings, "tensor_parallel_size", "pipeline_parallel_size", replicas)


SERVING = Serving(host="host", port="port", gpus=_gpus, health="/health", answers_within=5)
