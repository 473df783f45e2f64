"""Nothing the spec sets is dropped silently: every field by engine by release is written, proven, refused or descriptive."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from specconf.compat.database import load_database
from specconf.compat.names import ENGINE_NAMES
from specconf.compat.rows import Action
from specconf.compat.view import View
from specconf.engines.base import Lowered, Models
from specconf.engines.lowering import lower
from specconf.engines.registry import get_engine
from specconf.facts import Unavailable
from specconf.findings import Severity
from specconf.spec import ALL_FIELDS, Spec
from specconf.words import JsonValue

GOLDEN = Path(__file__).parent / "golden_fields.txt"
MODELS = Models(Unavailable("target", "not looked up"), Unavailable("draft", "not looked up"))
BASE: dict[str, JsonValue] = {
    "target.model": "org/target",
    "speculation.method": "eagle3",
    "speculation.draft.model": "org/draft",
    "speculation.num_draft_tokens": 3,
}
# The methods whose speculation fields are walked; each drops or adds what its kind of draft needs.
METHODS: dict[str, dict[str, JsonValue]] = {
    "eagle3": {},
    "draft_model": {},
    "mtp": {"speculation.draft.model": None},
    "ngram": {"speculation.draft.model": None},
}
# A value for every field, none of them an engine's default or the spec's own; further fields it needs beside it.
VALUES: dict[str, tuple[JsonValue, dict[str, JsonValue]]] = {
    "name": ("chat", {}),
    "target.model": ("org/target", {}),
    "target.revision": ("abc123", {}),
    "target.dtype": ("bfloat16", {}),
    "target.quantization": ("fp8", {}),
    "target.max_model_len": (4096, {}),
    "target.trust_remote_code": (True, {}),
    "speculation.method": ("eagle3", {}),
    "speculation.num_draft_tokens": (3, {}),
    "speculation.draft.model": ("org/draft", {}),
    "speculation.draft.revision": ("abc123", {}),
    "speculation.draft.quantization": ("fp8", {}),
    "speculation.draft.tensor_parallel_size": (2, {"serving.tensor_parallel_size": 4}),
    "speculation.draft.max_model_len": (2048, {}),
    "speculation.tree.topk": (4, {"speculation.tree.num_verify_tokens": 8}),
    "speculation.tree.num_steps": (2, {"speculation.tree.topk": 4, "speculation.tree.num_verify_tokens": 8}),
    "speculation.tree.num_verify_tokens": (8, {"speculation.tree.topk": 4}),
    "speculation.ngram.min": (2, {"speculation.method": "ngram", "speculation.draft.model": None}),
    "speculation.ngram.max": (4, {"speculation.method": "ngram", "speculation.draft.model": None}),
    "speculation.verification": ({"mode": "typical"}, {}),
    "speculation.sampling.rejection": ("block", {}),
    "speculation.sampling.draft": ("probabilistic", {}),
    "speculation.schedule": ([{"up_to": 8, "k": 3}, {"k": 0}], {}),
    "speculation.disable_above": (16, {}),
    "speculation.adaptive": (True, {}),
    "serving.host": ("0.0.0.0", {}),
    "serving.port": (9000, {}),
    "serving.served_model_name": ("chat", {}),
    "serving.tensor_parallel_size": (4, {}),
    "serving.pipeline_parallel_size": (2, {}),
    "serving.data_parallel_size": (2, {}),
    "serving.attention_data_parallel_size": (4, {"serving.tensor_parallel_size": 4}),
    "serving.expert_parallel_size": (4, {"serving.tensor_parallel_size": 4}),
    "serving.max_num_seqs": (64, {}),
    "serving.max_num_batched_tokens": (4096, {}),
    "serving.memory_fraction": (0.77, {}),
    "serving.kv_cache_dtype": ("fp8", {}),
    "serving.overlap_schedule": (True, {}),
    "serving.cuda_graph_max_batch": (8, {}),
    "serving.enforce_eager": (True, {}),
    "serving.prefix_caching": (False, {}),
    "serving.chunked_prefill": (False, {}),
    "serving.attention_backend": ("FLASHINFER", {}),
    "serving.seed": (7, {}),
    "features": (["tools"], {}),
    "hardware.gpu": ("H100", {}),
    "hardware.count": (8, {}),
    "hardware.nodes": (1, {}),
    "hardware.platform": ("rocm", {}),
    "workload.prompt_tokens": (100, {}),
    "workload.output_tokens": (100, {}),
    "workload.concurrency": ([1, 8], {}),
    "workload.sampling": ("mixed", {}),
    "objective.goal": ("latency", {}),
    "objective.min_speedup": (1.2, {}),
    "deployment.image": ("org/image:tag", {}),
    "deployment.replicas": (2, {}),
    "deployment.namespace": ("llm", {}),
    "deployment.model_cache": ("cache", {}),
    "deployment.secrets.hf_token": ("token-secret", {}),
    "deployment.overlay": ("overlay.yaml", {}),
}
DESCRIBES = tuple(f for f in ALL_FIELDS if f.startswith(("hardware.", "workload.", "objective.", "deployment.")))


def spec_with(field: str, method: str = "eagle3") -> Spec | None:
    """A spec with one field set; None where the method does not have the field."""
    value, beside = VALUES[field]
    if "speculation.method" in beside and method != beside["speculation.method"]:
        return None
    chosen = {**BASE, **METHODS[method], "speculation.method": method, **beside}
    fields = {**chosen, field: method if field == "speculation.method" else value}
    try:
        return Spec.from_fields({name: v for name, v in fields.items() if v is not None})
    except ValidationError:
        return None


def fate(field: str, view: View, method: str = "eagle3") -> str:
    """What becomes of a field here: the paths that carry it, or why nothing does."""
    spec = spec_with(field, method)
    if spec is None:
        return "not a field of this method"
    lowered = lower(spec, get_engine(view.engine), view, MODELS)
    if field in lowered.refused:
        worst = min((f for f in lowered.findings if f.option == field), key=lambda f: f.severity.rank)
        return f"refused ({worst.severity})"
    if field in lowered.written:
        paths = [p for p, s in lowered.settings.items_by_path.items() if s.final.field == field]
        return f"written as {', '.join(paths)}" if paths else "written with another field"
    if _is_restated(field, lowered):
        return f"restated as {', '.join(lowered.restated)}"
    told = [f for f in lowered.findings if f.severity is Severity.ERROR and f.option.startswith("speculation.")]
    return "nothing to write, since the method is refused" if told else "nothing to write"


def _is_restated(field: str, lowered: Lowered) -> bool:
    """Whether other fields say the same in the engine's words: `disable_above` as the end of a schedule."""
    return field == "speculation.disable_above" and "speculation.schedule" in lowered.restated


