"""The engine-neutral spec file: model, loading with places, writing, schema.

Names are imported on use, so that reading YAML here does not import pydantic.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from specconf.spec.dump import dump_spec
    from specconf.spec.fields import ALL_FIELDS, SPEC_DEFAULTS
    from specconf.spec.loading import LoadedSpec, load_spec
    from specconf.spec.methods import METHODS, Method
    from specconf.spec.model import Spec
    from specconf.spec.problems import Problem, SpecError
    from specconf.spec.schema import spec_schema

_HOMES = {
    "ALL_FIELDS": "fields",
    "LoadedSpec": "loading",
    "METHODS": "methods",
    "Method": "methods",
    "Problem": "problems",
    "SPEC_DEFAULTS": "fields",
    "Spec": "model",
    "SpecError": "problems",
    "dump_spec": "dump",
    "load_spec": "loading",
    "spec_schema": "schema",
}

__all__ = [
    "ALL_FIELDS",
    "METHODS",
    "SPEC_DEFAULTS",
    "LoadedSpec",
    "Method",
    "Problem",
    "Spec",
    "SpecError",
    "dump_spec",
    "load_spec",
    "spec_schema",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{home}"), name)
