"""The layers whose hidden states a launch asks to hand out with its answers."""

from __future__ import annotations

from collections.abc import Mapping

from specconf.facts import Derivation, Fact, Facts, Known


def capture_layers_fault(facts: Facts) -> Fact:
    """What is wrong with the layers of `--return-aux-hidden-state-layer-ids`, in words; None where nothing is."""
    asked = facts.get("option.return_aux_hidden_state_layer_ids")
    if not isinstance(asked, Known) or not isinstance(asked.value, list):
        return Known(None) if isinstance(asked, Known) else asked
    layers = [layer for layer in asked.value if isinstance(layer, int)]
    if any(layer < 0 for layer in layers):
        return Known("names a negative one")
    return Known("names one twice" if len(set(layers)) != len(layers) else None)


DERIVATIONS: Mapping[str, Derivation] = {"capture_layers_fault": capture_layers_fault}
