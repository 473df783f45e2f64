"""Why a file is not parsed at all: what its bytes show. Nothing is imported here, since most files end here."""

from __future__ import annotations

# One of these stands in every file with a launch, in some case: looked for in the bytes before anything is parsed.
WORDS = (b"vllm", b"sglang", b"trtllm", b"trt-llm", b"tensorrt", b"speculati", b"sgl.", b"llm_configs")
LARGEST = 4 * 1024 * 1024
BASELINE_MARK = b'"specconf_baseline"'


def cannot_hold_a_launch(data: bytes) -> str:
    """Why a file with these bytes is skipped before anything is parsed; empty where it is not."""
    lowered = data.lower()
    if not any(word in lowered for word in WORDS):
        return "no engine is mentioned"
    if BASELINE_MARK in data[:64]:
        return "a baseline of specconf"
    return f"larger than {LARGEST // 1024 // 1024} MiB" if len(data) > LARGEST else ""
