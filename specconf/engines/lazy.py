"""What every engine object does alike: name itself, and hand out its parts, each imported on use."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from msgspec import Struct, field

from specconf.compat.view import View
from specconf.engines.base import Artifact, Fields, LowerContext, Models, Transform
from specconf.engines.common import DERIVATIONS as COMMON
from specconf.engines.pycall import PyCall
from specconf.engines.serving import Serving
from specconf.facts import Derivation
from specconf.settings import Settings
from specconf.words import Launch


class LazyEngine(Struct, frozen=True):
    """`specconf.engines.base.Engine` for a package whose modules hold the parts.

    `package` is the engine's own package. `reader` names its module with `resolve`; the other modules have the same names in
    every engine: `transforms`, `derived`, `lower`, `lift`, `emit`, `serving`, `pycall`.
    """

    package: str
    name: str
    title: str
    model_path: str
    draft_path: str
    abbreviations: bool
    option_scopes: Mapping[str, str] = field(default_factory=dict)
    reader: str = "read"
    effective_paths: tuple[str, ...] = ()

    def _part(self, module: str, attribute: str) -> Any:
        return getattr(import_module(f"{self.package}.{module}"), attribute)

    @property
    def transforms(self) -> Mapping[str, Transform]:
        """Named value transforms of the mapping table."""
        transforms: Mapping[str, Transform] = self._part("transforms", "TRANSFORMS")
        return transforms

    @property
    def derivations(self) -> Mapping[str, Derivation]:
        """Facts under `derived.`: those of every engine, and its own."""
        return {**COMMON, **self._part("derived", "DERIVATIONS")}

    def lower_speculation(self, context: LowerContext) -> None:
        """Write the fields that the mapping table leaves to the method."""
        self._part("lower", "lower_speculation")(context)

    def lift_speculation(self, settings: Settings, view: View, models: Models) -> Fields:
        """The best guess at the speculation fields."""
        fields: Fields = self._part("lift", "lift_speculation")(settings, view, models)
        return fields

    def resolve(self, launch: Launch, view: View) -> Settings:
        """A launch's words as settings."""
        settings: Settings = self._part(self.reader, "resolve")(launch, view)
        return settings

    def emit(self, settings: Settings, view: View, form: str) -> Artifact:
        """Settings as a launch."""
        artifact: Artifact = self._part("emit", "emit")(settings, view, form)
        return artifact

    @property
    def serving(self) -> Serving:
        """Its server, as deploy files have to know it."""
        serving: Serving = self._part("serving", "SERVING")
        return serving

    def python_call(self, settings: Settings, view: View) -> PyCall:
        """Settings as a call in Python."""
        call: PyCall = self._part("pycall", "call")(settings, view)
        return call
