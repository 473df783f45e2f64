"""A launch as a question to the release it is for, and the release's answer beside our judgement. Nothing is run here."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from specconf.compat.view import View
from specconf.engines.base import Artifact, Engine, Models
from specconf.facts import Effective, Missing, ModelView
from specconf.findings import Finding
from specconf.hardware import plain_name
from specconf.models import ModelFacts
from specconf.models.view import CheckpointView
from specconf.oracle.asking import Answer, Question, Unanswered
from specconf.oracle.engine import EngineOracle
from specconf.oracle.sided import Differing, Limits, SideBySide
from specconf.rules.checker import shown_effective, with_defaults
from specconf.rules.judge import Judgement, judge_settings
from specconf.settings import Settings
from specconf.verify.refusing import STOPS, alike, refuses, stops
from specconf.words import JsonValue


class Case(Struct, frozen=True):
    """One launch at one release: its settings, the words that carry them, and what is known about it.

    `plain` holds the leaves of hardware and workload that a spec states, `features` what its requests use. `errors` are all
    that we say of the spec on its own hardware. `left_out`: parts of the spec that the launch does not hold, with the code
    of the finding that says why; `no_launch_of_its` says why, with all that, it is not the spec's launch.
    """

    engine: Engine
    view: View
    settings: Settings
    artifact: Artifact
    models: Models
    plain: Mapping[str, JsonValue] = field(default_factory=dict)
    features: frozenset[str] | None = None
    errors: tuple[Finding, ...] = ()
    left_out: Mapping[str, str] = field(default_factory=dict)
    no_launch_of_its: str = ""

    @property
    def lacks(self) -> tuple[str, ...]:
        """A note for each part of the spec that the launch does not hold."""
        return tuple(f"the launch does not hold {name} ({code})" for name, code in sorted(self.left_out.items()))


class Put(Struct, frozen=True):
    """How a case is put to a release. Without a question `not_asked` says why. `notes`: in what it differs from the launch."""

    shown: str
    plain: Mapping[str, JsonValue]
    question: Question | None = None
    not_asked: str = ""
    notes: tuple[str, ...] = ()


def put(case: Case, oracle: EngineOracle, *, sees: str = "") -> Put:
    """A case as a question. `sees`: the platform that the engine finds where it is asked; empty: the usual one."""
    gpu, notes = _gpu(case, oracle)
    platform = sees or oracle.platform
    shown = f"as on a machine with {gpu} GPUs" if gpu else _on(platform)
    plain = dict(case.plain)
    if gpu or platform != plain.get("hardware.platform", "cuda"):
        plain.pop("hardware.gpu", None)
        plain |= oracle.facts if platform == oracle.platform else {"hardware.platform": platform}
        plain |= {"hardware.gpu": gpu} if gpu else {}
    if case.no_launch_of_its:
        return Put(shown, plain, not_asked=case.no_launch_of_its)
    configs: dict[str, Mapping[str, JsonValue]] = {}
    for name, (view, named_by) in _named(case).items():
        model = _whole(view)
        if model is None:
            return Put(shown, plain, not_asked=f"the whole config.json of {name} is not at hand; {_cure(named_by)}")
        configs[name] = model.config
    question, renamed = _inside(case.artifact, configs, gpu)
    notes += [f"{name} is called {new} in the question" for name, new in renamed.items()]
    notes += [each.note for each in oracle.pretended if each.is_touched_by(case.settings)]
    return Put(shown, plain, question, notes=tuple(notes))


def _on(platform: str) -> str:
    return "on a CPU" if platform == "cpu" else f"on the {platform} devices of its machine"


def _gpu(case: Case, oracle: EngineOracle) -> tuple[str | None, list[str]]:
    """The GPU that the release is shown, and a note where it is not the one of the spec."""
    if not oracle.gpus:
        return None, []
    platform = case.plain.get("hardware.platform", "cuda")
    if platform != oracle.platform:
        return oracle.usual_gpu, [f"it was shown {oracle.usual_gpu} GPUs, though hardware.platform is {platform}"]
    written = case.plain.get("hardware.gpu")
    if written is None:
        return oracle.usual_gpu, [f"it was shown {oracle.usual_gpu} GPUs, since hardware.gpu is not set"]
    if plain_name(str(written)) in oracle.gpus:
        return plain_name(str(written)), []
    return oracle.usual_gpu, [f"it was shown {oracle.usual_gpu} GPUs: {written} is none of {', '.join(oracle.gpus)}"]


def _named(case: Case) -> dict[str, tuple[ModelView, str]]:
    """The models that the launch names, with the spec's field for each; a name of both is the target's."""
    found: dict[str, tuple[ModelView, str]] = {}
    for path, view, named_by in (
        (case.engine.model_path, case.models.target, "target.model"),
        (case.engine.draft_path, case.models.draft, "speculation.draft.model"),
    ):
        name = case.settings.get(path)
        if isinstance(name, str):
            found.setdefault(name, (view, named_by))
    return found


def _cure(named_by: str) -> str:
    return (
        f"point {named_by} at a folder that holds it, put the model into the Hugging Face cache, "
        "or install 'specconf[hub]' and go without --offline"
    )


def _whole(view: ModelView) -> ModelFacts | None:
    """A model whose config.json is known as the file it is."""
    if not isinstance(view, CheckpointView):
        return None
    return view.model if view.model.complete and not view.model.view.elided else None


def _inside(
    artifact: Artifact, configs: Mapping[str, Mapping[str, JsonValue]], gpu: str | None
) -> tuple[Question, dict[str, str]]:
    """The question, with the models that lie elsewhere on this machine moved below the question's folder."""
    renamed: dict[str, str] = {}
    for name in configs:
        new = inner_name(name)
        while new != name and (new in configs or new in renamed.values()):
            new += "_"
        if new != name:
            renamed[name] = new

    def moved(text: str) -> str:
        for name in sorted(renamed, key=len, reverse=True):
            for old, new in {name: renamed[name], _escaped(name): _escaped(renamed[name])}.items():
                text = new.join(re.split(rf"(?<![\w./~-]){re.escape(old)}(?![\w.-])", text))
        return text

    question = Question(
        tuple(moved(word) for word in artifact.argv),
        {name: moved(value) for name, value in artifact.env.items()},
        {name: moved(text) for name, text in artifact.files.items()},
        {renamed.get(name, name): config for name, config in configs.items()},
        gpu,
    )
    return question, renamed


