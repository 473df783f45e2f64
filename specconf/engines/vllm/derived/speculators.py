"""Checkpoints in the format of the speculators library: what the one that is served brings along, and what it lacks."""

from __future__ import annotations

from collections.abc import Mapping

from specconf.facts import Derivation, Fact, Facts, Known, Missing
from specconf.patterns import pattern
from specconf.words import JsonValue

# What the engine makes of an algorithm of the library that is no method of its own.
_METHODS: Mapping[str, str] = {"peagle": "eagle3", "dflash2": "dflash"}
# What a name of an architecture says beside its family: the same weights go by several endings.
_FAMILY = pattern(r"(Text)?(For\w+|Model|LMHeadModel)$")


def served(facts: Facts) -> Fact:
    """Whether the served checkpoint is known to be one; a config that is not at hand is taken for that of a plain model."""
    config = facts.get("checkpoint.config.speculators_config")
    return Known(isinstance(config, Known) and config.value is not None)


def method(facts: Facts) -> Fact:
    """The method that the served checkpoint drafts with."""
    algorithm = facts.get("checkpoint.config.speculators_model_type")
    if not isinstance(algorithm, Known) or not isinstance(algorithm.value, str):
        return algorithm
    return Known(_METHODS.get(algorithm.value, algorithm.value))


def _first_proposal(config: JsonValue) -> JsonValue:
    """The first way of proposing that a checkpoint lists."""
    methods = config.get("proposal_methods") if isinstance(config, dict) else None
    return methods[0] if isinstance(methods, list) and methods else None


def tokens(facts: Facts) -> Fact:
    """The number of tokens that the served checkpoint proposes in a round."""
    config = facts.get("checkpoint.config.speculators_config")
    if not isinstance(config, Known):
        return config
    first = _first_proposal(config.value)
    return Known(first.get("speculative_tokens") if isinstance(first, dict) else None)


def verifier(facts: Facts) -> Fact:
    """The name of the model that the served checkpoint was made for."""
    return facts.get("checkpoint.config.speculators_config.verifier.name_or_path")


def made_for_another(facts: Facts) -> Fact:
    """Whether the head that drafts names a verifier of another family of architectures than the target's."""
    made_for, served_ones = facts.get("draft.verifier_architecture"), facts.get("target.architectures")
    if not isinstance(made_for, Known) or made_for.value is None:
        return made_for if not isinstance(made_for, Known) else Known(False)
    if not isinstance(served_ones, Known) or not isinstance(served_ones.value, list) or not served_ones.value:
        return served_ones if not isinstance(served_ones, Known) else Missing("target.architectures")
    families = {_FAMILY.sub("", str(name)) for name in served_ones.value}
    return Known(_FAMILY.sub("", str(made_for.value)) not in families)


def _gap(role: str) -> Derivation:
    def derive(facts: Facts) -> Fact:
        """What the engine looks for first and does not find; None where the checkpoint has all, or is of another format."""
        config = facts.get(f"{role}.config.speculators_config")
        if not isinstance(config, Known) or config.value is None:
            return config
        algorithm = facts.get(f"{role}.config.speculators_model_type")
        if not isinstance(algorithm, Known):
            return algorithm
        first = _first_proposal(config.value)
        length = isinstance(first, dict) and "speculative_tokens" in first
        if role == "checkpoint":  # only where it is taken from the checkpoint must it be a number
            length = isinstance(first, dict) and first.get("speculative_tokens") is not None
        verifier = config.value.get("verifier") if isinstance(config.value, dict) else None
        found = {
            "proposal_methods": first is not None,
            "speculative_tokens": length,
            "verifier.name_or_path": isinstance(verifier, dict) and "name_or_path" in verifier,
            "speculators_model_type": algorithm.value is not None,
        }
        return Known(next((name for name, there in found.items() if not there), None))

    return derive


DERIVATIONS: Mapping[str, Derivation] = {
    "serves_speculators": served,
    "speculators_method": method,
    "speculators_tokens": tokens,
    "head_made_for_another": made_for_another,
    "speculators_verifier": verifier,
    "speculators_gap": _gap("checkpoint"),
    "speculators_draft_gap": _gap("draft"),
}
