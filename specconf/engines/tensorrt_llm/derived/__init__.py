"""Facts under `derived.`: what TensorRT-LLM makes of a launch as a whole.

One module per topic, each with its own table; a name stands in one of them only.
"""

from __future__ import annotations

from collections.abc import Mapping

from specconf.engines.tensorrt_llm.derived import (
    checkpoints,
    common,
    launch,
    schedules,
    trees,
)
from specconf.facts import Derivation

_TOPICS = (
    checkpoints,
    common,
    launch,
    schedules,
    trees,
)
DERIVATIONS: Mapping[str, Derivation] = {name: fact for topic in _TOPICS for name, fact in topic.DERIVATIONS.items()}
