"""The server of trtllm-serve. `/health` says whether the executor lives; a generating check has a path of its own."""

from __future__ import annotations

from specconf.engines.serving import Serving, product
from specconf.settings import Settings


def _gpus(settings: Settings) -> int:
    return product(settings, "tensor_parallel_size", "pipeline_parallel_size")


SERVING = Serving(host="cli.host", port="cli.port", gpus=_gpus, health="/health", answers_within=5)
