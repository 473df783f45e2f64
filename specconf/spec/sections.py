"""The sections of the spec around speculation: target, serving, hardware, workload, objective, deployment."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, StringConstraints
from pydantic_core import PydanticCustomError

from specconf.patterns import pattern
from specconf.spec.values import Count, EmptyIsUnset, ListIsTuple, Section, Text

_TOKEN = pattern(r"hf_[A-Za-z0-9]{16,}\Z")


class Feature(StrEnum):
    """What requests to the server may use."""

    LORA = "lora"
    STRUCTURED_OUTPUT = "structured_output"
    TOOLS = "tools"
    MULTIMODAL = "multimodal"
    LOGPROBS = "logprobs"
    PROMPT_LOGPROBS = "prompt_logprobs"
    PENALTIES = "penalties"
    MIN_P = "min_p"
    LOGIT_BIAS = "logit_bias"
    BAD_WORDS = "bad_words"
    MIN_TOKENS = "min_tokens"
    N_GREATER_1 = "n_greater_1"
    BEAM_SEARCH = "beam_search"
    CUSTOM_LOGITS_PROCESSORS = "custom_logits_processors"
    HIDDEN_STATES = "hidden_states"
    STREAMING = "streaming"
    EMBEDDINGS_INPUT = "embeddings_input"


class Platform(StrEnum):
    """What the engine runs on."""

    CUDA = "cuda"
    ROCM = "rocm"
    CPU = "cpu"
    XPU = "xpu"
    NPU = "npu"
    TPU = "tpu"


class WorkloadSampling(StrEnum):
    """How requests pick tokens."""

    GREEDY = "greedy"
    SAMPLED = "sampled"
    MIXED = "mixed"


class Goal(StrEnum):
    """What speculation is for."""

    LATENCY = "latency"
    THROUGHPUT = "throughput"
    BOTH = "both"


class Target(Section):
    """The model whose behaviour must be preserved."""

    model: Text = Field(description="Hub id or directory of the target.")
    revision: Text | None = Field(
        default=None, description="Branch, tag or commit of the target on the hub; pin it for reproducibility."
    )
    dtype: Text | None = Field(
        default=None, description="Data type of the target's weights and activations, for example bfloat16."
    )
    quantization: Text | None = Field(
        default=None, description="Quantization method of the target's weights, in the engine's word."
    )
    max_model_len: Count | None = Field(
        default=None, description="Longest sequence served, in tokens per request: prompt and output together."
    )
    trust_remote_code: bool | None = Field(
        default=None, description="Whether Python code from the model repositories may run, for target and draft alike."
    )


class Serving(Section):
    """The server: where it listens, how it is laid out over GPUs, and what one step holds."""

    host: Text | None = Field(default=None, description="Address the server listens on.")
    port: Annotated[int, Field(ge=1, le=65535)] | None = Field(
        default=None, description="TCP port number the server listens on, one per server."
    )
    served_model_name: Text | None = Field(default=None, description="Model name that requests use.")
    tensor_parallel_size: Count | None = Field(
        default=None,
        description="Ranks over which each layer of the target is split, per replica; one rank is one GPU.",
    )
    pipeline_parallel_size: Count | None = Field(
        default=None,
        description="Stages over which the target's layers are divided, per replica; "
        "each has tensor_parallel_size GPUs.",
    )
    data_parallel_size: Count | None = Field(
        default=None, description="Independent replicas of the target inside one launch, each with GPUs of its own."
    )
    attention_data_parallel_size: Count | None = Field(
        default=None,
        description="Groups of ranks that run attention on different requests, per tensor-parallel group; "
        "adds no GPUs.",
    )
    expert_parallel_size: Count | None = Field(
        default=None, description="Ranks over which the experts of one layer are spread, per replica; adds no GPUs."
    )
    max_num_seqs: Count | None = Field(
        default=None, description="Most requests in one step, running at once, per replica."
    )
    max_num_batched_tokens: Count | None = Field(
        default=None,
        description="Most tokens in one step, prompt and output tokens of all requests together, per replica.",
    )
    memory_fraction: Annotated[float, Field(gt=0, le=1)] | None = Field(
        default=None,
        description="Share of the whole memory of each GPU for weights and KV cache, target and draft together, "
        "per GPU; activations and CUDA graphs come on top.",
    )
    kv_cache_dtype: Text | None = Field(default=None, description="Data type of the KV cache, for example fp8.")
    overlap_schedule: bool | None = Field(
        default=None,
        description="Whether the next step is scheduled while the GPU runs this one (asynchronous scheduling).",
    )
    cuda_graph_max_batch: Count | None = Field(
        default=None,
        description="Largest decode step captured in a CUDA graph, in requests per replica; draft tokens do not count.",
    )
    enforce_eager: bool | None = Field(
        default=None, description="Whether the engine runs without CUDA graphs and compilation."
    )
    prefix_caching: bool | None = Field(
        default=None, description="Whether KV cache of equal prompt beginnings is reused."
    )
    chunked_prefill: bool | None = Field(
        default=None, description="Whether long prompts are computed in several steps."
    )
    attention_backend: Text | None = Field(
        default=None, description="Attention kernels of the target, in the engine's word."
    )
    seed: Annotated[int, Field(ge=0, le=2**63 - 1)] | None = Field(
        default=None, description="Seed of the random number generators, a plain number, one per server."
    )


class Hardware(Section):
    """What one launch runs on."""

    gpu: Text | None = Field(
        default=None, description="GPU model, for example H100; its capability comes from a table."
    )
    count: Count | None = Field(default=None, description="GPUs per node that the launch may use.")
    nodes: Count | None = Field(
        default=None, description="Nodes (machines) of one launch, per replica of the deployment."
    )
    platform: Annotated[
        Platform, Field(strict=False), BeforeValidator(lambda value: Platform.CUDA if value is None else value)
    ] = Field(default=Platform.CUDA, description="What the engine is built for; cuda when unset.")


class Workload(Section):
    """The requests that are expected; used for advice and for measuring, never to limit the server."""

    prompt_tokens: Count | None = Field(default=None, description="Typical prompt length, in tokens per request.")
    output_tokens: Count | None = Field(default=None, description="Typical output length, in tokens per request.")
    concurrency: Annotated[tuple[Count, ...], ListIsTuple, Field(min_length=1)] | None = Field(
        default=None, description="Numbers of requests running at once, per server, each a point that is measured."
    )
    sampling: Annotated[WorkloadSampling, Field(strict=False)] | None = Field(
        default=None, description="How requests pick tokens: greedy, sampled (temperature above 0), or mixed."
    )


class Objective(Section):
    """What speculation has to bring."""

    goal: Annotated[Goal, Field(strict=False)] | None = Field(default=None, description="What is to improve.")
    min_speedup: Annotated[float, Field(gt=0, le=100)] | None = Field(
        default=None,
        description="Smallest acceptable ratio of the measured goal with speculation to the target alone, "
        "per point of workload.concurrency; 1.2 is 20 % better.",
    )


def _reference_only(value: Any) -> Any:
    """Refuse a token itself, and do not repeat it."""
    if isinstance(value, str) and _TOKEN.match(value):
        raise PydanticCustomError(
            "secret", "looks like a token itself; write the name of the secret that holds it, and revoke it"
        )
    return value


class Secrets(Section):
    """Names of secrets; never their content."""

    hf_token: Annotated[Text, BeforeValidator(_reference_only, json_schema_input_type=Text)] | None = Field(
        default=None,
        description="Name of the secret (Kubernetes secret or environment variable) that holds the hub token.",
    )


class Deployment(Section):
    """What surrounds the server in a deploy file."""

    image: Text | None = Field(default=None, description="Container image with its tag or digest.")
    replicas: Annotated[int, Field(ge=0, le=2**31 - 1)] | None = Field(
        default=None, description="Copies of the whole launch, each a server of its own, per deployment."
    )
    namespace: Annotated[str, StringConstraints(max_length=63, pattern=r"^[a-z0-9]([a-z0-9-]*[a-z0-9])?$")] | None = (
        Field(default=None, description="Kubernetes namespace.")
    )
    model_cache: Text | None = Field(
        default=None, description="Volume claim or host directory that keeps downloaded weights."
    )
    secrets: Annotated[Secrets, EmptyIsUnset] = Field(default=Secrets(), description="Names of secrets.")
    overlay: Text | None = Field(
        default=None, description="File with deploy-file parts that are merged over what specconf writes."
    )
