"""Which model runner a launch gets, and what of a target decides it; which releases go by what stands in the constraints."""

from __future__ import annotations

import re
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
    """The model runner of a V1 engine, V1 or V2: as the variable says, which the engine's own choice is resolved into."""
    forced = v2_runner_forced(facts)
    if forced != Known(False):
        return Known("V2") if isinstance(forced, Known) else forced
    asked = facts.get(f"option.{_RUNNER}")
    if isinstance(asked, Missing):
        return asked
    runners: list[JsonValue] = []
    for value in asked.values:
        runner = _runner(value)
        if runner is None:
            return Missing(
                "the model runner (set VLLM_USE_V2_MODEL_RUNNER)", "what its default depends on is not known"
            )
        runners += [runner] if runner not in runners else []
    return OneOf(tuple(runners)) if len(runners) > 1 else Known(runners[0])


def _runner(value: JsonValue) -> str | None:
    """The runner that a value of the variable names; the engine reads it as a whole number."""
    if isinstance(value, bool):
        return "V2" if value else "V1"
    text = str(value).strip()
    return ("V2" if int(text) else "V1") if re.fullmatch(r"[+-]?\d+", text) else None


def has_triton(facts: Facts) -> Fact:
    """Whether there is Triton, which the V2 runner needs: on CUDA and ROCm; elsewhere it depends on what is installed."""
    installed = facts.get("hardware.triton")
    if isinstance(installed, Known):
        return installed
    platform = facts.get("hardware.platform")
    if not isinstance(platform, Known):
        return platform
    if platform.value in ("cuda", "rocm"):
        return Known(True)
    return Missing(
        "the model runner (set VLLM_USE_V2_MODEL_RUNNER)",
        f"whether Triton is installed for {platform.value} is not known",
    )


DERIVATIONS: Mapping[str, Derivation] = {
    "v2_runner_forced": v2_runner_forced,
    "model_runner": model_runner,
    "has_triton": has_triton,
}
