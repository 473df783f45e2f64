"""Facts under `derived.`: what TensorRT-LLM makes of a launch as a whole."""

from __future__ import annotations

from collections.abc import Mapping

from specconf.engines.tensorrt_llm import common
from specconf.facts import Derivation, Fact, Facts, Known, Missing, OneOf

_TENSORRT = {"tensorrt", "trt"}


def _backend(facts: Facts) -> Fact:
    """`pytorch`, `tensorrt` or `_autodeploy`: the part of the engine that runs the model."""
    backend = facts.get("option.cli.backend")
    if isinstance(backend, OneOf):
        names = {"tensorrt" if value in _TENSORRT else value for value in backend.values}
        return OneOf(tuple(names)) if len(names) > 1 else Known(names.pop())
    if isinstance(backend, Missing):
        return backend
    return Known("tensorrt") if backend.value in _TENSORRT else backend


DERIVATIONS: Mapping[str, Derivation] = {**common.DERIVATIONS, "backend": _backend}
