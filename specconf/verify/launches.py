"""The database's own launches as questions: every constraint's probe and twin, at one release."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from specconf.compat.rows import Constraint
from specconf.compat.view import View
from specconf.engines.base import Engine
from specconf.oracle.asking import Question
from specconf.oracle.engine import EngineOracle
from specconf.rules.datalint import refusals
from specconf.rules.probes import meets, probe_launch, run_probe
from specconf.verify.asked import Asked
from specconf.verify.filling import filled


def own_launches(engine: Engine, oracle: EngineOracle, view: View) -> Iterator[Asked]:
    """The probe of every constraint that holds at the release, in a spelling that the release takes, and its twin."""
    for constraint, held in view.constraints:
        if not constraint.evaluated or held is not True:
            continue
        probe = _spelled(constraint, engine, view)
        if probe is not None:
            yield from _asked(f"probe {constraint.id}", probe, engine, view, oracle)
        if constraint.twin is not None:
            twin = {**constraint.twin, "release": view.release}
            if not refusals(run_probe(view.db, engine, twin)[1]):
                yield from _asked(f"twin {constraint.id}", twin, engine, view, oracle)


def _spelled(constraint: Constraint, engine: Engine, view: View) -> Mapping[str, Any] | None:
    """The first spelling of a probe that the release takes and that meets the constraint."""
    if constraint.probe is None:
        return None
    for other in ({}, *constraint.also):
        probe = {**constraint.probe, **other, "release": view.release}
        judgement = run_probe(view.db, engine, probe)[1]
        if meets(judgement, constraint.id) and not refusals(judgement):
            return probe
    return None


def _asked(
    origin: str, example: Mapping[str, Any], engine: Engine, view: View, oracle: EngineOracle
) -> Iterator[Asked]:
    """An example as a question; none where it is about hardware that cannot be shown."""
    facts = example.get("facts") or {}
    gpu = facts.get("hardware.gpu", oracle.usual_gpu)
    if facts.get("hardware.platform", oracle.platform) != oracle.platform or gpu not in (None, *oracle.gpus):
        return
    launch = probe_launch(engine.name, example)
    settings = engine.resolve(launch, view)
    named = [settings.get(path) for path in (engine.model_path, engine.draft_path)]
    names = list(dict.fromkeys(name for name in named if isinstance(name, str)))
    place = _Placed(names)
    models = {place.name(name): _config(example, number) for number, name in enumerate(names)}
    question = Question(
        tuple(place.text(word.text) for word in launch.argv),
        {name: word.text for name, word in launch.env},
        {place.text(name): place.text(text) for name, text in launch.files},
        models,
        gpu,
    )
    yield Asked(origin, question)


class _Placed:
    """Where a question's models lie: examples may name them by absolute paths, a question's are below its own folder."""

    def __init__(self, names: Sequence[str]) -> None:
        self._absolute = sorted((name for name in names if name.startswith("/")), key=len, reverse=True)

    def name(self, name: str) -> str:
        return name.lstrip("/")

    def text(self, text: str) -> str:
        for name in self._absolute:
            text = text.replace(name, self.name(name))
        return text


def _config(example: Mapping[str, Any], number: int) -> dict[str, Any]:
    """The whole config of the target (0) or the draft: an example holds what its rule looks at alone, or none."""
    config = example.get("draft" if number else "target")
    return filled({"architectures": ["LlamaForCausalLM"]} if config is None else config)
