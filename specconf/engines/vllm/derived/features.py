"""Members of the objects that switch on features beside speculation: KV transfer, watermarks, hidden states."""

from __future__ import annotations

from collections.abc import Mapping

from specconf.engines.vllm.derived.members import member
from specconf.facts import Derivation, Fact, Facts, Known

_DRAFT = "speculative_config.draft_model_config"
_LAYERS = "eagle_aux_hidden_state_layer_ids"


def kv_connector(facts: Facts) -> Fact:
    """The connector that --kv-transfer-config names; None where there is no KV transfer."""
    return member(facts, "kv_transfer_config", "kv_connector")


def watermark_algorithm(facts: Facts) -> Fact:
    """The algorithm of --watermark-config; None where it names none and the engine takes its own."""
    return member(facts, "watermark_config", "algorithm")


def watermark_target_only(facts: Facts) -> Fact:
    """Whether --watermark-config allows that accepted drafts carry no watermark."""
    return member(facts, "watermark_config", "allow_target_only_watermarking")


def hidden_state_layers(facts: Facts) -> Fact:
    """The layers whose hidden states are asked for: in the draft model config that is written, else in the target's own."""
    for asked in (member(facts, _DRAFT, "hf_config", _LAYERS), facts.get(f"asked.{_DRAFT}.hf_config.{_LAYERS}")):
        if asked != Known(None):
            return asked
    return facts.get(f"target.config.{_LAYERS}")


def serves_lora(facts: Facts) -> Fact:
    """Whether adapters are served: the launch says so, or a spec lists them among its features."""
    enabled, listed = facts.get("option.enable_lora"), facts.get("feature.lora")
    return listed if enabled != Known(True) and isinstance(listed, Known) else enabled


DERIVATIONS: Mapping[str, Derivation] = {
    "kv_connector": kv_connector,
    "watermark_algorithm": watermark_algorithm,
    "watermark_target_only": watermark_target_only,
    "serves_lora": serves_lora,
    "hidden_state_layers": hidden_state_layers,
}
