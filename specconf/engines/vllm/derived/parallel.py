"""What a parallel layout asks of the checkpoint that drafts."""

from __future__ import annotations

from collections.abc import Mapping

from specconf.engines.vllm.derived.speculation import draft_is_target
from specconf.facts import Derivation, Fact, Facts, Known


def mtp_modules(facts: Facts) -> Fact:
    """The number of MTP layers as num_nextn_predict_layers of the checkpoint that drafts has it; None where it has none."""
    own = draft_is_target(facts)
    if not isinstance(own, Known):
        return own
    return facts.get(f"{'target' if own.value else 'draft'}.config.num_nextn_predict_layers")


DERIVATIONS: Mapping[str, Derivation] = {
    "mtp_modules": mtp_modules,
}
