"""What a launch says about the requests it will serve."""

from __future__ import annotations

from collections.abc import Mapping

from specconf.engines.vllm.derived.members import member
from specconf.facts import Derivation, Fact, Facts, Known


def structured_output_backend(facts: Facts) -> Fact:
    """The backend for structured output that the launch names, by the older flag or the newer object; None without one."""
    flag = facts.get("asked.guided_decoding_backend")
    named = member(facts, "structured_outputs_config", "backend")
    return named if flag == Known(None) else flag


DERIVATIONS: Mapping[str, Derivation] = {
    "structured_output_backend": structured_output_backend,
}
