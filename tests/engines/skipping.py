"""What a round trip may leave out."""

from __future__ import annotations

from specconf.engines.base import Lowered
from specconf.findings import Severity


def lacks_weights(lowered: Lowered) -> bool:
    """Whether lowering refuses the spec for weights that its checkpoints do not have: a spec that no launch means."""
    return any(f.code.startswith("SC3") and f.severity is Severity.ERROR for f in lowered.findings)
