"""How many ranks share what, and the device that a launch runs on."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping

from specconf.facts import Derivation, Fact, Facts, Known, Missing

# The word that the engine's own detection gives for a platform; ROCm builds call their device cuda.
_DEVICES = {"cuda": "cuda", "rocm": "cuda", "cpu": "cpu", "xpu": "xpu", "npu": "npu"}


def attention_dp_width(facts: Facts) -> Fact:
    """In how many groups attention is data-parallel: its own width, or that of the older switch; 1 without either."""
    width = facts.get("option.attn_dp_size")
    if isinstance(width, Known) and isinstance(width.value, int) and width.value > 1:
        return width
    switch = facts.get("option.enable_dp_attention")
    if isinstance(switch, Missing) or (isinstance(switch, Known) and switch.value is True):
        return facts.get("option.dp_size") if isinstance(switch, Known) else switch
    return width if isinstance(width, Missing) else Known(1)


def ranks(facts: Facts) -> Fact:
    """How many ranks share the model: those of tensor parallelism in every stage of the pipeline."""
    return _combined(facts, "option.tp_size", "option.pp_size", operator.mul)


def attention_tp(facts: Facts) -> Fact:
    """Over how many ranks the heads of one sequence are split, where attention is not data-parallel."""
    context = facts.get("option.attn_cp_size")
    if isinstance(context, Known) and context.value in (None, 1):
        return facts.get("option.tp_size")
    return _combined(facts, "option.tp_size", "option.attn_cp_size", operator.floordiv)


def _combined(facts: Facts, left: str, right: str, combine: Callable[[int, int], int]) -> Fact:
    numbers: list[int] = []
    for path in (left, right):
        fact = facts.get(path)
        if not isinstance(fact, Known) or not isinstance(fact.value, int) or isinstance(fact.value, bool):
            return fact if isinstance(fact, Missing) else Missing(path, "not a number of ranks")
        numbers.append(fact.value)
    return Missing(right, "not a number of ranks") if numbers[1] == 0 else Known(combine(*numbers))


def device(facts: Facts) -> Fact:
    """The device as the engine's checks see it: the one that is written, else what it finds on this hardware."""
    written = facts.get("option.device")
    if not isinstance(written, Known) or written.value is not None:
        return written
    platform = facts.get("hardware.platform")
    if not isinstance(platform, Known):
        return platform
    found = _DEVICES.get(str(platform.value))
    return Missing("hardware.platform", f"SGLang's own name for {platform.value}") if found is None else Known(found)


DERIVATIONS: Mapping[str, Derivation] = {
    "attention_dp_width": attention_dp_width,
    "attention_tp": attention_tp,
    "device": device,
    "ranks": ranks,
}
