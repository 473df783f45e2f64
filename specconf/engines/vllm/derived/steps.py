"""What is left of a step beside the slots that drafting takes.

Where the launch writes neither size and the GPU is not known, the tokens of a step and the requests served at once are
candidates that belong together: each GPU brings a pair of defaults, in the same order on both sides.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import product

from specconf.engines.vllm.derived.members import whole_number
from specconf.engines.vllm.derived.scheduling import draft_slots
from specconf.facts import Derivation, Fact, Facts, Known, Missing, OneOf
from specconf.words import JsonValue

_TOKENS, _REQUESTS = "max_num_batched_tokens", "max_num_seqs"


def _sizes(facts: Facts) -> Iterable[tuple[JsonValue, JsonValue]] | Missing:
    """The pairs that tokens of a step and requests at once may be."""
    tokens, requests = facts.get(f"option.{_TOKENS}"), facts.get(f"option.{_REQUESTS}")
    if isinstance(tokens, Missing):
        return tokens
    if isinstance(requests, Missing):
        return requests
    lefts = tokens.values
    rights = requests.values
    by_default = all(facts.get(f"asked.{name}") == Known(None) for name in (_TOKENS, _REQUESTS))
    together = by_default and len(lefts) == len(rights)
    return zip(lefts, rights, strict=True) if together else product(lefts, rights)


def tokens_beside_drafts(facts: Facts) -> Fact:
    """Tokens of a step less the draft slots of all requests; no more than zero where drafting takes the whole step."""
    sizes, slots = _sizes(facts), whole_number(draft_slots(facts), "draft slots")
    if isinstance(sizes, Missing):
        return sizes
    if isinstance(slots, Missing):
        return slots
    left: list[JsonValue] = []
    for tokens, requests in sizes:
        batch = whole_number(Known(tokens), f"option.{_TOKENS}")
        served = whole_number(Known(requests), f"option.{_REQUESTS}")
        if isinstance(batch, Missing):
            return batch
        if isinstance(served, Missing):
            return served
        left += [rest] if (rest := batch - served * slots) not in left else []
    return OneOf(tuple(left)) if len(left) > 1 else Known(left[0])


DERIVATIONS: Mapping[str, Derivation] = {"tokens_beside_drafts": tokens_beside_drafts}
