"""What a launch leaves open and a known fault needs: true unless what is known speaks against it. For faults that reports
tell of, where waiting for the missing fact would keep silent about them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from specconf.engines.vllm.derived.members import member
from specconf.facts import Derivation, Fact, Facts, Known

_PARALLEL_HEAD = re.compile(r"p-?eagle", re.IGNORECASE)
_HOPPER = 9.0


def may_serve_structured_output(facts: Facts) -> Fact:
    """Whether requests for structured output may come: always, unless the features are listed without it."""
    listed = facts.get("feature.structured_output")
    return listed if isinstance(listed, Known) else Known(True)


def structured_output_untold(facts: Facts) -> Fact:
    """Whether nobody says if requests for structured output come."""
    return Known(not isinstance(facts.get("feature.structured_output"), Known))


def may_run_on_hopper(facts: Facts) -> Fact:
    """Whether the GPUs may be Hopper ones: always, unless the hardware is known to be another."""
    capability = facts.get("hardware.capability")
    return Known(not isinstance(capability, Known) or str(capability.value) == str(_HOPPER))


def may_draft_in_sequence(facts: Facts) -> Fact:
    """Whether the head may draft one token after the other: unless it is known to draft them all at once."""
    asked = facts.get("option.speculative_config.parallel_drafting")
    if asked == Known(True):
        return Known(False)
    shown = [facts.get("draft.architecture"), facts.get("draft.config.speculators_model_type")]
    at_once = any(isinstance(f, Known) and isinstance(f.value, str) and _PARALLEL_HEAD.match(f.value) for f in shown)
    return Known(not at_once)


def grammar_in_reasoning(facts: Facts) -> Fact:
    """Whether --structured-outputs-config holds the grammar over the reasoning, too."""
    return member(facts, "structured_outputs_config", "enable_in_reasoning")


DERIVATIONS: Mapping[str, Derivation] = {
    "may_serve_structured_output": may_serve_structured_output,
    "structured_output_untold": structured_output_untold,
    "may_run_on_hopper": may_run_on_hopper,
    "may_draft_in_sequence": may_draft_in_sequence,
    "grammar_in_reasoning": grammar_in_reasoning,
}
