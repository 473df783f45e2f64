"""The environment variables that an engine's process sees: neither the user's tokens nor settings that an engine reads."""

from __future__ import annotations

import os
from pathlib import Path

# What of the user's environment an engine may see: enough to find programs, caches and a language.
_PASSED_ON = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "USER", "LD_LIBRARY_PATH")
# The tests' and a machine's own limits on threads make no difference to a verdict.
_THREADS = {"OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false", "COLUMNS": "100"}
_OFFLINE = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}


def isolated(cache: Path | None = None) -> dict[str, str]:
    """A small environment. `cache`: where the engine and its libraries may keep things between runs."""
    kept = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    homes = {}
    if cache is not None:
        homes = {"VLLM_CACHE_ROOT": str(cache / "vllm"), "HF_HOME": str(cache / "hf"), "SPECCONF_CACHE": str(cache)}
    return kept | _THREADS | _OFFLINE | homes
