"""Which engine generation and model runner a launch gets."""

from __future__ import annotations

from collections.abc import Mapping

from specconf.engines.vllm.derived.members import member
from specconf.facts import Derivation, Fact, Facts, Known, Missing, OneOf
from specconf.words import JsonValue

_RUNNER = "env.VLLM_USE_V2_MODEL_RUNNER"


def v2_runner_forced(facts: Facts) -> Fact:
    """Whether an option takes the V2 model runner whatever else is written: watermarks and HiSparse (0.30.0 on)."""
    asked = (facts.get("asked.watermark_config"), member(facts, "attention_config", "hisparse_config"))
    missing = [fact for fact in asked if not isinstance(fact, Known)]
    return missing[0] if missing else Known(any(fact != Known(None) for fact in asked))


def model_runner(facts: Facts) -> Fact:
    """The model runner of a V1 engine, V1 or V2, for releases that take V2 unless something speaks against it (0.29.0 on).

    The rules that fall back set the variable; before 0.29.0 a list of targets decides, which is not modelled: no rule of
    those releases may ask for this.
    """
    forced = v2_runner_forced(facts)
    if forced != Known(False):
        return Known("V2") if isinstance(forced, Known) else forced
    asked = facts.get(f"option.{_RUNNER}")
    if isinstance(asked, Missing):
        return asked
    values = asked.values if isinstance(asked, OneOf) else (asked.value,)
    runners: list[JsonValue] = []
    for value in values:
        runner = _default_runner(facts) if value is None else Known(_runner(value))
        if not isinstance(runner, Known):
            return runner
        runners += [runner.value] if runner.value not in runners else []
    return OneOf(tuple(runners)) if len(runners) > 1 else Known(runners[0])


def _runner(value: JsonValue) -> str:
    return "V1" if str(value).strip().lower() in {"0", "false"} else "V2"


def _default_runner(facts: Facts) -> Fact:
    """V2 on CUDA; a CPU has no Triton, which V2 needs; elsewhere it depends on the target and on what is installed."""
    platform = facts.get("hardware.platform")
    if not isinstance(platform, Known):
        return platform
    known = {"cuda": "V2", "cpu": "V1"}.get(str(platform.value))
    return Known(known) if known else Missing("the model runner", f"its default on {platform.value} is not known")


DERIVATIONS: Mapping[str, Derivation] = {
    "v2_runner_forced": v2_runner_forced,
    "model_runner": model_runner,
}
