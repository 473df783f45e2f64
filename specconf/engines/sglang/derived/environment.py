"""Environment variables as the engine reads them: numbers, with the default where a value cannot be read."""

from __future__ import annotations

from collections.abc import Mapping

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


DERIVATIONS: Mapping[str, Derivation] = {"simulated_acceptance": simulated_acceptance}
