"""Targets with layers that keep a recurrent state beside, or instead of, attention."""

from __future__ import annotations

from collections.abc import Mapping

from specconf.facts import Derivation, Fact, Facts, Known

# Keys of configs whose models have layers with a recurrent state: linear attention and state spaces.
_RECURRENT = (
    "linear_num_value_heads",
    "linear_attn_config",
    "mamba_d_state",
    "mamba_n_heads",
    "mamba_num_heads",
    "ssm_state_size",
)


def target_all_attention(facts: Facts) -> Fact:
    """Whether the target's config lists its layers, and all of them as attention: no hybrid then, whatever its class."""
    layers = facts.get("target.config.layer_types")
    if not isinstance(layers, Known) or not isinstance(layers.value, list):
        return Known(False) if isinstance(layers, Known) else layers
    return Known(all(layer == "attention" for layer in layers.value))


def recurrent_state(facts: Facts) -> Fact:
    """Whether layers of the target keep a recurrent state, by the keys of its config or of that of its language model."""
    shown = [facts.get(f"target.config.{part}{key}") for key in _RECURRENT for part in ("", "text_config.")]
    if any(isinstance(fact, Known) and fact.value is not None for fact in shown):
        return Known(True)
    return next((fact for fact in shown if not isinstance(fact, Known)), Known(False))


DERIVATIONS: Mapping[str, Derivation] = {
    "target_all_attention": target_all_attention,
    "recurrent_state": recurrent_state,
}
