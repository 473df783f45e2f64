"""What a launch says of the requests that known faults need."""

from __future__ import annotations

from collections.abc import Mapping

from specconf.engines.vllm.derived.members import member
from specconf.facts import Derivation, Fact, Facts


def grammar_in_reasoning(facts: Facts) -> Fact:
    """Whether --structured-outputs-config holds the grammar over the reasoning, too."""
    return member(facts, "structured_outputs_config", "enable_in_reasoning")


DERIVATIONS: Mapping[str, Derivation] = {"grammar_in_reasoning": grammar_in_reasoning}
