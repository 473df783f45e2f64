"""What specconf says to a question, without asking the engine."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from msgspec import Struct

from specconf.compat.view import View
from specconf.engines.base import Engine, Models
from specconf.facts import Effective, Known, OneOf
from specconf.findings import Finding, NotChecked, Stage
from specconf.models import Cause, ModelFacts, Source, SourceKind, Unavailable, model_facts
from specconf.models.kinds import Kind
from specconf.models.view import written_models
from specconf.oracle.asking import Question
from specconf.oracle.engine import EngineOracle
from specconf.rules.checker import with_defaults
from specconf.rules.judge import Judgement, judge_settings
from specconf.verify.refusing import refuses, stops
from specconf.words import JsonValue, Launch, Word, words

UNKNOWN = object()
# A launch that is started for real gets weights after the sort that its config tells; these names tell it again.
_TELLING = {
    Kind.EAGLE: frozenset({"fc.weight", "layers.0.self_attn.q_proj.weight"}),
    Kind.PLAIN: frozenset({"model.embed_tokens.weight", "model.layers.0.self_attn.q_proj.weight", "lm_head.weight"}),
}


class Ours(Struct, frozen=True, dict=True):
    """Our judgement of a question at one release, seen up to one stage: `until` is the last one the engine was asked for."""

    engine: Engine
    view: View
    judgement: Judgement
    until: Stage

    @cached_property
    def refusals(self) -> tuple[Finding, ...]:
        """Our errors that say that the engine stops by then."""
        return tuple(finding for finding in self.judgement.findings if refuses(finding, self.until))

    @cached_property
    def doubts(self) -> tuple[NotChecked, ...]:
        """What could not be decided and would stop the launch up to the stage."""
        return tuple(n for n in self.judgement.result.not_checked if self._would_stop(n))

    def _would_stop(self, one: NotChecked) -> bool:
        constraint = self.view.db.constraint(one.constraint)
        if constraint is None:  # a scope or registry that is known in part
            return True
        return stops(constraint.effect, constraint.stage, self.until)

    @property
    def stage(self) -> Stage | None:
        """The first stage at which we say that it stops."""
        stages = [finding.stage for finding in self.refusals if finding.stage is not None]
        return min(stages, key=lambda stage: stage.rank) if stages else None

    @cached_property
    def effective(self) -> Mapping[str, Effective]:
        """Our effective configuration, the release's own defaults included."""
        return with_defaults(self.judgement.result.effective, self.engine, self.view)

    def in_force(self, path: str) -> object:
        """A value in force; UNKNOWN where it is not known, or one of several."""
        found = self.effective.get(path)
        if found is None or not isinstance(found.value, Known | OneOf) or len(found.value.values) != 1:
            return UNKNOWN
        return found.value.values[0]

    def comes_later(self, path: str) -> bool:
        """Whether a value is set at a stage that the engine was not asked for, where its answer cannot hold it."""
        found = self.effective.get(path)
        constraint = self.view.db.constraint(found.origin) if found is not None else None
        return constraint is not None and constraint.stage.rank > self.until.rank


def judge(engine: Engine, oracle: EngineOracle, view: View, question: Question, *, loaded: bool = False) -> Ours:
    """Judge a question as the engine is asked it: its words, its models, the hardware that it is shown.

    `loaded`: the launch is started for real, and seen until it has answered one request.
    """
    launch = Launch(
        engine.name,
        words(*question.argv),
        tuple((name, Word(value, raw=value)) for name, value in question.env.items()),
        tuple(question.files.items()),
    )
    settings = engine.resolve(launch, view)

    def known(name: str) -> ModelFacts | Unavailable:
        config = question.models.get(name)
        if config is None:
            return Unavailable(f"{name} was not given", Cause.NOT_HERE)
        source = Source(SourceKind.GIVEN, name)
        found = model_facts(dict(config), source=source)
        tensors = _TELLING.get(found.kind) if loaded and not found.get("mtp_layers") else None
        return model_facts(dict(config), source=source, tensors=tensors) if tensors else found

    models = Models(*written_models(engine.model_path, engine.draft_path, settings, known))
    plain: dict[str, JsonValue] = dict(oracle.load_facts if loaded else oracle.facts)
    if question.gpu is not None:
        plain["hardware.gpu"] = oracle.cards.get(question.gpu, question.gpu)
    until = Stage.REQUEST if loaded else Stage.CONFIG
    return Ours(engine, view, judge_settings(settings, engine, view, models, plain=plain), until)