def inner_name(name: str) -> str:
    """A model's name as one below the question's folder: unchanged where it is a hub id or leads nowhere else.

    The parts of a path are kept, since engines look for words in them.
    """
    parts = name.split("/")
    if not name.startswith(("/", "~")) and ".." not in parts:
        return name
    safe = ("up" if part == ".." else part.replace("~", "home") for part in parts if part not in ("", "."))
    return "/".join(safe) or "model"


def _escaped(text: str) -> str:
    """A text as it stands inside a JSON string."""
    return json.dumps(text)[1:-1]


def judge_as_asked(case: Case, plain: Mapping[str, JsonValue]) -> Judgement:
    """What we say to the launch on the hardware that the release is asked on."""
    return judge_settings(case.settings, case.engine, case.view, case.models, plain=plain, features=case.features)


def beside(case: Case, oracle: EngineOracle, asked: Put, answer: Answer | Unanswered | None) -> SideBySide:
    """The release's answer, if there is one, beside our judgement of the same question."""
    judgement = judge_as_asked(case, asked.plain)
    refusals = (
        *(finding for finding in judgement.findings if refuses(finding)),
        *plain_refusals(case.errors, case.left_out),
    )
    others = tuple(_others(case.errors, refusals))
    result = SideBySide(
        case.view.engine,
        case.view.release,
        asked.shown if answer is not None else "",
        refusals=refusals,
        unwritten=tuple(finding for finding in case.errors if finding.option in case.left_out),
        later=tuple(f for f in others if f.effect in STOPS and not refuses(f)),
        elsewhere=tuple(f for f in others if refuses(f)),
        starting=tuple(f for f in others if f.effect not in STOPS),
        undecided=tuple(_undecided(case.view, judgement)),
        not_asked=asked.not_asked,
        notes=case.lacks if answer is None else (*case.lacks, *asked.notes),
    )
    if isinstance(answer, Unanswered):
        return replace(result, not_asked=_ANSI.sub("", answer.reason), excluded=answer.excluded)
    if answer is None:
        return result
    result = replace(result, answer=_readable(answer))
    return _with_values(result, case, oracle, judgement) if answer.accepts and not result.refusals else result


