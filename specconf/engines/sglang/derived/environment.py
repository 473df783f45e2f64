"""Environment variables as the engine reads them: numbers and switches, with the default where a value cannot be read."""

from __future__ import annotations

from collections.abc import Mapping

from specconf.engines.sglang.schedule import truth
from specconf.facts import Derivation, Fact, Facts, Known


def simulated_acceptance(facts: Facts) -> Fact:
    """The acceptance length that SGLANG_SIMULATE_ACC_LEN pretends; -1 where it is off or not a number."""
    asked = facts.get("env.SGLANG_SIMULATE_ACC_LEN")
    if not isinstance(asked, Known):
        return asked
    try:
        return Known(float(str(asked.value)))
    except ValueError:
        return Known(-1.0)


def _switch(name: str) -> Derivation:
    def read(facts: Facts) -> Fact:
        asked = facts.get(f"env.{name}")
        return Known(truth(asked.value) is True) if isinstance(asked, Known) else asked

    read.__doc__ = f"Whether {name} is on; off where it is not written or no boolean that the engine reads."
    return read


DERIVATIONS: Mapping[str, Derivation] = {
    "simulated_acceptance": simulated_acceptance,
    "dp_spec_prefill_coordination": _switch("SGLANG_ENABLE_DP_SPEC_PREFILL_COORDINATION"),
    "ngram_forced_greedy": _switch("SGLANG_NGRAM_FORCE_GREEDY_VERIFY"),
}
