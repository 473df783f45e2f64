"""Facts under `derived.` that SGLang computes from several settings before its checks look at them.

One module per topic, each with its own table; a name stands in one of them only.
"""

from __future__ import annotations

from collections.abc import Mapping

from specconf.engines.sglang.derived import (
    adaptive,
    algorithm,
    attention,
    block_drafts,
    capture,
    checkpoints,
    chunks,
    common,
    contexts,
    deployment,
    draft_attention,
    environment,
    families,
    fractions,
    memory,
    minimax,
    parallel,
    pools,
    switches,
)
from specconf.facts import Derivation

_TOPICS = (
    adaptive,
    algorithm,
    attention,
    block_drafts,
    capture,
    checkpoints,
    chunks,
    common,
    contexts,
    deployment,
    draft_attention,
    environment,
    families,
    fractions,
    memory,
    minimax,
    parallel,
    pools,
    switches,
)
DERIVATIONS: Mapping[str, Derivation] = {name: fact for topic in _TOPICS for name, fact in topic.DERIVATIONS.items()}
