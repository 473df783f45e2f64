"""What the checkpoints of a launch are to each other: a target that drafts for itself, and its layers for that."""

from __future__ import annotations

from collections.abc import Mapping

from specconf.facts import Derivation, Fact, Facts, Known, Missing


def drafts_itself(facts: Facts) -> Fact:
    """Whether the target's own checkpoint is opened as the draft: no draft path is given, or the same."""
    draft, target = facts.get("asked.speculative_draft_model_path"), facts.get("option.model_path")
    if not isinstance(draft, Known) or draft.value is None:
        return Known(True) if isinstance(draft, Known) else draft
    return target if isinstance(target, Missing) else Known(draft == target)


def shows_no_mtp_layers(facts: Facts) -> Fact:
    """Whether the target's config counts its MTP layers and counts none; a family that does not count them shows nothing."""
    layers = facts.get("target.mtp_layers")
    return Known(isinstance(layers, Known) and layers.value == 0)


def mtp_releases(facts: Facts) -> Fact:
    """The releases that draft with this target's own layers, as words for a message."""
    from specconf.compat.database import load_database

    architecture = facts.get("target.architecture")
    if not isinstance(architecture, Known):
        return architecture
    database = load_database("sglang")
    rows = [row for row in database.tables["mtp_targets"].rows if row.value == architecture.value]
    starts = [low for row in rows for low, _ in row.ranges.holds_in]
    return Known(f"SGLang {database.line.names[min(starts)]} or newer" if starts else "a target that SGLang drafts for")


def config_alone(facts: Facts) -> Fact:
    """Whether the target is known to be its config alone, with no other file beside it, as in a question to the engine."""
    return Known(facts.get("role.bare_models") == Known(True))


DERIVATIONS: Mapping[str, Derivation] = {
    "config_alone": config_alone,
    "drafts_itself": drafts_itself,
    "shows_no_mtp_layers": shows_no_mtp_layers,
    "mtp_releases": mtp_releases,
}
