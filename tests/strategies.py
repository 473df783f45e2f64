"""Hypothesis strategies that several test folders share: valid specs over all fields, with plain realistic values."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hypothesis import strategies as st

from specconf.spec.fields import ALL_FIELDS
from specconf.spec.methods import METHODS, DraftUse, Method
from specconf.spec.model import Spec
from specconf.spec.sections import Feature

MODELS = (
    "Qwen/Qwen3-4B-Thinking-2507",
    "meta-llama/Llama-3.1-8B-Instruct",
    "XiaomiMiMo/MiMo-7B-Base",
    "/models/target",
)
DRAFTS = ("Qwen/Qwen3-0.6B", "yuhuili/EAGLE3-LLaMA3.1-Instruct-8B", "/models/draft", "./heads/eagle")

REQUIRED = ("target.model", "speculation.method")

_LOSSY = st.one_of(
    st.fixed_dictionaries(
        {"mode": st.just("typical")}, optional={"posterior_threshold": st.sampled_from([0.05, 0.09])}
    ),
    st.fixed_dictionaries({"mode": st.just("accept_threshold"), "single": st.sampled_from([0.5, 0.9, 1.0])}),
    st.fixed_dictionaries(
        {"mode": st.just("relaxed")}, optional={"topk": st.integers(1, 10), "delta": st.sampled_from([0.1, 0.6])}
    ),
    st.fixed_dictionaries({"mode": st.just("fly")}, optional={"window_size": st.integers(1, 16)}),
    st.fixed_dictionaries(
        {"mode": st.just("synthetic"), "rates": st.lists(st.sampled_from([0.9, 0.5]), min_size=1, max_size=3)}
    ),
)

_switch = st.booleans()
_small = st.integers(1, 8)

FIELD_VALUES: dict[str, st.SearchStrategy[Any]] = {
    "name": st.sampled_from(["qwen3-4b-chat", "llama", "code_1.5"]),
    "target.model": st.sampled_from(MODELS),
    "target.revision": st.sampled_from(["main", "v1.0", "0123abc", "1e3"]),
    "target.dtype": st.sampled_from(["auto", "bfloat16", "float16"]),
    "target.quantization": st.sampled_from(["fp8", "awq", "gptq"]),
    "target.max_model_len": st.sampled_from([2048, 8192, 32768, 131072]),
    "target.trust_remote_code": _switch,
    "speculation.method": st.sampled_from([method.value for method in Method]),
    "speculation.num_draft_tokens": _small,
    "speculation.draft.model": st.sampled_from(DRAFTS),
    "speculation.draft.revision": st.sampled_from(["main", "refs/pr/1"]),
    "speculation.draft.quantization": st.sampled_from(["fp8", "awq"]),
    "speculation.draft.tensor_parallel_size": st.sampled_from([1, 2, 4]),
    "speculation.draft.max_model_len": st.sampled_from([2048, 4096]),
    "speculation.tree.topk": st.sampled_from([1, 2, 4, 8]),
    "speculation.tree.num_steps": _small,
    "speculation.tree.num_verify_tokens": st.integers(2, 64),
    "speculation.ngram.min": st.integers(1, 4),
    "speculation.ngram.max": st.integers(4, 12),
    "speculation.verification": st.one_of(st.just("exact"), _LOSSY),
    "speculation.sampling.rejection": st.sampled_from(["standard", "block"]),
    "speculation.sampling.draft": st.sampled_from(["greedy", "probabilistic"]),
    "speculation.schedule": st.lists(
        st.integers(0, 8), min_size=1, max_size=3
    ),  # K per row; rows are made in _schedule
    "speculation.disable_above": st.sampled_from([16, 32, 64]),
    "speculation.adaptive": st.one_of(
        _switch, st.fixed_dictionaries({"ema_alpha": st.just(0.2), "steps": st.just([1, 3])})
    ),
    "serving.host": st.sampled_from(["0.0.0.0", "127.0.0.1", "::"]),
    "serving.port": st.sampled_from([8000, 30000, 8355]),
    "serving.served_model_name": st.sampled_from(["chat", "Qwen 3", "yes"]),
    "serving.tensor_parallel_size": st.sampled_from([1, 2, 4, 8]),
    "serving.pipeline_parallel_size": st.sampled_from([1, 2]),
    "serving.data_parallel_size": st.sampled_from([1, 2, 4]),
    "serving.attention_data_parallel_size": st.sampled_from([1, 2, 8]),
    "serving.expert_parallel_size": st.sampled_from([1, 2, 8]),
    "serving.max_num_seqs": st.sampled_from([1, 16, 64, 256]),
    "serving.max_num_batched_tokens": st.sampled_from([2048, 8192]),
    "serving.memory_fraction": st.sampled_from([0.5, 0.7, 0.85, 0.9, 1.0]),
    "serving.kv_cache_dtype": st.sampled_from(["auto", "fp8", "fp8_e5m2"]),
    "serving.overlap_schedule": _switch,
    "serving.cuda_graph_max_batch": st.sampled_from([1, 8, 64]),
    "serving.enforce_eager": _switch,
    "serving.prefix_caching": _switch,
    "serving.chunked_prefill": _switch,
    "serving.attention_backend": st.sampled_from(["flashinfer", "triton", "FLASH_ATTN"]),
    "serving.seed": st.sampled_from([0, 1, 42]),
    "features": st.lists(st.sampled_from([feature.value for feature in Feature]), min_size=1, max_size=4, unique=True),
    "hardware.gpu": st.sampled_from(["H100", "A100", "L4", "MI300X"]),
    "hardware.count": st.sampled_from([1, 2, 8]),
    "hardware.nodes": st.sampled_from([1, 2]),
    "hardware.platform": st.sampled_from(["cuda", "rocm", "cpu", "xpu", "npu", "tpu"]),
    "workload.prompt_tokens": st.sampled_from([100, 1000]),
    "workload.output_tokens": st.sampled_from([100, 500]),
    "workload.concurrency": st.lists(st.sampled_from([1, 4, 16, 64]), min_size=1, max_size=4, unique=True),
    "workload.sampling": st.sampled_from(["greedy", "sampled", "mixed"]),
    "objective.goal": st.sampled_from(["latency", "throughput", "both"]),
    "objective.min_speedup": st.sampled_from([1.0, 1.2, 2.5]),
    "deployment.image": st.sampled_from(["vllm/vllm-openai:v0.33.0", "registry.example/e@sha256:00ff"]),
    "deployment.replicas": st.sampled_from([1, 2]),
    "deployment.namespace": st.sampled_from(["inference", "team-1"]),
    "deployment.model_cache": st.sampled_from(["model-cache", "/var/cache/models"]),
    "deployment.secrets.hf_token": st.sampled_from(["hf-token", "HF_TOKEN"]),
    "deployment.overlay": st.sampled_from(["overlay.yaml", "k8s/patch.yaml"]),
}

_OPTIONS = st.dictionaries(
    st.sampled_from(["enable-prefix-caching", "load_format", "speculative_config.x", "limit", "kv-events"]),
    st.one_of(
        st.none(),
        _switch,
        st.integers(-1, 100),
        st.sampled_from([0.5, 1e-3, 1e20, "auto", "yes", "a,b", ""]),
        st.lists(st.sampled_from(["x", "y: z", 1]), max_size=2),
        st.fixed_dictionaries(
            {"inner": st.integers(0, 3)}, optional={"list": st.just([{"a": 1}, [2]]), "empty": st.just({})}
        ),
    ),
    max_size=3,
)
_ENV = st.dictionaries(
    st.sampled_from(["SGLANG_ENABLE_SPEC_V2", "VLLM_LOGGING_LEVEL", "NCCL_DEBUG"]),
    st.sampled_from(["1", "true", "INFO", "", "a b"]),
    max_size=2,
)
_RELEASES = {
    "vllm": ["0.33.0", "0.10.2", "0.9.2"],
    "sglang": ["0.5.23", "0.5.4.post1"],
    "tensorrt-llm": ["1.4.0rc1", "1.2.1"],
}


@st.composite
def engine_settings(draw: st.DrawFn) -> dict[str, Any]:
    """What stands under `engines`: any engines, with or without releases, options and environments."""
    named = draw(st.sets(st.sampled_from(sorted(_RELEASES))))
    result: dict[str, Any] = {}
    for engine in sorted(named):
        parts: dict[str, st.SearchStrategy[Any]] = {
            "release": st.sampled_from(_RELEASES[engine]),
            "options": _OPTIONS,
            "env": _ENV,
        }
        if engine == "tensorrt-llm":
            parts["cli"] = st.dictionaries(
                st.sampled_from(["max_batch_size", "log-level"]), st.sampled_from([8, "info"])
            )
        result[engine] = draw(st.fixed_dictionaries({}, optional=parts))
    return result


def fields_for(method: Method) -> tuple[str, ...]:
    """The fields that a spec with this method may set, in the order of the spec."""
    return tuple(field for field in ALL_FIELDS if _allowed(method, field))


def _allowed(method: Method, field: str) -> bool:
    traits = METHODS[method]
    if not field.startswith("speculation.") or field in (*REQUIRED, "speculation.verification"):
        return True
    if method is Method.NONE:
        return False
    if field.startswith("speculation.draft."):
        return traits.draft is not DraftUse.NEVER
    if field == "speculation.tree.num_verify_tokens":
        return traits.verify_tokens
    if field.startswith("speculation.tree."):
        return traits.tree
    return traits.ngram or not field.startswith("speculation.ngram.")


@st.composite
def spec_fields(
    draw: st.DrawFn, methods: Iterable[Method] = tuple(Method), fields: Iterable[str] | None = None
) -> dict[str, Any]:
    """Dotted names and values of a valid spec: any method of `methods`, any subset of the fields it may set.

    `fields` limits the subset; the target and the method are always set, the draft's model where the method needs one.
    """
    method = draw(st.sampled_from(tuple(methods)))
    wanted = set(ALL_FIELDS if fields is None else fields)
    optional = [field for field in fields_for(method) if field in wanted and field not in REQUIRED]
    chosen = draw(st.one_of(st.sets(st.sampled_from(optional)), st.just(set(optional)))) if optional else set()
    if METHODS[method].draft is DraftUse.NEEDS:
        chosen = chosen | {"speculation.draft.model"}
    values: dict[str, Any] = {"target.model": draw(FIELD_VALUES["target.model"]), "speculation.method": method.value}
    values |= {field: draw(FIELD_VALUES[field]) for field in ALL_FIELDS if field in chosen}
    _without_contradictions(method, values)
    return {field: values[field] for field in ALL_FIELDS if field in values}


@st.composite
def specs(
    draw: st.DrawFn,
    methods: Iterable[Method] = tuple(Method),
    fields: Iterable[str] | None = None,
    with_engines: bool = True,
) -> Spec:
    """Valid specs over all fields, with any subset of them set; see `spec_fields`."""
    values = draw(spec_fields(methods, fields))
    return Spec.from_fields(values, engines=draw(engine_settings()) if with_engines else None)


def _without_contradictions(method: Method, values: dict[str, Any]) -> None:
    k = values.get("speculation.num_draft_tokens")
    if method is Method.NONE and "speculation.verification" in values:
        values["speculation.verification"] = "exact"
    if METHODS[method].tree and values.get("speculation.tree.topk", 1) == 1 and k is not None:
        for field, length in (("num_steps", k), ("num_verify_tokens", k + 1)):
            if f"speculation.tree.{field}" in values:
                values[f"speculation.tree.{field}"] = length
    chain = METHODS[method].tree and values.get("speculation.tree.topk", 1) == 1
    verified = values.get("speculation.tree.num_verify_tokens", 1) - 1
    most = k or (values.get("speculation.tree.num_steps") or verified if chain else None) or 8
    if "speculation.schedule" in values:
        values["speculation.schedule"] = _schedule(values["speculation.schedule"], most)


def _schedule(lengths: list[int], most: int) -> list[dict[str, int]]:
    """Rows of a schedule from a K per row; the last row is open if its K is 0."""
    rows = [{"up_to": 4 * (index + 1), "k": min(length, most)} for index, length in enumerate(lengths)]
    if not any(row["k"] for row in rows):
        rows.insert(0, {"up_to": 2, "k": 1})
    if rows[-1]["k"] == 0:
        del rows[-1]["up_to"]
    return rows
