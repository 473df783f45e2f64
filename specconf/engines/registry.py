"""The engines, each imported on use."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from specconf.compat.names import ENGINE_NAMES
from specconf.engines.base import Engine
from specconf.errors import OracleError

if TYPE_CHECKING:
    from specconf.oracle.engine import EngineOracle
    from specconf.oracle.factors import Factors
    from specconf.oracle.serving import Serving

_MODULES = {
    "vllm": "specconf.engines.vllm",
    "sglang": "specconf.engines.sglang",
    "tensorrt-llm": "specconf.engines.tensorrt_llm",
}
assert tuple(_MODULES) == ENGINE_NAMES


@cache
def get_engine(name: str) -> Engine:
    """An engine by its name."""
    engine: Engine = import_module(_MODULES[name]).ENGINE
    return engine


@cache
def get_oracle(name: str) -> EngineOracle:
    """How an engine's releases are asked. OracleError for an engine that cannot be."""
    module = f"{_MODULES[name]}.oracle"
    try:
        oracle: EngineOracle = import_module(module).ORACLE
    except ModuleNotFoundError as error:
        if error.name != module:
            raise
        raise OracleError(f"{get_engine(name).title} cannot be asked without a GPU.") from None
    return oracle


@cache
def get_factors(name: str) -> Factors:
    """What an engine's launches differ in, for an engine that can be asked."""
    get_oracle(name)
    factors: Factors = import_module(f"{_MODULES[name]}.oracle.factors").FACTORS
    return factors


@cache
def get_serving(name: str) -> Callable[..., Serving]:
    """What builds the environments in which an engine's releases really serve. OracleError for an engine that has none."""
    module = f"{_MODULES[name]}.oracle.serving"
    try:
        build: Callable[..., Serving] = import_module(module).build
    except ModuleNotFoundError as error:
        if not error.name or not module.startswith(error.name):
            raise
        raise OracleError(
            f"{get_engine(name).title} does not serve without a GPU, so nothing of it is loaded."
        ) from None
    return build
