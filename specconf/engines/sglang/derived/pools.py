"""What a launch keeps beside its KV cache: recurrent state, and the attention backends that read the pools."""

from __future__ import annotations

from collections.abc import Mapping

from specconf.facts import Derivation, Fact, Facts, Known, Missing, OneOf

_PER_LAYER = "GraniteMoeHybridForCausalLM"


def recurrent_architecture(facts: Facts) -> Fact:
    """The target's architecture as the handling of recurrent state sees it; None for a Granite hybrid without Mamba layers."""
    architecture = facts.get("target.architecture")
    if not isinstance(architecture, Known) or architecture.value != _PER_LAYER:
        return architecture
    layers = facts.get("target.config.layer_types")
    if not isinstance(layers, Known):
        return layers
    return architecture if isinstance(layers.value, list) and "mamba" in layers.value else Known(None)


def prefill_reader(facts: Facts) -> Fact:
    """The attention backend that reads the pools in prefill: its own where one is given, else that for both phases."""
    return _reader(facts, "prefill")


def decode_reader(facts: Facts) -> Fact:
    """The same for decode."""
    return _reader(facts, "decode")


def _reader(facts: Facts, phase: str) -> Fact:
    for name in (f"{phase}_attention_backend", "attention_backend"):
        fact = facts.get(f"option.{name}")
        unset = fact == Known(None)
        if isinstance(fact, OneOf) and None in fact.values:
            break
        if not unset:
            return fact
    # An unset backend is chosen by the engine, for hardware and model: it is not None.
    return Missing("option.attention_backend")


DERIVATIONS: Mapping[str, Derivation] = {
    "recurrent_architecture": recurrent_architecture,
    "prefill_reader": prefill_reader,
    "decode_reader": decode_reader,
}
