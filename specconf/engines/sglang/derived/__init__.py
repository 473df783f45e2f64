"""Facts under `derived.` that SGLang computes from several settings before its checks look at them.

One module per topic, each with its own table; a name stands in one of them only.
"""

from __future__ import annotations

from collections.abc import Mapping

from specconf.engines.sglang.derived import algorithm, checkpoints, deployment, minimax, parallel, switches
from specconf.facts import Derivation

_TOPICS = (algorithm, checkpoints, deployment, minimax, parallel, switches)
DERIVATIONS: Mapping[str, Derivation] = {name: fact for topic in _TOPICS for name, fact in topic.DERIVATIONS.items()}
