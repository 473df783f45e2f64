"""What launches of one deployment say about each other: those that serve the same model and hand over its KV cache are the
roles of one deployment, prefill and decode, and each gets the facts `role.*` about its peers.
"""

from __future__ import annotations

from collections.abc import Sequence

from specconf.engines.vllm.emit import MODEL
from specconf.settings import Settings
from specconf.words import JsonValue

_TRANSFER = "kv_transfer_config"
_LENGTH = "speculative_config.num_speculative_tokens"


def role_facts(launches: Sequence[Settings]) -> list[dict[str, JsonValue]]:
    """For each launch of a file: how many tokens it drafts, and how many its peers do; 0 for none.

    Nothing for a launch without peers, or where a number is not known. Peers that differ among each other are told as the
    first that differs from the launch.
    """
    return [_facts(own, [other for other in launches if other is not own and _peers(own, other)]) for own in launches]


def _facts(own: Settings, peers: Sequence[Settings]) -> dict[str, JsonValue]:
    length = _length(own)
    known = [number for peer in peers if (number := _length(peer)) is not None]
    if length is None or not known or len(known) < len(peers):
        return {}
    other = next((number for number in known if number != length), known[0])
    return {"role.draft_length": length, "role.peer_draft_length": other}


def _peers(left: Settings, right: Settings) -> bool:
    model = left.get(MODEL)
    return isinstance(model, str) and model == right.get(MODEL) and all(_transfers(s) for s in (left, right))


def _transfers(settings: Settings) -> bool:
    return any(path == _TRANSFER or path.startswith(f"{_TRANSFER}.") for path in settings)


def _length(settings: Settings) -> int | None:
    """The draft tokens of a launch; None where they are not known, or left to the engine."""
    number = settings.get(_LENGTH)
    if isinstance(number, int) and not isinstance(number, bool):
        return number
    speculates = any(path.startswith("speculative_config") for path in settings)
    return None if speculates or settings.may_hold_more else 0
