"""Why we answer otherwise than SGLang was recorded to, or do not know: by set and launch, for the comparison's page."""

from __future__ import annotations

REASONS: dict[tuple[str, str], str] = {}


def reason(name: str, probe: str, release: str, text: str) -> str:
    """The reason, or nothing."""
    del release, text
    return REASONS.get((name, probe), "")
