"""A checkpoint's facts as rules see them: known, known to be absent (None), or missing with what would be needed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from specconf import facts
from specconf.models.facts import Missing, ModelFacts
from specconf.models.hub import Cause, Unavailable
from specconf.models.tokenizers import PAIR_FACTS
from specconf.models.weights import WEIGHT_FACTS

_TOKENS = "tokenizers of target and draft (local copies)"


@dataclass(frozen=True, slots=True)
class CheckpointView:
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
