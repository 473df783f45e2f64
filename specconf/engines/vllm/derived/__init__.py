"""Facts that are computed once per launch from its settings and models, free of any release: `derived.*`.

One module per topic, each with its own table; a name stands in one of them only.
"""

from __future__ import annotations

from collections.abc import Mapping

from specconf.engines.vllm.derived import (
    capture,
    common,
    depth,
    experts,
    features,
    graphs,
    heads,
    hybrid,
    launch,
    left_out,
    positions,
    reports,
    requests,
    runner,
    schedules,
    scheduling,
    shapes,
    speculation,
    speculators,
    steps,
    weights,
)
from specconf.facts import Derivation

_TOPICS = (
    capture,
    common,
    depth,
    experts,
    features,
    graphs,
    heads,
    hybrid,
    launch,
    left_out,
    positions,
    reports,
    requests,
    runner,
    schedules,
    scheduling,
    shapes,
    speculation,
    speculators,
    steps,
    weights,
)
DERIVATIONS: Mapping[str, Derivation] = {name: fact for topic in _TOPICS for name, fact in topic.DERIVATIONS.items()}
