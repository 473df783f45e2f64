"""TensorRT-LLM: what its launches mean at each release. `ENGINE` is what `specconf.engines.registry` hands out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from specconf.compat.database import View
from specconf.engines.base import Artifact, Fields, LowerContext, Models, Transform
from specconf.facts import Derivation
from specconf.settings import Settings
from specconf.words import Launch


@dataclass(frozen=True, slots=True)
class TensorRTLLM:
    """The engine protocol for TensorRT-LLM; each part is imported on use."""

    name: str = "tensorrt-llm"
    title: str = "TensorRT-LLM"
    model_path: str = "model"
    draft_path: str = "speculative_config.speculative_model"
    abbreviations: bool = False

    @property
    def option_scopes(self) -> Mapping[str, str]:
        """`options` holds keys of the YAML file, `cli` flags."""
        return {"options": "trtllm.yaml", "cli": "trtllm.cli"}

    @property
    def transforms(self) -> Mapping[str, Transform]:
        """Value transforms of the mapping table."""
        from specconf.engines.tensorrt_llm.transforms import TRANSFORMS

        return TRANSFORMS

    @property
    def derivations(self) -> Mapping[str, Derivation]:
        """Facts under `derived.`."""
        from specconf.engines.tensorrt_llm.derived import DERIVATIONS

        return DERIVATIONS

    def lower_speculation(self, context: LowerContext) -> None:
        """See `lower`."""
        from specconf.engines.tensorrt_llm.lower import lower_speculation

        lower_speculation(context)

    def lift_speculation(self, settings: Settings, view: View, models: Models) -> Fields:
        """See `lift`."""
        from specconf.engines.tensorrt_llm.lift import lift_speculation

        return lift_speculation(settings, view, models)

    def part_of_several(self, settings: Settings) -> str:
        """A server role or cluster of a disaggregated deployment."""
        named = [path for path in ("cli.server_role", "cli.disagg_cluster_uri") if settings.get(path)]
        return f"{named[0].removeprefix('cli.')} joins a disaggregated deployment" if named else ""

    def resolve(self, launch: Launch, view: View) -> Settings:
        """See `read`."""
        from specconf.engines.tensorrt_llm.read import resolve

        return resolve(launch, view)

    def emit(self, settings: Settings, view: View, form: str) -> Artifact:
        """See `emit`."""
        from specconf.engines.tensorrt_llm.emit import emit

        return emit(settings, view, form)


ENGINE = TensorRTLLM()
