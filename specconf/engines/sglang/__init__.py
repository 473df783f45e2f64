"""SGLang: what its launches mean at each release. `ENGINE` is what `specconf.engines.registry` hands out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from specconf.compat.database import View
from specconf.engines.base import Artifact, Fields, LowerContext, Models, Transform
from specconf.facts import Derivation
from specconf.settings import Settings
from specconf.words import Launch


@dataclass(frozen=True, slots=True)
class SGLang:
    """The engine protocol for SGLang; each part is imported on use."""

    name: str = "sglang"
    title: str = "SGLang"
    model_path: str = "model_path"
    draft_path: str = "speculative_draft_model_path"
    abbreviations: bool = True

    @property
    def option_scopes(self) -> Mapping[str, str]:
        """The section of the spec whose keys are flags."""
        return {"options": "sglang.cli"}

    @property
    def transforms(self) -> Mapping[str, Transform]:
        """Value transforms of the mapping table."""
        from specconf.engines.sglang.transforms import TRANSFORMS

        return TRANSFORMS

    @property
    def derivations(self) -> Mapping[str, Derivation]:
        """Facts under `derived.`."""
        from specconf.engines.sglang.derived import DERIVATIONS

        return DERIVATIONS

    def lower_speculation(self, context: LowerContext) -> None:
        """See `lower`."""
        from specconf.engines.sglang.lower import lower_speculation

        lower_speculation(context)

    def lift_speculation(self, settings: Settings, view: View, models: Models) -> Fields:
        """See `lift`."""
        from specconf.engines.sglang.lift import lift_speculation

        return lift_speculation(settings, view, models)

    def part_of_several(self, settings: Settings) -> str:
        """A node of several, or a prefill or decode role."""
        mode, nodes = settings.get("disaggregation_mode"), settings.get("nnodes")
        if mode in ("prefill", "decode"):
            return f"disaggregation_mode {mode} is one side of a disaggregated deployment"
        return f"nnodes is {nodes}" if isinstance(nodes, int) and nodes > 1 else ""

    def resolve(self, launch: Launch, view: View) -> Settings:
        """See `read`."""
        from specconf.engines.sglang.read import resolve

        return resolve(launch, view)

    def emit(self, settings: Settings, view: View, form: str) -> Artifact:
        """See `emit`."""
        from specconf.engines.sglang.emit import emit

        return emit(settings, view, form)


ENGINE = SGLang()
