"""Which of its two engines, V0 or V1, a release of vLLM that has both runs the speculation on."""

from __future__ import annotations

from specconf.engines.base import LowerContext
from specconf.engines.vllm.inference import METHOD
from specconf.kleene import Ternary

USE_V1 = "env.VLLM_USE_V1"


def on_v1(context: LowerContext) -> Ternary:
    """Whether the launch runs on the V1 engine of a release that has both: as the environment says, else by the method."""
    if context.view.has(USE_V1) is False:
        return False
    section = dict(context.spec.engines.items()).get(context.view.engine)
    asked = (section.env if section is not None else {}).get(USE_V1.removeprefix("env."))
    written = context.builder.current(USE_V1)
    value = asked if asked is not None else written.value if written is not None else None
    if value is not None:
        return str(value).strip() not in ("0", "")
    word = context.builder.current(METHOD)
    return context.view.lookup("v1_methods", word.value)[1] if word is not None else False  # type: ignore[arg-type]
