"""Value transforms of TensorRT-LLM's mapping table: how a field of the spec becomes a setting and back."""

from __future__ import annotations

from collections.abc import Mapping

from specconf.engines.base import NOTHING, CannotExpressError, LowerContext, Transform, _Nothing, one_value
from specconf.facts import Known
from specconf.settings import Settings
from specconf.words import JsonValue

_TP = "serving.tensor_parallel_size"
_TP_PATH = "tensor_parallel_size"
_EAGER = "serving.enforce_eager"
_QUANTIZATION = "target.quantization"


def _lower_attention_dp(value: JsonValue, context: LowerContext) -> JsonValue | _Nothing:
    """The engine has a switch: all ranks of the tensor-parallel group, or none."""
    ranks = context.get(_TP) or 1
    if value == 1:
        return False
    if value == ranks:
        return True
    raise CannotExpressError(
        "performance",
        f"runs attention data parallelism over all of the {ranks} tensor-parallel ranks or not at all",
        f"Set serving.attention_data_parallel_size to 1 or to {_TP}.",
    )


def _lift_attention_dp(value: JsonValue, settings: Settings) -> JsonValue:
    if value is False:
        return 1
    ranks = settings.get(_TP_PATH)
    if value is not True or not isinstance(ranks, int) or isinstance(ranks, bool) or ranks < 2:
        raise LookupError(value)
    return ranks


def _lower_graph_batch(value: JsonValue, context: LowerContext) -> JsonValue | _Nothing:
    """Without CUDA graphs no decode step is captured, so that no bound has to be written."""
    return NOTHING if context.get(_EAGER) is True else value


def _lift_as_it_is(value: JsonValue, settings: Settings) -> JsonValue:
    del settings
    return value


def _lower_quantization(value: JsonValue, context: LowerContext) -> JsonValue | _Nothing:
    """The engine takes the quantization of the checkpoint, so that only a checkpoint can say it."""
    found = context.models.target.fact("quantization")
    if isinstance(found, Known) and found.value == value:
        return NOTHING
    because = "reads the target's quantization from its checkpoint"
    if isinstance(found, Known):
        own = f"is quantized as {found.value}" if found.value else "is not quantized"
        fix = f"Unset {_QUANTIZATION}, or set target.model to a checkpoint quantized as {value}: this one {own}."
        raise CannotExpressError("results", because, fix)
    fix = f"Unset {_QUANTIZATION} if target.model is quantized as {value}, or point target.model to one that is."
    raise CannotExpressError("performance", f"{because}, and whether this one is {value} is not known", fix)


def _lift_nothing(value: JsonValue, settings: Settings) -> JsonValue:
    """No setting says it."""
    del settings
    raise LookupError(value)


TRANSFORMS: Mapping[str, Transform] = {
    "true_only": one_value(True, True),
    "null_when_true": one_value(True, None),
    "attention_dp_bool": Transform(_lower_attention_dp, _lift_attention_dp),
    "quantization_of_checkpoint": Transform(_lower_quantization, _lift_nothing),
    "graph_batch": Transform(_lower_graph_batch, _lift_as_it_is),
}
