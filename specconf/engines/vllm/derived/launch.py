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
_SPECULATIVE_KEYS = (
    "num_speculative_tokens", "num_spec_tokens", "speculative_config", "speculative_model", "speculative_method",
    "prompt_lookup_max", "prompt_lookup_min", "draft_tensor_parallel_size", "draft_sample_method", "rejection_sample_method",
)  # fmt: skip
# Options that hold an object of which the engine reads a few keys and says nothing about the others.
_SILENT_OBJECTS = ("additional_config", "override_generation_config")
# From here on, of 100, one key is another one misspelt: two or three letters of the longest, one of the shortest.
_MISSPELT = 89


def _elsewhere(facts: Facts) -> Fact:
    """Option, key and method of the first piece of a speculative config in an object that does not read it."""
    unknown: Fact | None = None
    for option in _SILENT_OBJECTS:
        asked = facts.get(f"asked.{option}")
        if not isinstance(asked, Known):
            unknown = unknown or asked
        elif isinstance(asked.value, dict):
            key = next((key for key in asked.value if _speculative(key)), None)
            method = asked.value.get("method")
            method = method if isinstance(method, str) else None
            if key is not None or method is not None:
                return Known([f"--{option.replace('_', '-')}", key, method])
    return unknown or Known([None, None, None])


def _speculative(key: str) -> bool:
    """Whether a key belongs to the speculative config and to nothing else, misspelt or not."""
    from rapidfuzz import fuzz

    plain = key.lower().replace("-", "_")
    return any(fuzz.ratio(plain, known) >= _MISSPELT for known in _SPECULATIVE_KEYS)


def _part(index: int, doc: str) -> Derivation:
    def derive(facts: Facts) -> Fact:
        found = _elsewhere(facts)
        return Known(found.value[index]) if isinstance(found, Known) and isinstance(found.value, list) else found

    derive.__doc__ = doc
    return derive


speculation_elsewhere_in = _part(
    0, "The flag of the object that holds a piece of a speculative config and does not read it."
)
speculation_elsewhere = _part(1, "The key of the speculative config, misspelt or not, that such an object holds.")
method_elsewhere = _part(2, "The value of the key `method` that such an object holds.")


DERIVATIONS: Mapping[str, Derivation] = {
    "attention_backend": attention_backend,
    "config_file_in_one_word": config_file_in_one_word,
    "speculation_elsewhere": speculation_elsewhere,
    "speculation_elsewhere_in": speculation_elsewhere_in,
    "method_elsewhere": method_elsewhere,
}
