"""SGLang's server. `/health` generates a token: it answers after a second at best, and gives up after twenty."""

from __future__ import annotations

from specconf.engines.serving import Serving, product
from specconf.settings import Settings


def _gpus(settings: Settings) -> int:
    """With attention data parallelism, `dp_size` divides the ranks that there are."""
    replicas = () if settings.get("enable_dp_attention") is True else ("dp_size",)
    return product(settings, "tp_size", "pp_size", *replicas)


SERVING = Serving(host="host", port="port", gpus=_gpus, health="/health", answers_within=30)
