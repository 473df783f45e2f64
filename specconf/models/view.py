"""A checkpoint's facts as rules see them: known, known to be absent (None), or missing with what would be needed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from specconf import facts
from specconf.models.facts import Missing, ModelFacts
from specconf.models.hub import Cause, Unavailable
from specconf.settings import Settings
from specconf.words import Candidates, Unresolved


@dataclass(frozen=True, slots=True)
class CheckpointView:
    """`specconf.facts.ModelView` of one checkpoint; `role` is target or draft."""

    role: str
    model: ModelFacts

    def fact(self, path: str) -> facts.Fact:
        """One derived shape or config key."""
        value = self.model.get(path)
        if not isinstance(value, Missing):
            return facts.Known(value)
        if value.absent:
            return facts.Known(None)
        return facts.Missing(f"{self.role} {path}", value.reason)


class NoModel:
    """The draft of a method that has none: everything about it is None."""

    def fact(self, path: str) -> facts.Fact:
        """Always None."""
        del path
        return facts.Known(None)


ModelViews: TypeAlias = "CheckpointView | NoModel | facts.Unavailable"


def model_view(role: str, found: ModelFacts | Unavailable | None) -> ModelViews:
    """The view of what resolving a model gave; None: the launch has no such model."""
    if found is None:
        return NoModel()
    if isinstance(found, ModelFacts):
        return CheckpointView(role, found)
    return facts.Unavailable(role, found.reason, only_offline=found.cause is Cause.NOT_HERE)


def written_model(
    role: str, path: str, settings: Settings, resolve: Callable[[str], ModelFacts | Unavailable]
) -> ModelViews:
    """The view of a model that a launch names at a path.

    A model is known to be absent only where nothing could name one: a target there is always, and words that could not be
    read may hold a draft.
    """
    value = settings.get(path)
    if isinstance(value, str):
        return model_view(role, resolve(value))
    if isinstance(value, Unresolved | Candidates):
        return facts.Unavailable(role, f"the launch does not show which model {role} is", only_offline=False)
    parent = settings.get(path.rpartition(".")[0])
    if settings.may_hold_more or isinstance(parent, Unresolved | Candidates):
        hidden = facts.Unavailable(role, "a word that could not be read may name one")
        hidden.needs = facts.UNREAD_WORDS
        return hidden
    if role == "target":
        return facts.Unavailable(role, "the launch names none", only_offline=False)
    return NoModel()
