"""How a launch spreads the model and which attention backends it writes."""

from __future__ import annotations

from collections.abc import Mapping

from specconf.facts import Derivation, Fact, Facts, Known, Missing


def attention_dp(facts: Facts) -> Fact:
    """Whether attention is data-parallel: its own width, or the older switch with a width above one."""
    width = facts.get("option.attn_dp_size")
    if isinstance(width, Known) and isinstance(width.value, int) and width.value > 1:
        return Known(True)
    switch = facts.get("option.enable_dp_attention")
    if isinstance(switch, Known) and switch.value is not True:
        return width if isinstance(width, Missing) else Known(False)
    groups = facts.get("option.dp_size")
    if isinstance(switch, Known) and isinstance(groups, Known) and isinstance(groups.value, int):
        return Known(groups.value > 1)
    return groups if isinstance(groups, Missing) else Missing("option.enable_dp_attention")


def one_backend_for_both(facts: Facts) -> Fact:
    """Whether prefill and decode are given the same backend, which then stands for the attention backend.

    Words that were not read are not taken to replace a backend that is written.
    """
    names = ("prefill_attention_backend", "decode_attention_backend")
    prefill, decode = (facts.get(f"option.{name}") for name in names)
    if isinstance(prefill, Known) and isinstance(decode, Known):
        return Known(prefill.value is not None and prefill == decode)
    if "attention_backend" in facts.settings and not all(name in facts.settings for name in names):
        return Known(False)
    return next((fact for fact in (prefill, decode) if isinstance(fact, Missing)), Missing("option.attention_backend"))


def lora(facts: Facts) -> Fact:
    """Whether adapters are served."""
    found = [facts.get(f"option.{name}") for name in ("enable_lora", "lora_paths")]
    if any(isinstance(fact, Known) and fact.value not in (None, False, []) for fact in found):
        return Known(True)
    return next((fact for fact in found if isinstance(fact, Missing)), Known(False))


DERIVATIONS: Mapping[str, Derivation] = {
    "attention_dp": attention_dp,
    "one_backend_for_both": one_backend_for_both,
    "lora": lora,
}
