"""Facts of the command line itself."""

from __future__ import annotations

from collections.abc import Mapping

from specconf.facts import Derivation, Fact, Facts, Known, Missing
from specconf.settings import Origin


def attention_backend(facts: Facts) -> Fact:
    """The attention backend that --attention-backend names, in the upper case in which the engine looks it up."""
    asked = facts.get("asked.attention_backend")
    if isinstance(asked, Known) and isinstance(asked.value, str):
        return Known(asked.value.upper())
    return asked


def config_file_in_one_word(facts: Facts) -> Fact:
    """Whether the command line names an option file as --config=FILE: the two-word form is read, and leaves no setting."""
    setting = facts.settings.items_by_path.get("config")
    if setting is None:
        return Missing("unresolved words of the launch") if facts.settings.may_hold_more else Known(False)
    return Known(setting.final.origin not in {Origin.SPEC, Origin.OPTION})


# Keys that say nothing but speculation, by whatever name an object has.
_SPECULATIVE_KEYS = ("num_speculative_tokens", "speculative_config", "speculative_model")


def speculation_elsewhere(facts: Facts) -> Fact:
    """The key of the speculative config that --additional-config holds instead; None where it holds none."""
    asked = facts.get("asked.additional_config")
    if not isinstance(asked, Known):
        return asked
    members = asked.value if isinstance(asked.value, dict) else {}
    return Known(next((key for key in _SPECULATIVE_KEYS if key in members), None))


DERIVATIONS: Mapping[str, Derivation] = {
    "attention_backend": attention_backend,
    "config_file_in_one_word": config_file_in_one_word,
    "speculation_elsewhere": speculation_elsewhere,
}
