"""How many tokens the MTP layers of a checkpoint were trained for, as the engine reads it into `n_predict`."""

from __future__ import annotations

from collections.abc import Mapping

from specconf.engines.vllm.derived.speculation import drafter_role
from specconf.facts import Derivation, Fact, Facts, Known, Missing

# Both lists repeat the columns `depth` and `depth_default` of the harvested table mtp_families, which a derived fact cannot
# ask: vllm/config/speculative.py, SpeculativeConfig.hf_config_override, as of 0.33.0.
# Families whose checkpoints hold more MTP layers than the engine has ever run, or whose draft is no layer of the target.
_ONE = frozenset(
    {
        "MiMoV2ForCausalLM", "MiMoV2OmniForCausalLM", "MiMoV2FlashForCausalLM",
        "gemma4_assistant", "gemma4_unified_assistant",
    }
)  # fmt: skip
# Families that count as one layer where the config does not count them.
_ONE_WHERE_UNCOUNTED = frozenset(
    {
        "longcat_flash", "longcat_flash_ngram", "step3p5", "step3p7", "step5", "step5_vl", "dots3_note",
        "minimax_m3_vl", "minimax_m3_mtp", "nemotron_h_mtp",
    }
)  # fmt: skip
_PREFIX_DECODER = "RadioMBartPrefixForCausalLM"


def trained_depth(facts: Facts) -> Fact:
    """The number of tokens that one pass of the drafting checkpoint's MTP layers proposes; 0 where nothing says it."""
    role = drafter_role(facts)
    if not isinstance(role, str):
        return role
    names = [facts.get(f"{role}.{path}") for path in ("model_type", "architecture")]
    known = {name.value for name in names if isinstance(name, Known)}
    if known & _ONE:
        return Known(1)
    if _PREFIX_DECODER in known:
        prefix = facts.get(f"{role}.config.decoder.causal_vision_prefix")
        return Known(1 if prefix.value is True else 0) if isinstance(prefix, Known) else prefix
    layers = facts.get(f"{role}.mtp_layers")
    if not isinstance(layers, Known):
        return layers
    if layers.value:
        return layers
    if unknown := next((name for name in names if isinstance(name, Missing)), None):
        return unknown
    if known & _ONE_WHERE_UNCOUNTED:
        return Known(1)
    written = facts.get(f"{role}.config.n_predict")
    return Known(0) if written == Known(None) else written


_STEP5_LISTS = ("moe_layers_enum", "moe_layer_list")


def step5_draft_has_experts(facts: Facts) -> Fact:
    """Whether a Step 5 checkpoint lists one of its MTP layers, which follow the others, among those with experts."""
    layers = facts.get("target.num_layers")
    if not isinstance(layers, Known) or not isinstance(layers.value, int):
        return layers if isinstance(layers, Missing) else Missing("the number of layers of the target")
    for key in _STEP5_LISTS:
        listed = facts.get(f"target.config.{key}")
        if not isinstance(listed, Known):
            return listed
        words = listed.value.split(",") if isinstance(listed.value, str) else listed.value
        if isinstance(words, list):
            numbers = [str(word).strip() for word in words]
            return Known(any(number.isdigit() and int(number) >= layers.value for number in numbers))
    return Known(False)


DERIVATIONS: Mapping[str, Derivation] = {
    "trained_depth": trained_depth,
    "step5_draft_has_experts": step5_draft_has_experts,
}
