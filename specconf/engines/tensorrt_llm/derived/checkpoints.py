"""What a checkpoint says that TensorRT-LLM holds against its options: a DSpark drafter's block and layers, EAGLE-3.1 heads."""

from __future__ import annotations

from collections.abc import Mapping

from specconf.facts import Derivation, Fact, Facts, Known, Missing


def _dspark(facts: Facts, key: str, own: str) -> Fact:
    """A number or list of a DSpark drafter by the spellings the engine takes, in its order; Known(None) where it has none."""
    spellings = (f"dspark_config.{key}", f"dflash_config.{key}", own, key)
    for fact in (facts.get(f"draft.config.{spelling}") for spelling in spellings):
        if not isinstance(fact, Known) or fact.value is not None:
            return fact
    return Known(None)


def _dspark_layers(facts: Facts) -> Fact:
    """The target layers that the drafter was trained on, as its checkpoint lists them."""
    return _dspark(facts, "target_layer_ids", "dspark_target_layer_ids")


def _dspark_block(facts: Facts) -> Fact:
    """The block of a DSpark drafter: written, else the checkpoint's, else max_draft_len."""
    written = facts.get("option.speculative_config.block_size")
    if not isinstance(written, Known) or written.value is not None:
        return written
    block = _dspark(facts, "block_size", "dspark_block_size")
    if not isinstance(block, Known) or block.value is not None:
        return block
    return facts.get("option.speculative_config.max_draft_len")


def _eagle_3_1(facts: Facts) -> Fact:
    """Whether the draft is an EAGLE-3.1 head: its config asks for a norm of its own inputs or outputs."""
    found = [facts.get(f"draft.config.{key}") for key in ("fc_norm", "norm_output")]
    if any(isinstance(fact, Known) and fact.value is True for fact in found):
        return Known(True)
    missing = next((fact for fact in found if isinstance(fact, Missing)), None)
    return missing if missing is not None else Known(False)


DERIVATIONS: Mapping[str, Derivation] = {
    "dspark_layers": _dspark_layers,
    "dspark_block": _dspark_block,
    "eagle_3_1_head": _eagle_3_1,
}
