"""How the engine has the target's weights read and in which data type it computes, a length that is written as text,
and members of options that some releases do not know."""

from __future__ import annotations

from collections.abc import Mapping

from specconf.engines.vllm.derived.members import member
from specconf.engines.vllm.derived.speculation import CONFIG
from specconf.facts import Derivation, Fact, Facts, Known, Missing

# What ModelOpt's format makes of the method that its checkpoints name.
_MODELOPT = {
    "FP8": "modelopt",
    "NVFP4": "modelopt_fp4",
    "MXFP8": "modelopt_mxfp8",
    "MIXED_PRECISION": "modelopt_mixed",
}
_AS_NAMED = ("fp8", "compressed-tensors")  # no other method takes such a checkpoint over, but for DeepSeek-V4
_SPELLINGS = {"half": "float16", "float": "float32"}
_HALVES = ("float16", "bfloat16")


def target_quantization(facts: Facts) -> Fact:
    """The method that the target's weights are read with: as written, else as its checkpoint says; None without one."""
    asked, named, overrides = (
        facts.get(path) for path in ("asked.quantization", "target.quantization", "asked.hf_overrides")
    )
    if asked != Known(None):
        return facts.get("option.quantization")
    if not isinstance(named, Known) or named.value is None:
        return named
    if overrides != Known(None):
        return Missing("what --hf-overrides makes of the target's quantization")
    if named.value in _AS_NAMED:
        family = facts.get("target.model_type")
        taken_over = family == Known("deepseek_v4") and named.value == "fp8"
        return Known("deepseek_v4_fp8" if taken_over else named.value) if isinstance(family, Known) else family
    form = facts.get("target.quantization_format")
    if named.value == "modelopt" and isinstance(form, Known) and form.value in _MODELOPT:
        return Known(_MODELOPT[str(form.value)])
    return Missing("the method that the release reads the target's weights with")


def compute_dtype(facts: Facts) -> Fact:
    """The data type that the target computes in: as written, else the half precision that its config names."""
    written = facts.get("option.dtype")
    if not isinstance(written, Known):
        return written
    if written.value not in ("auto", None):
        return Known(_SPELLINGS.get(str(written.value), str(written.value)))
    named = facts.get("target.dtype")
    if isinstance(named, Known) and str(named.value).removeprefix("torch.") in _HALVES:
        return Known(str(named.value).removeprefix("torch."))
    return Missing("the data type that the release chooses for the target")


def length_written_as_text(facts: Facts) -> Fact:
    """The number that K is where it is written as text; 0 where it is not."""
    written = facts.get(f"asked.{CONFIG}.num_speculative_tokens")
    if not isinstance(written, Known):
        return written
    text = written.value if isinstance(written.value, str) else ""
    return Known(int(text) if text.isascii() and text.isdigit() else 0)


DERIVATIONS: Mapping[str, Derivation] = {
    "attention_indexer_dtype": lambda facts: member(facts, "attention_config", "indexer_kv_dtype"),
    "rope_fusion": lambda facts: member(facts, "compilation_config", "pass_config", "fuse_rope_kvcache"),
    "target_quantization": target_quantization,
    "compute_dtype": compute_dtype,
    "length_written_as_text": length_written_as_text,
}