def plain_refusals(errors: Iterable[Finding], left_out: Mapping[str, str]) -> Iterator[Finding]:
    """Of our errors about a spec those about the launch as it is written that no constraint with a stage states."""
    for finding in errors:
        if not finding.constraint and finding.stage is None and finding.option not in left_out:
            yield finding


def _others(errors: Iterable[Finding], refusals: Iterable[Finding]) -> Iterator[Finding]:
    """Our errors about a spec that are no refusals of the launch as it was put."""
    counted = {(finding.code, finding.constraint, finding.option) for finding in refusals}
    for finding in errors:
        if finding.stage is not None and (finding.code, finding.constraint, finding.option) not in counted:
            yield finding


_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\\\)|\x1b[@-Z\\-_]")


def _readable(answer: Answer) -> Answer:
    """An answer without colours and other signs to a terminal, each warning once and on a line."""
    warnings = dict.fromkeys(" ".join(_ANSI.sub("", text).split()) for text in answer.warnings)
    warnings.pop("", None)
    return replace(answer, message=_ANSI.sub("", answer.message), warnings=tuple(warnings))


def _undecided(view: View, judgement: Judgement) -> Iterator[str]:
    missing = {item.constraint for item in judgement.result.not_checked}
    for constraint, _ in view.constraints:
        if constraint.id in missing and stops(constraint.effect, constraint.stage):
            yield constraint.id


def _with_values(result: SideBySide, case: Case, oracle: EngineOracle, judgement: Judgement) -> SideBySide:
    """What is in force in the engine otherwise than we say, and what it fills in where we say nothing."""
    assert result.answer is not None
    effective = with_defaults(judgement.result.effective, case.engine, case.view)
    differing: list[Differing] = []
    filled: list[tuple[str, Any]] = []
    compared = 0
    for path, theirs in oracle.in_force(result.answer.effective).items():
        ours = effective.get(path)
        if not case.view.has(path):
            continue
        same = ours is not None and any(alike(theirs, value) for value in _values(ours))
        if not same and (ours is None or isinstance(ours.value, Missing) or _left_open(ours)):
            filled += [(path, theirs)] if theirs is not None else []
            continue
        compared += 1
        if ours is not None and not same:
            differing.append(Differing(path, theirs, shown_effective({path: ours})[path]))
    return replace(result, compared=compared, differing=tuple(differing), filled=tuple(filled))


def _values(effective: Effective) -> tuple[JsonValue, ...]:
    return () if isinstance(effective.value, Missing) else effective.value.values


def _left_open(effective: Effective) -> bool:
    """Whether the engine may decide by itself: None is the parser's word for that, as a default or among candidates."""
    values = _values(effective)
    return None in values and (effective.origin == "default" or len(values) > 1)


def limits(oracle: EngineOracle, title: str, *, sees: str = "") -> Limits:
    """What asking this engine cannot say; `sees` as for `put`."""
    where = (
        f"shown GPUs of one kind ({', '.join(oracle.gpus)}) that are not there"
        if oracle.gpus
        else f"asked {_on(sees or oracle.platform)}"
    )
    text = (
        f"{title} was {where}, up to its config: that says nothing about loading weights, requests, kernels or real memory. "
        "It was given config.json alone of each model: no tokenizer, no weights, and no remote code, which is never run."
    )
    return Limits(oracle.engine, text, tuple((each.name, each.why) for each in oracle.excluded()))
