"""Value transforms of SGLang's mapping table: how a field of the spec becomes a setting and back."""

from __future__ import annotations

from collections.abc import Mapping

from specconf.engines.base import NOTHING, CannotExpressError, LowerContext, Transform, _Nothing, one_value
from specconf.engines.sglang.schedule import lower_overlap
from specconf.settings import Settings
from specconf.words import JsonValue

_ATTENTION_DP = "serving.attention_data_parallel_size"
_UNBOUNDED_CHUNK = -1
_FP8 = {"fp8": "fp8_e4m3"}


def _lower_kv_dtype(value: JsonValue, context: LowerContext) -> JsonValue | _Nothing:
    """The common word fp8 is the format with four exponent bits, which older releases do not have."""
    if value not in _FP8:
        return value
    option = context.view.option("kv_cache_dtype")
    if option is None or option.choices is None or _FP8["fp8"] not in option.choices:
        raise CannotExpressError(
            "results", "has no fp8 KV cache with four exponent bits", "Write fp8_e5m2, or choose SGLang 0.4.1.post6."
        )
    return _FP8["fp8"]


def _lift_kv_dtype(value: JsonValue, settings: Settings) -> JsonValue:
    del settings
    return next((word for word, own in _FP8.items() if own == value), value)


def _lower_data_parallel(value: JsonValue, context: LowerContext) -> JsonValue | _Nothing:
    """Where one flag counts replicas and attention-DP groups, it can say only one of the two."""
    groups = context.get(_ATTENTION_DP)
    if groups in (None, 1):
        return value
    if value == 1:
        return NOTHING
    raise CannotExpressError(
        "performance",
        "counts replicas and attention-DP groups with the same --dp-size",
        f"Unset one of serving.data_parallel_size and {_ATTENTION_DP}, or use SGLang 0.5.22.",
    )


def _lift_data_parallel(value: JsonValue, settings: Settings) -> JsonValue:
    if settings.get("enable_dp_attention") is True:
        raise LookupError(value)
    return value


def _lower_attention_dp(value: JsonValue, context: LowerContext) -> JsonValue | _Nothing:
    """`--dp-size N --enable-dp-attention`; without the switch attention is not data-parallel."""
    if value == 1:
        return NOTHING
    context.write("enable_dp_attention", True, _ATTENTION_DP)
    return value


def _lift_attention_dp(value: JsonValue, settings: Settings) -> JsonValue:
    if settings.get("enable_dp_attention") is not True or value == 1:
        raise LookupError(value)
    return value


def _lower_attention_dp_is_tp(value: JsonValue, context: LowerContext) -> JsonValue | _Nothing:
    """In releases whose switch sets the number of groups to the tensor-parallel size itself."""
    if value == 1:
        return NOTHING
    if value != context.get("serving.tensor_parallel_size"):
        raise CannotExpressError("performance", "always makes as many attention-DP groups as tensor-parallel ranks")
    return True


def _lift_attention_dp_is_tp(value: JsonValue, settings: Settings) -> JsonValue:
    size = settings.get("tp_size")
    if value is not True or not isinstance(size, int) or size < 2:
        raise LookupError(value)
    return size


def _lower_expert_switch(value: JsonValue, context: LowerContext) -> JsonValue | _Nothing:
    """In releases whose switch spreads the experts over all tensor-parallel ranks, and whose width does nothing alone."""
    if value == 1:
        return NOTHING
    if value != context.get("serving.tensor_parallel_size"):
        raise CannotExpressError("performance", "spreads experts over all tensor-parallel ranks or over none")
    return True


TRANSFORMS: Mapping[str, Transform] = {
    "switch_on": one_value(True, True),
    "switch_off": one_value(False, True),
    "chunked_prefill": one_value(False, _UNBOUNDED_CHUNK),
    "kv_dtype": Transform(_lower_kv_dtype, _lift_kv_dtype),
    "data_parallel": Transform(_lower_data_parallel, _lift_data_parallel),
    "replicas": Transform(lambda value, _: value, _lift_data_parallel),
    "attention_dp": Transform(_lower_attention_dp, _lift_attention_dp),
    "attention_dp_is_tp": Transform(_lower_attention_dp_is_tp, _lift_attention_dp_is_tp),
    "expert_switch": Transform(_lower_expert_switch, _lift_attention_dp_is_tp),
    "overlap": Transform(lower_overlap, one_value(False, True).lift),
}
