"""Environment variables that are switches, as the engine reads their words."""

from __future__ import annotations

from collections.abc import Mapping

from specconf.engines.sglang.schedule import SPEC_V2, truth
from specconf.facts import Derivation, Fact, Facts, Known, Missing


def switch(name: str) -> Derivation:
    """Whether a variable is on; off where it is not written, or holds no boolean that the engine reads."""

    def read(facts: Facts) -> Fact:
        asked = facts.get(f"env.{name}")
        return Known(truth(asked.value) is True) if isinstance(asked, Known) else asked

    return read


def by_default(path: str) -> Derivation:
    """What a variable says, or its default in the release; a text that is no boolean is not known."""

    def read(facts: Facts) -> Fact:
        found = facts.get(f"option.{path}")
        if not isinstance(found, Known):
            return found
        value = truth(found.value)
        return Missing(path, "no boolean that SGLang reads") if value is None else Known(value)

    return read


DERIVATIONS: Mapping[str, Derivation] = {
    "decrease_prefill_idle": switch("SGLANG_SCHEDULER_DECREASE_PREFILL_IDLE"),
    "prefill_coordination": switch("SGLANG_ENABLE_DP_SPEC_PREFILL_COORDINATION"),
    "pipeline_speculation": switch("SGLANG_ENABLE_PP_SPEC"),
    "overlap_plan_stream": switch("SGLANG_ENABLE_OVERLAP_PLAN_STREAM"),
    "ngram_forced_greedy": switch("SGLANG_NGRAM_FORCE_GREEDY_VERIFY"),
    # The overlap worker of EAGLE; DeepSeek-V4's c128 states compressed online, and that beside MTP; the C++ radix tree.
    "spec_v2": by_default(SPEC_V2),
    "online_compress": by_default("env.SGLANG_OPT_USE_ONLINE_COMPRESS"),
    "online_c128_mtp": by_default("env.SGLANG_EXPERIMENTAL_ONLINE_C128_MTP"),
    "cpp_radix_tree": by_default("env.SGLANG_EXPERIMENTAL_CPP_RADIX_TREE"),
}
