"""TensorRT-LLM: what its launches mean at each release. `ENGINE` is what `specconf.engines.registry` hands out.

Its source is not on the package index: what its releases have stands in compat/tensorrt-llm, imported, with brackets where
a release was not read.
"""

from __future__ import annotations

from specconf.engines.lazy import LazyEngine
from specconf.settings import Settings


class TensorRTLLM(LazyEngine, frozen=True):
    """The engine protocol for TensorRT-LLM."""

    def part_of_several(self, settings: Settings) -> str:
        """A server role or cluster of a disaggregated deployment."""
        named = [path for path in ("cli.server_role", "cli.disagg_cluster_uri") if settings.get(path)]
        return f"{named[0].removeprefix('cli.')} joins a disaggregated deployment" if named else ""


# `options` holds keys of the YAML file, `cli` flags.
ENGINE = TensorRTLLM(
    package=__name__,
    name="tensorrt-llm",
    title="TensorRT-LLM",
    model_path="model",
    draft_path="speculative_config.speculative_model",
    abbreviations=False,
    option_scopes={"options": "trtllm.yaml", "cli": "trtllm.cli"},
)
