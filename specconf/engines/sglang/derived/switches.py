"""Environment variables that are switches, as the engine reads their words."""

from __future__ import annotations

from collections.abc import Mapping

from specconf.engines.sglang.schedule import truth
from specconf.facts import Derivation, Fact, Facts, Known


def switch(name: str) -> Derivation:
    """Whether a variable is on; off where it is not written, or holds no boolean that the engine reads."""

    def read(facts: Facts) -> Fact:
        asked = facts.get(f"env.{name}")
        return Known(truth(asked.value) is True) if isinstance(asked, Known) else asked

    return read


DERIVATIONS: Mapping[str, Derivation] = {
    "decrease_prefill_idle": switch("SGLANG_SCHEDULER_DECREASE_PREFILL_IDLE"),
    "prefill_coordination": switch("SGLANG_ENABLE_DP_SPEC_PREFILL_COORDINATION"),
    "pipeline_speculation": switch("SGLANG_ENABLE_PP_SPEC"),
    "overlap_plan_stream": switch("SGLANG_ENABLE_OVERLAP_PLAN_STREAM"),
    "ngram_forced_greedy": switch("SGLANG_NGRAM_FORCE_GREEDY_VERIFY"),
}
