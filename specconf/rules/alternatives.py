"""When a release refuses a spec: the smallest change that would pass, searched over the same rules.

Changes are tried from small to large: one option or field, then K, then the release, then the method. Each is lowered and
checked like the original, so a suggestion is never one that specconf itself would refuse.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from specconf.compat.database import Database, View
from specconf.engines.base import Engine, Models
from specconf.rules.judge import judge_spec
from specconf.words import JsonValue

if TYPE_CHECKING:
    from specconf.spec.model import Spec


@dataclass(frozen=True, slots=True)
class Alternative:
    """A change to the spec (or to the release) that would pass."""

    text: str
    changes: tuple[tuple[str, JsonValue], ...] = ()
    release: str = ""


ModelsFor = Callable[["Spec"], Models]


def smallest_change(
    spec: Spec, engine: Engine, database: Database, view: View, models_for: ModelsFor
) -> list[Alternative]:
    """Up to three changes that would pass, smallest first; at most one of each kind."""
    found: list[Alternative] = []
    kinds: set[str] = set()
    for kind, alternative in _candidates(spec, engine, database, view, models_for):
        if kind not in kinds:
            kinds.add(kind)
            found.append(alternative)
        if len(found) == 3:
            break
    return found


def _candidates(
    spec: Spec, engine: Engine, database: Database, view: View, models_for: ModelsFor
) -> Iterator[tuple[str, Alternative]]:
    for changes in _single_changes(spec):
        if _passes(spec, changes, engine, view, models_for):
            yield "field", Alternative(_described(changes), tuple(changes.items()))
    release = _nearest_release(spec, engine, database, view, models_for)
    if release is not None:
        yield "release", Alternative(f"use {engine.title} {release}", release=release)
    for changes in _other_methods(spec):
        if _passes(spec, changes, engine, view, models_for):
            yield "method", Alternative(_described(changes), tuple(changes.items()))


def _single_changes(spec: Spec) -> Iterator[dict[str, JsonValue]]:
    """One field set, changed or unset, from the least to the most that a launch would notice."""
    fields = spec.set_fields()
    k = fields.get("speculation.num_draft_tokens")
    if fields.get("target.trust_remote_code") is not True:
        yield {"target.trust_remote_code": True}
    topk = fields.get("speculation.tree.topk")
    steps = fields.get("speculation.tree.num_steps") or k
    if isinstance(topk, int) and topk > 1:
        if "speculation.tree.num_verify_tokens" not in fields and isinstance(steps, int):
            yield {"speculation.tree.num_verify_tokens": steps * topk + 1}
        yield {
            "speculation.tree.topk": 1,
            "speculation.tree.num_steps": None,
            "speculation.tree.num_verify_tokens": None,
        }
    target_tp = fields.get("serving.tensor_parallel_size", 1)
    draft_tp = fields.get("speculation.draft.tensor_parallel_size")
    if draft_tp is not None:
        yield {"speculation.draft.tensor_parallel_size": target_tp}
        yield {"speculation.draft.tensor_parallel_size": None}
    elif target_tp != 1 and "speculation.draft.model" in fields:
        yield {"speculation.draft.tensor_parallel_size": target_tp}
    for name in _OPTIONAL:
        if name in fields:
            yield {name: None}
    for other in _other_lengths(k):
        yield {"speculation.num_draft_tokens": other}


_OPTIONAL = (
    "speculation.schedule",
    "speculation.disable_above",
    "speculation.adaptive",
    "speculation.sampling.rejection",
    "speculation.sampling.draft",
    "serving.overlap_schedule",
    "serving.pipeline_parallel_size",
    "serving.attention_data_parallel_size",
    "serving.expert_parallel_size",
    "serving.kv_cache_dtype",
    "serving.attention_backend",
)


def _other_lengths(k: JsonValue) -> list[int]:
    """Other K, nearest first; 1 to 8 are what heads and MTP layers are trained for."""
    if not isinstance(k, int):
        return [4, 3, 1]
    return sorted((n for n in range(1, max(8, k) + 1) if n != k), key=lambda n: (abs(n - k), n))


def _other_methods(spec: Spec) -> Iterator[dict[str, JsonValue]]:
    """Other methods that need no further weights than the spec has."""
    fields = spec.set_fields()
    none_of_draft: dict[str, JsonValue] = {
        name: None
        for name in fields
        if name.startswith(("speculation.draft.", "speculation.tree.")) or name == "speculation.adaptive"
    }
    method = fields.get("speculation.method")
    if "speculation.draft.model" in fields:
        for other in ("eagle3", "eagle", "draft_model"):
            if other != method:
                yield {"speculation.method": other}
    if method != "mtp":
        yield {"speculation.method": "mtp", **none_of_draft}
    if method != "ngram":
        yield {"speculation.method": "ngram", **none_of_draft}


# The kind of draft checkpoint that each method with weights of its own drafts with.
_KIND_FOR = {"draft_model": "plain", "eagle": "eagle", "eagle3": "eagle3"}


def _passes(spec: Spec, changes: dict[str, JsonValue], engine: Engine, view: View, models_for: ModelsFor) -> bool:
    from pydantic import ValidationError

    try:
        changed = spec.with_fields(changes)
    except ValidationError:
        return False
    models = models_for(changed)
    method = changes.get("speculation.method")
    if method is not None and not _weights_fit(str(method), models):
        return False
    return not judge_spec(changed, engine, view, models).errors


def _weights_fit(method: str, models: Models) -> bool:
    """Another method is only suggested when the weights it needs are known to be there."""
    if method == "mtp":
        layers = models.known("target", "mtp_layers")
        return isinstance(layers, int) and layers > 0
    wanted = _KIND_FOR.get(method)
    return wanted is None or models.known("draft", "kind") == wanted


def _nearest_release(spec: Spec, engine: Engine, database: Database, view: View, models_for: ModelsFor) -> str | None:
    """The nearest final release that passes: newer ones first, since operators upgrade more gladly than they go back."""
    names = database.line.names
    here = view.point.positions[-1]
    models = models_for(spec)
    newer = [p for p in range(here + 1, len(names)) if _is_final(database, p)]
    older = [p for p in range(view.point.positions[0] - 1, -1, -1) if _is_final(database, p)]
    for position in [*newer, *older]:
        point = database.line.at(position)
        if not judge_spec(spec, engine, database.view(point), models).errors:
            return point.stated
    return None


def _is_final(database: Database, position: int) -> bool:
    return not database.line.versions[position].is_prerelease


def _described(changes: dict[str, JsonValue]) -> str:
    shown = [f"set {name} to {_value(value)}" for name, value in changes.items() if value is not None]
    gone = [name for name, value in changes.items() if value is None]
    if gone and not shown:
        return f"unset {', '.join(gone)}"
    return " and ".join(shown)


def _value(value: JsonValue) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
