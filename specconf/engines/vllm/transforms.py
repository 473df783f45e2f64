"""How values of spec fields become vLLM's settings and back, beyond the shared transforms. Names are used in mapping.yaml."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from specconf.compat.rows import Option
from specconf.engines.base import NOTHING, CannotExpressError, LowerContext, Transform, _Nothing
from specconf.engines.vllm.behaviour import not_known
from specconf.settings import Settings
from specconf.words import JsonValue

K_FIELD = "speculation.num_draft_tokens"
K_PATH = "speculative_config.num_speculative_tokens"
_SMALL_SIZES = (1, 2, 4)
_STEP = 8


def _lower_switch(path: str, value: JsonValue, context: LowerContext) -> JsonValue | _Nothing:
    """A switch; false where the release has no flag for it needs nothing written if it is the proven default."""
    if value is True or _can_write_false(path, context):
        return value
    if context.view.default(path) is False:
        return NOTHING
    raise CannotExpressError("performance", f"has no flag that switches {path} off")


def _can_write_false(path: str, context: LowerContext) -> bool:
    option: Option | None = context.view.option(path)
    return option is not None and (option.kind != "switch" or bool(option.no_names))


def _lift_bool(value: JsonValue, settings: Settings) -> JsonValue:
    del settings
    if not isinstance(value, bool):
        raise LookupError(value)
    return value


def _lower_one_of_list(value: JsonValue, context: LowerContext) -> JsonValue:
    del context
    return [value]


def _lift_one_of_list(value: JsonValue, settings: Settings) -> JsonValue:
    del settings
    if isinstance(value, str):
        return value
    if not isinstance(value, list) or len(value) != 1 or not isinstance(value[0], str):
        raise LookupError(value)
    return value[0]


def _ranks(tensor: JsonValue, data: JsonValue) -> int:
    """The ranks over which experts are spread when expert parallelism is on: TP x DP."""
    return (tensor if isinstance(tensor, int) else 1) * (data if isinstance(data, int) else 1)


def _lower_expert_parallel(value: JsonValue, context: LowerContext) -> JsonValue | _Nothing:
    data = context.get("serving.data_parallel_size") if context.view.has("data_parallel_size") else None
    ranks = _ranks(context.get("serving.tensor_parallel_size"), data)
    if value == ranks:
        return True
    if value == 1:
        return _lower_switch("enable_expert_parallel", False, context)
    raise CannotExpressError(
        "performance",
        f"spreads experts over all tensor and data parallel ranks together ({ranks}) or over none",
        f"Set serving.expert_parallel_size to {ranks} or 1.",
    )


def _lift_expert_parallel(value: JsonValue, settings: Settings) -> JsonValue:
    ranks = _ranks(_number(settings, "tensor_parallel_size"), _number(settings, "data_parallel_size"))
    if value is True:
        return ranks
    if value is False and ranks != 1:
        return 1
    raise LookupError(value)


def _number(settings: Settings, path: str) -> JsonValue:
    value = settings.get(path)
    return value if isinstance(value, int) else None


def _graph_tokens(value: JsonValue, context: LowerContext) -> int:
    """Tokens of a decode step of that many requests: each verifies K draft tokens and the root."""
    assert isinstance(value, int)
    if context.get("speculation.method") in (None, "none"):
        return value
    k = context.get(K_FIELD)
    if not isinstance(k, int):
        raise CannotExpressError(
            "performance",
            "counts CUDA-graph sizes in tokens, requests times K + 1, and the spec sets no K",
            f"Set {K_FIELD}.",
        )
    return value * (k + 1)


def _requests(tokens: JsonValue, settings: Settings) -> JsonValue:
    """The reverse of `_graph_tokens`."""
    k = _number(settings, K_PATH)
    width = (k if isinstance(k, int) else 0) + 1
    if not isinstance(tokens, int) or isinstance(tokens, bool) or tokens % width or tokens < width:
        raise LookupError(tokens)
    return tokens // width


def _sizes_up_to(tokens: int) -> list[JsonValue]:
    """The engine's usual capture sizes, ending in `tokens` itself."""
    usual = [n for n in _SMALL_SIZES if n < tokens] + list(range(_STEP, tokens, _STEP))
    return [*usual, tokens]


