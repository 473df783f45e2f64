"""Why a file is not parsed at all: what its bytes show. Nothing is imported here, since most files end here."""

from __future__ import annotations

import re

# What every file with a launch holds, in some case: looked for in the bytes before anything is parsed.
MENTIONS = re.compile(rb"vllm|sglang|trt-?llm|tensorrt|speculati|sgl\.|llm_configs", re.IGNORECASE)
LARGEST = 4 * 1024 * 1024
BASELINE_MARK = b'"specconf_baseline"'


def cannot_hold_a_launch(data: bytes) -> str:
    """Why a file with these bytes is skipped before anything is parsed; empty where it is not."""
    if not MENTIONS.search(data):
        return "no engine is mentioned"
    if BASELINE_MARK in data[:64]:
        return "a baseline of specconf"
    return f"larger than {LARGEST // 1024 // 1024} MiB" if len(data) > LARGEST else ""