def test_every_field_has_a_value_here() -> None:
    assert set(VALUES) == set(ALL_FIELDS)


def _walked() -> list[tuple[str, str]]:
    """Method and field: every field once, and those of speculation for every method."""
    return [(m, f) for m in METHODS for f in ALL_FIELDS if m == "eagle3" or f.startswith("speculation.")]


def _eras(engine: str) -> list[str]:
    """Lines `engine field (method): first release .. last: fate`, runs of equal fate joined, over every known release."""
    database = load_database(engine)
    names = database.line.names
    lines = []
    for method, field in _walked():
        fates = [fate(field, database.view(database.line.at(i)), method) for i in range(len(names))]
        start = 0
        for i in range(1, len(fates) + 1):
            if i == len(fates) or fates[i] != fates[start]:
                if fates[start] != "not a field of this method":
                    lines.append(f"{engine} {field} ({method}): {names[start]} .. {names[i - 1]}: {fates[start]}")
                start = i
    return lines


@pytest.mark.parametrize("engine", ENGINE_NAMES)
def test_the_fate_of_every_field_in_every_release(engine: str) -> None:
    """Golden: a change of any fate shows as a reviewed diff. `python -m tests.engines.test_nothing_dropped` rewrites it."""
    golden = [line for line in GOLDEN.read_text(encoding="utf-8").splitlines() if line.startswith(f"{engine} ")]
    assert _eras(engine) == golden


# Fields of the method that an engine does anyway, each proven in its own lowering: exactly these have nothing written.
PROVEN = {
    ("sglang", "serving.overlap_schedule"),
    ("vllm", "serving.prefix_caching"),
    ("vllm", "serving.chunked_prefill"),
    *((engine, "speculation.tree.topk") for engine in ENGINE_NAMES),
    *((engine, "speculation.verification") for engine in ENGINE_NAMES),
}


@pytest.mark.parametrize("engine", ENGINE_NAMES)
def test_a_field_with_nothing_written_is_descriptive_or_proven(engine: str) -> None:
    """`nothing to write` is allowed to descriptive fields and to those that the engine does anyway, and to no other."""
    database = load_database(engine)
    for position in range(len(database.line.names)):
        view = database.view(database.line.at(position))
        for method, field in _walked():
            if fate(field, view, method) != "nothing to write":
                continue
            if field in DESCRIBES or field in {"name", "features"}:
                assert {row.action for row, _ in view.mapping[field]} == {Action.DESCRIBE}, (field, view.release)
            else:
                assert (engine, field) in PROVEN, (method, field, view.release)


if __name__ == "__main__":
    GOLDEN.write_text("\n".join(line for name in ENGINE_NAMES for line in _eras(name)) + "\n", encoding="utf-8")
