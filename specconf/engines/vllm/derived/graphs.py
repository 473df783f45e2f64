"""Compilation and CUDA graphs as the launch asks for them."""

from __future__ import annotations

from collections.abc import Mapping

from specconf.engines.vllm.derived.members import member
from specconf.facts import Derivation, Fact, Facts, Known, Missing

_COMPILATION_MODES: Mapping[str, str] = {"0": "NONE", "1": "STOCK_TORCH_COMPILE"}
_GRAPH_MODES: Mapping[str, str] = {"0": "NONE", "1": "PIECEWISE"}
_NO_OPTIMIZATION = ("0", "O0")


def compilation_mode(facts: Facts) -> Fact:
    """The compilation mode that --compilation-config names, by its name; None where it names none."""
    mode = member(facts, "compilation_config", "mode")
    if not isinstance(mode, Known) or mode.value is None:
        return mode
    return Known(_COMPILATION_MODES.get(str(mode.value), str(mode.value).upper()))


def sequence_parallelism(facts: Facts) -> Fact:
    """Whether --compilation-config asks for sequence parallelism."""
    return member(facts, "compilation_config", "pass_config", "enable_sp")


def sequence_parallelism_by_old_key(facts: Facts) -> Fact:
    """The same by the key of before 0.12.0."""
    return member(facts, "compilation_config", "pass_config", "enable_sequence_parallelism")


def sequence_parallelism_kept(facts: Facts) -> Fact:
    """Whether sequence parallelism is asked for from a length on that the launch says: without one a table of GPUs and widths
    decides whether it stays on.
    """
    asked = sequence_parallelism(facts)
    if not isinstance(asked, Known) or asked.value is not True:
        return Known(False) if isinstance(asked, Known) else asked
    length = member(facts, "compilation_config", "pass_config", "sp_min_token_num")
    if isinstance(length, Known) and length.value is None:
        return Missing("whether the engine keeps sequence parallelism on")
    return Known(True) if isinstance(length, Known) else length


def cudagraph_mode(facts: Facts) -> Fact:
    """The CUDA-graph mode that the launch asks for, in upper case; None where the engine chooses. A CPU has no such graphs."""
    if facts.get("hardware.platform") == Known("cpu"):
        return Known("NONE")
    eager = facts.get("option.enforce_eager")
    if not isinstance(eager, Known):
        return eager
    mode = member(facts, "compilation_config", "cudagraph_mode")
    level = facts.get("asked.optimization_level")
    if eager.value is True:
        return Known("NONE")
    if not isinstance(mode, Known) or mode.value is not None:
        return Known(_GRAPH_MODES.get(str(mode.value), str(mode.value).upper())) if isinstance(mode, Known) else mode
    if not isinstance(level, Known):
        return level
    return Known("NONE" if level.value is not None and str(level.value) in _NO_OPTIMIZATION else None)


DERIVATIONS: Mapping[str, Derivation] = {
    "compilation_mode": compilation_mode,
    "sequence_parallelism": sequence_parallelism,
    "sequence_parallelism_by_old_key": sequence_parallelism_by_old_key,
    "sequence_parallelism_kept": sequence_parallelism_kept,
    "cudagraph_mode": cudagraph_mode,
}
