"""Where a spec's speculation section contradicts itself, whatever the engine.

What an engine cannot do is not said here. A contradiction names the field to look at, relative to its section, so that
the loader can show its place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from pydantic_core import PydanticCustomError

from specconf.spec.methods import DraftUse, Method, methods_with
from specconf.spec.values import Section, Value, set_members

if TYPE_CHECKING:
    from pydantic import ValidationError

    from specconf.spec.speculation import ScheduleStep, Speculation

CONTRADICTION = "contradiction"
Found = Iterator[tuple[str, str]]


def raise_all(found: Iterable[tuple[str, str]]) -> None:
    """Raise one pydantic error that holds every contradiction as (field, message), or return if there are none."""
    problems = list(found)
    if problems:
        text = "; ".join(f"{field}: {message}" for field, message in problems)
        raise PydanticCustomError(CONTRADICTION, "{text}", {"text": text, "problems": problems})


def offending_fields(error: ValidationError) -> set[str]:
    """The dotted names that a validation error is about; a contradiction names its fields, not its whole section."""
    names: set[str] = set()
    for item in error.errors(include_url=False):
        place = [str(part) for part in item["loc"]]
        fields = [field for field, _ in item["ctx"]["problems"]] if item["type"] == CONTRADICTION else [""]
        names |= {".".join([*place, *([field] if field else [])]) for field in fields}
    return names


def speculation_contradictions(spec: Speculation) -> Found:
    """Every contradiction of a speculation section."""
    if spec.method is Method.NONE:
        yield from _nothing_to_set(spec)
        return
    yield from _draft(spec)
    yield from _tree(spec)
    yield from _chain(spec)
    yield from _ngram(spec)
    yield from _schedule(spec)


def schedule_contradictions(steps: tuple[ScheduleStep, ...]) -> Found:
    """What is wrong with the rows of a schedule among themselves."""
    above = 0
    for index, step in enumerate(steps):
        last = index == len(steps) - 1
        if step.up_to is None:
            if not last:
                yield str(index), "only the last row may leave out up_to; give this row the concurrency it holds up to"
            elif step.k:
                yield str(index), "a last row without up_to can only be {k: 0}; give it the concurrency it holds up to"
            continue
        if step.up_to <= above:
            yield f"{index}.up_to", f"up_to must rise from row to row, {step.up_to} follows {above}"
        above = max(above, step.up_to)
    if not any(step.k for step in steps):
        yield "", "every row has k 0, which is no speculation at all; write method: none instead"


def _nothing_to_set(spec: Speculation) -> Found:
    for name, value in set_members(spec):
        if name == "method" or (name == "verification" and value == "exact"):
            continue
        if isinstance(value, Section) and not isinstance(value, Value):
            for member, _ in set_members(value):
                yield f"{name}.{member}", "method none does not speculate, so this has no meaning; remove it"
        else:
            yield name, "method none does not speculate, so this has no meaning; remove it"


def _draft(spec: Speculation) -> Found:
    use = spec.method.traits.draft
    if use is DraftUse.NEEDS and spec.draft.model is None:
        yield "draft", f"method {spec.method} needs draft.model, the hub id or directory of its draft"
    if use is DraftUse.NEVER:
        for member, _ in set_members(spec.draft):
            yield f"draft.{member}", f"method {spec.method} has no draft weights; remove it"


def _tree(spec: Speculation) -> Found:
    traits = spec.method.traits
    for member, _ in set_members(spec.tree):
        trait = "verify_tokens" if member == "num_verify_tokens" else "tree"
        if not getattr(traits, trait):
            yield (
                f"tree.{member}",
                f"method {spec.method} has no tree (methods that have: {methods_with(trait)}); remove it",
            )


def _chain(spec: Speculation) -> Found:
    """A tree of topk 1 is a chain: K steps, and K + 1 tokens to verify with the root."""
    k, tree = spec.num_draft_tokens, spec.tree
    if not spec.method.traits.tree or tree.topk != 1 or k is None:
        return
    if tree.num_steps not in (None, k):
        yield "tree.num_steps", f"with topk 1 a round has num_draft_tokens = {k} steps, not {tree.num_steps}; remove it"
    if tree.num_verify_tokens not in (None, k + 1):
        wrong = f"with topk 1 a round verifies num_draft_tokens + 1 = {k + 1} tokens, not {tree.num_verify_tokens}"
        yield "tree.num_verify_tokens", f"{wrong}; remove it"


def _length(spec: Speculation) -> tuple[int | None, str]:
    """K and the field that says it: of a chain its steps, or one less than the tokens to verify, say it as well."""
    if spec.num_draft_tokens is None and spec.method.traits.tree and spec.tree.topk == 1:
        if spec.tree.num_steps is not None:
            return spec.tree.num_steps, "tree.num_steps"
        if spec.tree.num_verify_tokens is not None:
            return spec.tree.num_verify_tokens - 1, "tree.num_verify_tokens - 1"
    return spec.num_draft_tokens, "num_draft_tokens"


def _ngram(spec: Speculation) -> Found:
    low, high = spec.ngram.min, spec.ngram.max
    if not spec.method.traits.ngram:
        for member, _ in set_members(spec.ngram):
            message = f"method {spec.method} matches no n-grams (methods that do: {methods_with('ngram')}); remove it"
            yield f"ngram.{member}", message
    elif low is not None and high is not None and low > high:
        yield "ngram.min", f"the shortest match, {low}, is longer than the longest, {high}"


def _schedule(spec: Speculation) -> Found:
    k, name = _length(spec)
    for index, step in enumerate(spec.schedule or ()):
        if k is not None and step.k > k:
            yield f"schedule.{index}.k", f"k is {step.k}, more than {name} = {k}"
        if spec.disable_above is not None and step.k and step.up_to is not None and step.up_to > spec.disable_above:
            message = f"speculates up to {step.up_to} requests, but disable_above stops it above {spec.disable_above}"
            yield f"schedule.{index}.up_to", message
