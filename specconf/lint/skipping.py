"""Why a file is not parsed at all: what its bytes show. Nothing is imported here, since most files end here."""

from __future__ import annotations

# One of these stands in every file with a launch, in some case: looked for in the bytes before anything is parsed.
WORDS = (b"vllm", b"sglang", b"trtllm", b"trt-llm", b"tensorrt", b"speculati", b"sgl.", b"llm_configs")
_WIDE_MARKS = (b"\xff\xfe", b"\xfe\xff", b"\0\0\xfe\xff")
LARGEST = 4 * 1024 * 1024
TOO_LARGE = f"larger than {LARGEST // 1024 // 1024} MiB"
BASELINE_MARK = b'"specconf_baseline"'


def cannot_hold_a_launch(data: bytes) -> str:
    """Why a file with these bytes is skipped before anything is parsed; empty where it is not."""
    if len(data) > LARGEST:
        return TOO_LARGE
    lowered = data.lower()
    if data.startswith(_WIDE_MARKS):
        lowered = lowered.replace(b"\0", b"")
    if not any(word in lowered for word in WORDS):
        return "no engine is mentioned"
    return "a baseline of specconf" if BASELINE_MARK in data[:64] else ""


def why_no_text(data: bytes) -> tuple[str, str, int, int]:
    """Why bytes are no text that is read: in a word, in full, and the line and column; empty where they are one."""
    if data.startswith(_WIDE_MARKS):
        return "UTF-16 or UTF-32 text", "this is UTF-16 or UTF-32, and only UTF-8 is read", 1, 1
    try:
        at = data.decode("utf-8").find("\0")
        before = data.decode("utf-8")[:at] if at >= 0 else ""
        short, full = "no text file", "a NUL character stands here, which no text file holds"
    except UnicodeDecodeError as error:
        at, before = error.start, data[: error.start].decode("utf-8")
        short, full = "not UTF-8 text", f"this is not UTF-8: byte 0x{data[at]:02x}"
    if at < 0:
        return "", "", 0, 0
    return short, full, before.count("\n") + 1, len(before) - before.rfind("\n")
