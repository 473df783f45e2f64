"""Which layers a list of modules left unquantised reaches under the names that the engine itself gives them."""

from __future__ import annotations

from collections.abc import Mapping

from specconf.facts import Derivation, Fact, Facts, Known, Missing
from specconf.patterns import pattern

_REGEX = "re:"
_NUMBER = pattern(r"layers\\?[.\[]+(\d{1,6})")
# Parts that a pattern can leave out in every layer and that are not the experts.
_PARTS = ("gate", "attn", "head", "embed", "norm", "index", "compress", "lm_head", "vision", "visual", "audio")


def numbered_mtp_left_out(facts: Facts) -> Fact:
    """Whether the target's list of modules left out reaches MTP layers which the engine names by number, as one more layer.

    An entry that speaks of `mtp` does not: it is compared with names in which that word does not stand. Patterns are looked
    at, not run: one that could reach whole layers leaves it unknown.
    """
    listed, layers = facts.get("target.quantization_ignores"), facts.get("target.num_layers")
    if not isinstance(layers, Known):
        return layers
    if not isinstance(listed, Known):
        return listed
    entries = [entry for entry in listed.value if isinstance(entry, str)] if isinstance(listed.value, list) else []
    reaches = [_reaches(entry, layers.value) for entry in entries]
    if None in reaches:
        return Missing(
            "whether a pattern of the modules left out reaches the MTP layers", "specconf does not run patterns"
        )
    return Known(any(reaches))


def _reaches(entry: str, layers: object) -> bool | None:
    """Whether one entry reaches a layer beyond the target's own; None where only running it would tell."""
    numbers = [int(found) for found in _NUMBER.findall(entry)]
    if not entry.startswith(_REGEX):
        return isinstance(layers, int) and any(number >= layers for number in numbers)
    if "|" in entry or "(?" in entry:
        return None
    words = entry.lower()
    if "mtp" in words or "nextn" in words or any(part in words for part in _PARTS):
        return False
    return None


DERIVATIONS: Mapping[str, Derivation] = {"numbered_mtp_left_out": numbered_mtp_left_out}