def _lower_graph_max(value: JsonValue, context: LowerContext) -> JsonValue:
    return _graph_tokens(value, context)


def _lower_graph_list(value: JsonValue, context: LowerContext) -> JsonValue:
    """One number n stands for the usual sizes up to n; where n is not among them, all sizes are written."""
    tokens = _graph_tokens(value, context)
    if tokens % _STEP == 0:
        return [tokens]
    if tokens == 1:
        raise CannotExpressError("performance", "captures CUDA graphs for up to four tokens at least")
    return _sizes_up_to(tokens)


def _lift_graph_list(value: JsonValue, settings: Settings) -> JsonValue:
    if not isinstance(value, list) or not value:
        raise LookupError(value)
    largest = value[-1]
    if not isinstance(largest, int) or isinstance(largest, bool):
        raise LookupError(value)
    whole = value == [largest] and largest % _STEP == 0
    if not whole and (largest % _STEP == 0 or value != _sizes_up_to(largest)):
        raise LookupError(value)
    return _requests(largest, settings)


_CAPTURE_SIZES = "cudagraph_capture_sizes"


def _lower_graph_config(value: JsonValue, context: LowerContext) -> JsonValue:
    return {_CAPTURE_SIZES: _sizes_up_to(_graph_tokens(value, context))}


def _lift_graph_config(value: JsonValue, settings: Settings) -> JsonValue:
    sizes = value.get(_CAPTURE_SIZES) if isinstance(value, dict) and len(value) == 1 else None
    if not isinstance(sizes, list) or not sizes or not isinstance(sizes[-1], int) or sizes != _sizes_up_to(sizes[-1]):
        raise LookupError(value)
    return _requests(sizes[-1], settings)


_BACKEND_FIELD = "serving.attention_backend"


def _lower_attention_backend(value: JsonValue, context: LowerContext) -> JsonValue | _Nothing:
    """The engine's own spelling of a backend's name; a name that it does not have would be ignored or stop the start."""
    name = str(value).upper().replace("-", "_")
    held = context.view.lookup("attention_backends", name)[1]
    if not held:
        if name == "AUTO" and held is False:
            return NOTHING
        because = (
            f"has no attention backend {value}" if held is False else not_known(f"has an attention backend {value}")
        )
        raise CannotExpressError("performance", because, _backend_fix(name, context))
    if name != value:
        context.restated[_BACKEND_FIELD] = name
    return name


def _backend_fix(name: str, context: LowerContext) -> str:
    """Names that the release has and that begin alike, else what to do without."""
    begin = name.partition("_")[0]
    near = [str(row.value) for row, held in context.view.table_rows("attention_backends") if held]
    alike = [n for n in near if n.startswith(begin) or n.partition("_")[0] in name]
    return f"Set {_BACKEND_FIELD} to {' or '.join(alike[:3])}." if alike else f"Unset {_BACKEND_FIELD}."


def _lift_attention_backend(value: JsonValue, settings: Settings) -> JsonValue:
    del settings
    if not isinstance(value, str):
        raise LookupError(value)
    return value


_SWITCHES = ("trust_remote_code", "enforce_eager", "enable_prefix_caching", "enable_chunked_prefill")

TRANSFORMS: Mapping[str, Transform] = {
    **{f"switch_{path}": Transform(partial(_lower_switch, path), _lift_bool) for path in _SWITCHES},
    "attention_backend": Transform(_lower_attention_backend, _lift_attention_backend),
    "one_of_list": Transform(_lower_one_of_list, _lift_one_of_list),
    "expert_ranks": Transform(_lower_expert_parallel, _lift_expert_parallel),
    "graph_tokens": Transform(_lower_graph_max, _requests),
    "graph_token_list": Transform(_lower_graph_list, _lift_graph_list),
    "graph_token_config": Transform(_lower_graph_config, _lift_graph_config),
}
