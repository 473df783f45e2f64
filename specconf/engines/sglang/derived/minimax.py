"""MiniMax-M3.1 checkpoints whose experts are packed as NVFP4, which the engine serves in a way of its own."""

from __future__ import annotations

from collections.abc import Mapping

from specconf.facts import Derivation, Fact, Facts, Known, Missing

SCHEME = "minimax_m3_nvfp4"
_ARCHITECTURES = {"MiniMaxM3SparseForCausalLM", "MiniMaxM3SparseForConditionalGeneration"}


def minimax_m3_nvfp4(facts: Facts) -> Fact:
    """Whether the target is such a checkpoint, or the launch asks for its scheme by name."""
    architecture = facts.get("target.architecture")
    if not isinstance(architecture, Known):
        return architecture
    if architecture.value not in _ARCHITECTURES:
        return Known(False)
    asked = facts.get("option.quantization")
    if not isinstance(asked, Known) or asked.value is not None:
        return Known(asked.value == SCHEME) if isinstance(asked, Known) else asked
    return _declared(facts)


def _declared(facts: Facts) -> Fact:
    """Whether the config says so: MXFP8 projections whose experts are NVFP4, or the scheme's own name."""
    method, algorithm, layout = (
        facts.get(f"target.config.quantization_config.{key}")
        for key in ("quant_method", "moe_quant_algo", "moe_quant_format")
    )
    if isinstance(method, Missing):
        return method
    if method == Known(SCHEME):
        return Known(True)
    if method != Known("mxfp8"):
        return Known(False)
    missing = next((fact for fact in (algorithm, layout) if isinstance(fact, Missing)), None)
    if missing is not None:
        return missing
    packed = isinstance(algorithm, Known) and str(algorithm.value).upper() == "NVFP4"
    return Known(packed and layout == Known("nvfp4-pack-quantized"))


DERIVATIONS: Mapping[str, Derivation] = {"minimax_m3_nvfp4": minimax_m3_nvfp4}
