"""Targets with layers that keep a recurrent state beside, or instead of, attention."""

from __future__ import annotations

from collections.abc import Mapping

from specconf.facts import Derivation, Fact, Facts, Known

_ATTENTION = ("attention", "full_attention")


def only_attention_layers(facts: Facts) -> Fact:
    """Whether a target's config lists its layers and all of them are attention: a hybrid class then has no recurrent state."""
    layers = facts.get("target.config.layer_types")
    if not isinstance(layers, Known):
        return layers
    return Known(isinstance(layers.value, list) and bool(layers.value) and all(x in _ATTENTION for x in layers.value))


DERIVATIONS: Mapping[str, Derivation] = {"only_attention_layers": only_attention_layers}
