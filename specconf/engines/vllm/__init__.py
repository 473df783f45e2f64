"""vLLM: everything that knows this engine. What differs between its releases stands in compat/vllm."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from specconf.compat.database import View
from specconf.engines.base import Artifact, Fields, LowerContext, Models, Transform
from specconf.facts import Derivation
from specconf.settings import Settings
from specconf.words import Launch


@dataclass(frozen=True, slots=True)
class VllmEngine:
    """The engine as `specconf.engines.base.Engine` wants it; its parts are imported on use."""

    name: str = "vllm"
    title: str = "vLLM"
    model_path: str = "model"
    draft_path: str = "speculative_config.model"
    abbreviations: bool = True
    option_scopes: Mapping[str, str] = field(default_factory=lambda: {"options": "vllm.cli"})

    @property
    def transforms(self) -> Mapping[str, Transform]:
        """Named value transforms of mapping.yaml."""
        from specconf.engines.vllm.transforms import TRANSFORMS

        return TRANSFORMS

    @property
    def derivations(self) -> Mapping[str, Derivation]:
        """Facts under `derived.`."""
        from specconf.engines.vllm.derived import DERIVATIONS

        return DERIVATIONS

    def lower_speculation(self, context: LowerContext) -> None:
        """Write the fields that mapping.yaml leaves to the method."""
        from specconf.engines.vllm.lower import lower_speculation

        lower_speculation(context)

    def lift_speculation(self, settings: Settings, view: View, models: Models) -> Fields:
        """The best guess at the speculation fields."""
        from specconf.engines.vllm.lift import lift_speculation

        return lift_speculation(settings, view, models)

    def part_of_several(self, settings: Settings) -> str:
        """A node of several, or a prefill or decode role (a connector that only offloads the KV cache is neither)."""
        transfer = settings.get("kv_transfer_config")
        role = transfer.get("kv_role") if isinstance(transfer, dict) else None
        if role in ("kv_producer", "kv_consumer"):
            return f"kv_role {role} is one side of a disaggregated deployment"
        nodes = settings.get("nnodes")
        return f"nnodes is {nodes}" if isinstance(nodes, int) and nodes > 1 else ""

    def resolve(self, launch: Launch, view: View) -> Settings:
        """A launch's words as settings."""
        from specconf.engines.vllm.options import resolve

        return resolve(launch, view)

    def emit(self, settings: Settings, view: View, form: str) -> Artifact:
        """Settings as a launch."""
        from specconf.engines.vllm.emit import emit

        return emit(settings, view, form)


ENGINE = VllmEngine()
