"""Environment variables that are switches, as the engine reads their words."""

from __future__ import annotations

from collections.abc import Mapping

from specconf.engines.sglang.schedule import truth
from specconf.facts import Derivation, Fact, Facts, Known, Missing


def _switch(facts: Facts, name: str) -> Fact:
    path = f"option.env.{name}"
    found = facts.get(path)
    if not isinstance(found, Known):
        return found
    value = truth(found.value)
    return Missing(path, "no boolean that SGLang reads") if value is None else Known(value)


def prefill_coordination(facts: Facts) -> Fact:
    """Whether SGLANG_ENABLE_DP_SPEC_PREFILL_COORDINATION is on."""
    return _switch(facts, "SGLANG_ENABLE_DP_SPEC_PREFILL_COORDINATION")


def pipeline_speculation(facts: Facts) -> Fact:
    """Whether SGLANG_ENABLE_PP_SPEC is on."""
    return _switch(facts, "SGLANG_ENABLE_PP_SPEC")


def overlap_plan_stream(facts: Facts) -> Fact:
    """Whether SGLANG_ENABLE_OVERLAP_PLAN_STREAM is on."""
    return _switch(facts, "SGLANG_ENABLE_OVERLAP_PLAN_STREAM")


def decrease_prefill_idle(facts: Facts) -> Fact:
    """Whether SGLANG_SCHEDULER_DECREASE_PREFILL_IDLE is on."""
    return _switch(facts, "SGLANG_SCHEDULER_DECREASE_PREFILL_IDLE")


DERIVATIONS: Mapping[str, Derivation] = {
    "decrease_prefill_idle": decrease_prefill_idle,
    "prefill_coordination": prefill_coordination,
    "pipeline_speculation": pipeline_speculation,
    "overlap_plan_stream": overlap_plan_stream,
}
