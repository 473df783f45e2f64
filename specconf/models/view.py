"""A checkpoint's facts as rules see them: known, known to be absent (None), or missing with what would be needed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from msgspec import Struct

from specconf import facts
from specconf.models.facts import Missing, ModelFacts
from specconf.models.hub import Cause, Unavailable
from specconf.models.tokenizers import PAIR_FACTS
from specconf.models.weights import WEIGHT_FACTS
from specconf.settings import Settings
from specconf.words import Candidates, Unresolved

_TOKENS = "tokenizers of target and draft (local copies)"


class CheckpointView(Struct, frozen=True):
    """`specconf.facts.ModelView` of one checkpoint; `role` is target or draft, `target` a draft's target."""

    role: str
    model: ModelFacts
    target: ModelFacts | None = None

    def fact(self, path: str) -> facts.Fact:
        """One derived shape or config key; of a draft also what it and its target have in common."""
        pair = PAIR_FACTS.get(path) if self.target is not None else None
        value = (
            self.model.get(path) if pair is None or self.target is None else pair(self.target.tokens, self.model.tokens)
        )
        if not isinstance(value, Missing):
            return facts.Known(value)
        if value.absent:
            return facts.Known(None)
        needs = (
            f"{self.role} tensor names (a local copy)"
            if path in WEIGHT_FACTS
            else _TOKENS
            if path in PAIR_FACTS
            else f"{self.role} {path}"
        )
        return facts.Missing(needs, value.reason)


class NoModel:
    """The draft of a method that has none: everything about it is None."""

    def fact(self, path: str) -> facts.Fact:
        """Always None."""
        del path
        return facts.Known(None)


ModelViews: TypeAlias = "CheckpointView | NoModel | facts.Unavailable"


def model_views(
    target: ModelFacts | Unavailable | None, draft: ModelFacts | Unavailable | None
) -> tuple[ModelViews, ModelViews]:
    """The views of a launch's two models."""
    return model_view("target", target), model_view("draft", draft, target if isinstance(target, ModelFacts) else None)


def model_view(role: str, found: ModelFacts | Unavailable | None, target: ModelFacts | None = None) -> ModelViews:
    """The view of what resolving a model gave; None: the launch has no such model."""
    if found is None:
        return NoModel()
    if isinstance(found, ModelFacts):
        return CheckpointView(role, found, target)
    return facts.Unavailable(role, found.reason, only_offline=found.cause is Cause.NOT_HERE)


def written_models(
    target_path: str, draft_path: str, settings: Settings, resolve: Callable[[str], ModelFacts | Unavailable]
) -> tuple[ModelViews, ModelViews]:
    """The views of the target and the draft that a launch names at two paths; the draft is compared with the target."""
    target = written_model("target", target_path, settings, resolve)
    known = target.model if isinstance(target, CheckpointView) else None
    return target, written_model("draft", draft_path, settings, resolve, target=known)


def written_model(
    role: str,
    path: str,
    settings: Settings,
    resolve: Callable[[str], ModelFacts | Unavailable],
    *,
    target: ModelFacts | None = None,
) -> ModelViews:
    """The view of a model that a launch names at a path; `target` is what a draft is compared with.

    A model is known to be absent only where nothing could name one: a target there is always, and words that could not be
    read may hold a draft.
    """
    value = settings.get(path)
    if isinstance(value, str):
        return model_view(role, resolve(value), target)
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
