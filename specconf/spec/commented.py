"""A spec as text for a person who goes on writing it: what is set, and what could be, as comments to be taken away.

`# ` begins what is said of a field, in the model's own words; `#` with nothing behind it begins a field that can be set by
taking the sign away. The text loads back as the spec it was made of.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from specconf.spec.dump import block, flow, plain_or_quoted
from specconf.spec.engines import ENGINES, EngineSpec, TensorRTLLMSpec
from specconf.spec.leaves import section_of
from specconf.spec.methods import Method, takes
from specconf.spec.model import Spec
from specconf.words import JsonValue

_WIDTH = 110
_HEAD = (
    "A field that is not set is left to the engine. Lines that begin with # and no space are fields that can be set: "
    "take the # away and write your value."
)

# A value for each field that may stand as a comment: valid beside any other, and telling what such a value looks like.
EXAMPLES: dict[str, JsonValue] = {
    "name": "my-deployment",
    "target.revision": "main",
    "target.dtype": "bfloat16",
    "target.quantization": "fp8",
    "target.max_model_len": 8192,
    "target.trust_remote_code": False,
    "speculation.num_draft_tokens": 3,
    "speculation.draft.model": "owner/name",
    "speculation.draft.revision": "main",
    "speculation.draft.quantization": "fp8",
    "speculation.draft.tensor_parallel_size": 1,
    "speculation.draft.max_model_len": 8192,
    "speculation.tree.num_steps": 3,
    "speculation.tree.num_verify_tokens": 4,
    "speculation.ngram.min": 2,
    "speculation.ngram.max": 4,
    "speculation.sampling.rejection": "standard",
    "speculation.sampling.draft": "greedy",
    "speculation.schedule": [{"up_to": 16, "k": 1}, {"k": 0}],
    "speculation.disable_above": 64,
    "speculation.adaptive": False,
    "serving.host": "0.0.0.0",  # noqa: S104 (an example in a comment)
    "serving.port": 8000,
    "serving.served_model_name": "chat",
    "serving.tensor_parallel_size": 1,
    "serving.pipeline_parallel_size": 1,
    "serving.data_parallel_size": 1,
    "serving.attention_data_parallel_size": 1,
    "serving.expert_parallel_size": 1,
    "serving.max_num_seqs": 64,
    "serving.max_num_batched_tokens": 8192,
    "serving.memory_fraction": 0.85,
    "serving.kv_cache_dtype": "auto",
    "serving.overlap_schedule": True,
    "serving.cuda_graph_max_batch": 64,
    "serving.enforce_eager": False,
    "serving.prefix_caching": True,
    "serving.chunked_prefill": True,
    "serving.attention_backend": "flashinfer",
    "serving.seed": 0,
    "features": ["structured_output", "logprobs"],
    "hardware.gpu": "H100",
    "hardware.count": 1,
    "hardware.nodes": 1,
    "workload.prompt_tokens": 1000,
    "workload.output_tokens": 500,
    "workload.concurrency": [1, 16, 64],
    "workload.sampling": "mixed",
    "objective.goal": "latency",
    "objective.min_speedup": 1.2,
    "deployment.image": "registry.example/engine:tag",
    "deployment.replicas": 1,
    "deployment.namespace": "inference",
    "deployment.model_cache": "model-cache",
    "deployment.secrets.hf_token": "hf-token",
    "deployment.overlay": "overlay.yaml",
}
ENGINE_EXAMPLES: dict[str, dict[str, JsonValue]] = {
    "vllm": {"options": {"max-logprobs": 5}, "env": {"VLLM_LOGGING_LEVEL": "INFO"}},
    "sglang": {"options": {"log-level": "info"}, "env": {"HF_HUB_OFFLINE": "1"}},
    "tensorrt-llm": {
        "options": {"print_iter_log": True},
        "env": {"TLLM_LOG_LEVEL": "INFO"},
        "cli": {"log_level": "info"},
    },
}


def commented_spec(
    spec: Spec,
    *,
    head: Sequence[str] = (),
    notes: Mapping[str, str] | None = None,
    releases: Mapping[str, str] | None = None,
) -> str:
    """The text of a spec with every field it could have.

    `head`: what stands above all. `notes`: what is said of single fields beside what they mean. `releases`: of each engine
    one that can be written as an example.
    """
    lines = [line for text in (*head, _HEAD) for line in _comment(text, "")]
    page = _Page(spec, notes or {}, releases or {})
    for name, info in Spec.model_fields.items():
        lines += ["", *page.top(name, info)]
    return "\n".join(lines) + "\n"


class _Page:
    """One spec as lines. Which fields have a meaning, and what their examples are, depends on what the spec sets."""

    def __init__(self, spec: Spec, notes: Mapping[str, str], releases: Mapping[str, str]) -> None:
        self._fields = spec.set_fields()
        self._engines = spec.engine_settings()
        self._version = spec.specconf
        self._method = Method(spec.speculation.method)
        self._notes = notes
        self._releases = releases
        self._examples = _fitting(self._fields)

    def top(self, name: str, info: FieldInfo) -> Iterator[str]:
        """One section, or one field that stands in none."""
        if name == "specconf":
            yield from (*_comment(info.description or "", ""), f"specconf: {self._version}")
        elif name == "engines":
            yield from (*_comment(info.description or "", ""), "engines:", *self._all_engines())
        else:
            yield from self._member(name, info, "")

    def _member(self, field: str, info: FieldInfo, indent: str) -> Iterator[str]:
        section = section_of(info)
        if section is None:
            yield from self._leaf(field, info, indent)
            return
        inner = list(self._members(section, f"{field}.", indent + "  "))
        if inner:
            yield from (*_comment(info.description or "", indent), f"{indent}{field.rpartition('.')[2]}:", *inner)

    def _members(self, section: type[BaseModel], prefix: str, indent: str) -> Iterator[str]:
        for name, info in section.model_fields.items():
            yield from self._member(prefix + name, info, indent)

    def _leaf(self, field: str, info: FieldInfo, indent: str) -> Iterator[str]:
        if not takes(self._method, field):
            return
        yield from _comment(info.description or "", indent)
        if field in self._notes:
            yield from _comment(self._notes[field], indent)
        name = field.rpartition(".")[2]
        if field in self._fields:
            yield from block({name: self._fields[field]}, indent)
        else:
            yield f"{indent}#{name}: {flow(self._examples[field])}"

    def _all_engines(self) -> Iterator[str]:
        described = False
        for engine in ENGINES:
            written = self._engines.get(engine)
            if written is None:
                release = self._releases.get(engine)
                yield f"  #{engine}: {flow({'release': release} if release else {})}"
                continue
            yield f"  {engine}:"
            yield from self._engine(engine, written, described)
            described = True

    def _engine(self, engine: str, written: Mapping[str, JsonValue], described: bool) -> Iterator[str]:
        """The settings of one engine; what they mean is said of the first engine only."""
        examples = {"release": self._releases.get(engine)} | ENGINE_EXAMPLES[engine]
        about = {name: info.description or "" for name, info in TensorRTLLMSpec.model_fields.items()}
        for name, example in examples.items():
            if not described or name not in EngineSpec.model_fields:
                yield from _comment(about[name], "    ")
            if f"engines.{engine}.{name}" in self._notes:
                yield from _comment(self._notes[f"engines.{engine}.{name}"], "    ")
            if name in written:
                yield from block({name: written[name]}, "    ")
            elif example is not None:
                yield f"    #{plain_or_quoted(name)}: {flow(example)}"


def _fitting(fields: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """The examples as they are valid beside what is set: a chain's steps are K, a match is no longer than the longest."""
    k = _whole(fields.get("speculation.num_draft_tokens"))
    length = k or _whole(fields.get("speculation.tree.num_steps")) or 3
    if not k and "speculation.tree.num_verify_tokens" in fields:
        length = max(1, _whole(fields["speculation.tree.num_verify_tokens"]) - 1)
    deepest = max((_whole(row.get("k")) for row in _rows(fields.get("speculation.schedule"))), default=0)
    longest = max((_whole(row.get("up_to")) for row in _rows(fields.get("speculation.schedule"))), default=0)
    low, high = _whole(fields.get("speculation.ngram.min")), _whole(fields.get("speculation.ngram.max"))
    above = _whole(fields.get("speculation.disable_above"))
    return EXAMPLES | {
        "speculation.num_draft_tokens": max(length, deepest),
        "speculation.tree.num_steps": max(length, deepest),
        "speculation.tree.num_verify_tokens": max(length, deepest) + 1,
        "speculation.ngram.min": min(2, high or 2),
        "speculation.ngram.max": max(4, low),
        "speculation.schedule": [{"up_to": min(16, above or 16), "k": 1}, {"k": 0}],
        "speculation.disable_above": max(64, longest),
    }


def _whole(value: JsonValue) -> int:
    """A whole number that is set, else nothing."""
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def _rows(value: JsonValue) -> Iterable[Mapping[str, JsonValue]]:
    return [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []


def _comment(text: str, indent: str) -> list[str]:
    mark = f"{indent}# "
    return textwrap.wrap(
        text, _WIDTH, initial_indent=mark, subsequent_indent=mark, break_long_words=False, break_on_hyphens=False
    )
