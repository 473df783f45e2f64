"""Target and draft checkpoints: what a config.json says, and where to find one.

`facts` holds the values, `derive` and `kinds` compute them from a parsed config; those of one topic have a module of their
own (`mla`, `moe`, `rope`, `quantization`, `heads`), as have the files beside it (`weights`, `tokenizers`). `rows` reads
`compat/checkpoints`, `files` and `hub` read the outside, `resolve` puts them in order. Only `hub` ever imports
huggingface_hub, and only when asked to be online.
"""

from __future__ import annotations

from specconf.models.derive import model_facts
from specconf.models.facts import FACT_NAMES, Missing, ModelFacts, Source, SourceKind
from specconf.models.kinds import Kind
from specconf.models.resolve import (
    Cause,
    Mode,
    Resolver,
    Unavailable,
    default_cache_dir,
    effective_mode,
    resolve_model,
)
from specconf.models.rows import CheckpointRow, checkpoint_row, checkpoint_rows, index_rows, load_checkpoint_rows

__all__ = [
    "FACT_NAMES",
    "Cause",
    "CheckpointRow",
    "Kind",
    "Missing",
    "Mode",
    "ModelFacts",
    "Resolver",
    "Source",
    "SourceKind",
    "Unavailable",
    "checkpoint_row",
    "checkpoint_rows",
    "default_cache_dir",
    "effective_mode",
    "index_rows",
    "load_checkpoint_rows",
    "model_facts",
    "resolve_model",
]
