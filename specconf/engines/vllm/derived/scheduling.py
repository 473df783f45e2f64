"""What one step of the scheduler has room for, and who runs it: draft slots, lookahead, the executor, the kind of task."""

from __future__ import annotations

from collections.abc import Mapping

from specconf.engines.vllm.derived.members import whole_number
from specconf.engines.vllm.derived.speculation import CONFIG, speculates
from specconf.facts import Derivation, Fact, Facts, Known, Missing

METHOD = f"option.{CONFIG}.method"
_PARALLEL = ("dflash", "dspark")  # methods that draft all tokens in one pass whatever is written
_AUTOREGRESSIVE = ("eagle", "eagle3", "mtp", "dspark", "draft_model")
_GENERATIVE = ("ForCausalLM", "ForConditionalGeneration")
_POOLING_TASKS = ("embed", "embedding", "classify", "score", "reward", "pooling")


def draft_tokens(facts: Facts) -> Fact:
    """K as it is in force; 0 without speculation. A length that the engine reads from the draft is not known here."""
    asked = speculates(facts)
    if asked == Known(False):
        return Known(0)
    length = facts.get(f"option.{CONFIG}.num_speculative_tokens")
    if isinstance(length, Known) and (length.value is None or isinstance(length.value, bool)):
        return Missing(f"{CONFIG}.num_speculative_tokens")
    return length if isinstance(asked, Known) else asked


def _drafts_in_one_pass(facts: Facts) -> Fact:
    method, written = facts.get(METHOD), facts.get(f"option.{CONFIG}.parallel_drafting")
    if not isinstance(method, Known) or method.value in _PARALLEL:
        return Known(True) if isinstance(method, Known) else method
    return Known(written.value is True) if isinstance(written, Known) else written


def draft_slots(facts: Facts) -> Fact:
    """Slots of the batch that drafting takes for each request beside its scheduled tokens: one for a draft model, K - 1 for
    drafting in one pass, K for both.
    """
    method, parallel = facts.get(METHOD), _drafts_in_one_pass(facts)
    if not isinstance(method, Known) or not isinstance(parallel, Known):
        return parallel if isinstance(method, Known) else method
    own = 1 if method.value == "draft_model" else 0
    if parallel.value is not True:
        return Known(own)
    length = whole_number(draft_tokens(facts), f"{CONFIG}.num_speculative_tokens")
    return length if isinstance(length, Missing) else Known(length - 1 + own)


def draft_slots_with_anchor(facts: Facts) -> Fact:
    """As `draft_slots`, where a DFlash block takes a slot for its first token, too: K."""
    return draft_tokens(facts) if facts.get(METHOD) == Known("dflash") else draft_slots(facts)


def lookahead_tokens(facts: Facts) -> Fact:
    """Positions that the drafter writes past a request's scheduled tokens: K, one more for DFlash and for a DSpark head that
    fills in behind the token before, none for what drafts without a pass of its own.
    """
    method = facts.get(METHOD)
    if not isinstance(method, Known):
        return method
    fills_in = Known(method.value == "dflash")
    if method.value == "dspark":
        anchored = facts.get("draft.config.sample_from_anchor")
        if not isinstance(anchored, Known):
            return anchored
        fills_in = Known(anchored.value is False)
    if fills_in.value is not True and method.value not in _AUTOREGRESSIVE:
        return Known(0)
    length = whole_number(draft_tokens(facts), f"{CONFIG}.num_speculative_tokens")
    return length if isinstance(length, Missing) else Known(length + (fills_in.value is True))


def executor(facts: Facts) -> Fact:
    """The distributed executor: as written, else uni for one GPU and mp for several of one node."""
    asked, data_parallel = facts.get("asked.distributed_executor_backend"), facts.get("asked.data_parallel_backend")
    if not isinstance(asked, Known) or asked.value is not None:
        return asked
    if data_parallel != Known(None) and data_parallel != Known("mp"):
        return data_parallel if isinstance(data_parallel, Missing) else Missing("the distributed executor")
    width = world_size(facts)
    return Known("uni" if width.value == 1 else "mp") if isinstance(width, Known) else width


def world_size(facts: Facts) -> Fact:
    """The ranks of one replica: tensor parallel by pipeline parallel size."""
    width = 1
    for path in ("option.tensor_parallel_size", "option.pipeline_parallel_size"):
        size = whole_number(facts.get(path), path.removeprefix("option."))
        if isinstance(size, Missing):
            return size
        width *= size
    return Known(width)


def _generates_alone(facts: Facts) -> bool:
    """Whether the target is known to be its config alone, of a class that generates: no other file makes it pool."""
    name = facts.get("target.architecture")
    bare = facts.get("role.bare_models") == Known(True)
    return bare and isinstance(name, Known) and str(name.value).endswith(_GENERATIVE)


def task(facts: Facts) -> Fact:
    """Whether the target generates or pools, as the launch tells it: speculation is for what generates."""
    asked = speculates(facts)
    if not isinstance(asked, Known) or asked.value:
        return Known("generate") if isinstance(asked, Known) else asked
    written = [facts.get(f"asked.{option}") for option in ("runner", "task", "convert")]
    for fact in written:
        if not isinstance(fact, Known):
            return fact
        if fact.value in _POOLING_TASKS:
            return Known("pooling")
    if any(fact == Known("generate") for fact in written) or _generates_alone(facts):
        return Known("generate")
    return Missing("whether the target generates or pools", "it depends on files beside its config")


DERIVATIONS: Mapping[str, Derivation] = {
    "draft_slots": draft_slots,
    "draft_slots_with_anchor": draft_slots_with_anchor,
    "lookahead_tokens": lookahead_tokens,
    "executor": executor,
    "world_size": world_size,
    "task": task,
}
