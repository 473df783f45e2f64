"""The `speculation` section of the spec: what drafts, how much, and how drafts are verified."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    JsonValue,
    Tag,
    model_validator,
)

from specconf.spec.contradictions import raise_all, schedule_contradictions, speculation_contradictions
from specconf.spec.methods import Method
from specconf.spec.values import (
    Count,
    CountOrZero,
    EmptyIsUnset,
    ListIsTuple,
    OpenMapping,
    Section,
    Text,
    Value,
    check_open_value,
)


class LossyMode(StrEnum):
    """Ways of accepting draft tokens that change the target's outputs."""

    TYPICAL = "typical"
    ACCEPT_THRESHOLD = "accept_threshold"
    RELAXED = "relaxed"
    FLY = "fly"
    SYNTHETIC = "synthetic"


class Rejection(StrEnum):
    """Lossless ways of verifying sampled drafts."""

    STANDARD = "standard"
    BLOCK = "block"


class DraftSampling(StrEnum):
    """How the draft picks its tokens; the outputs follow the target's distribution with either."""

    GREEDY = "greedy"
    PROBABILISTIC = "probabilistic"


class Draft(Section):
    """The weights that draft: a small model, or a head trained for the target."""

    model: Text | None = Field(default=None, description="Hub id or directory of the draft model or head.")
    revision: Text | None = Field(
        default=None, description="Branch, tag or commit of the draft on the hub; pin it for reproducibility."
    )
    quantization: Text | None = Field(
        default=None, description="Quantization method of the draft's weights, in the engine's word."
    )
    tensor_parallel_size: Count | None = Field(
        default=None, description="Ranks over which the draft is split, per launch; one rank is one GPU."
    )
    max_model_len: Count | None = Field(
        default=None,
        description="Longest sequence the draft accepts, in tokens per request: prompt and output together.",
    )


class Tree(Section):
    """The shape of one round's proposal. topk 1 is a chain."""

    topk: Count | None = Field(
        default=None,
        description="Candidate tokens kept at each draft step, per request and round; 1 is a chain, and is what "
        "counts when it is unset and the method has a tree (draft_model, eagle, eagle3, mtp).",
    )
    num_steps: Count | None = Field(
        default=None,
        description="Draft steps, each one pass of the draft, per request and round; unset: num_draft_tokens.",
    )
    num_verify_tokens: Annotated[int, Field(ge=2, le=2**31 - 1)] | None = Field(
        default=None,
        description="Tokens the target verifies per request and round: the chosen draft tokens and the root.",
    )


class Ngram(Section):
    """Bounds on the matches that an n-gram lookup proposes from."""

    min: Count | None = Field(default=None, description="Shortest match looked up, in tokens, per request and round.")
    max: Count | None = Field(default=None, description="Longest match looked up, in tokens, per request and round.")


class Sampling(Section):
    """Lossless choices inside exact verification."""

    rejection: Annotated[Rejection, Field(strict=False)] | None = Field(
        default=None,
        description="How sampled draft tokens are accepted without loss: token by token (standard) or by block.",
    )
    draft: Annotated[DraftSampling, Field(strict=False)] | None = Field(
        default=None,
        description="How the draft picks its tokens: the likeliest (greedy) or by its probabilities (probabilistic).",
    )


class ScheduleStep(Value):
    """One row of the schedule: K up to a number of concurrent requests."""

    up_to: Count | None = Field(
        default=None,
        description="Running requests per replica up to which this row holds, inclusive; a last {k: 0} goes without.",
    )
    k: CountOrZero = Field(description="Draft tokens per request and round in this row; 0 switches speculation off.")


class LossyVerification(Value):
    """A lossy way of verification, by name, with the parameters of that way as further keys."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, JsonValue]

    mode: Annotated[LossyMode, Field(strict=False)] = Field(description="The lossy way of accepting draft tokens.")

    @model_validator(mode="after")
    def _check_parameters(self) -> LossyVerification:
        raise_all(_bad_parameters(self.parameters))
        return self

    @property
    def parameters(self) -> dict[str, JsonValue]:
        """The parameters of the mode, as written."""
        return dict(self.model_extra or {})


def _bad_parameters(parameters: dict[str, JsonValue]) -> list[tuple[str, str]]:
    problems = []
    for name, value in parameters.items():
        check_open_value({name: value})
        members = value if isinstance(value, list) else [value]
        if any(member is None or isinstance(member, dict | list) for member in members):
            problems.append((name, "a parameter must be text, a number, true or false, or a list of those"))
    return problems


def _verification_kind(value: Any) -> str | None:
    if value == "exact":
        return "exact"
    return "lossy" if isinstance(value, dict | LossyVerification) else None


Verification = Annotated[
    Annotated[Literal["exact"], Tag("exact")] | Annotated[LossyVerification, Tag("lossy")],
    Discriminator(
        _verification_kind,
        custom_error_type="verification",
        custom_error_message="must be exact, or a mapping such as {mode: typical} that names a lossy way",
    ),
    BeforeValidator(lambda value: "exact" if value is None else value),
]


def _adaptive_kind(value: Any) -> str | None:
    if isinstance(value, bool):
        return "switch"
    return "mapping" if isinstance(value, dict) else None


Adaptive = Annotated[
    Annotated[bool, Tag("switch")] | Annotated[OpenMapping, Tag("mapping")],
    Discriminator(
        _adaptive_kind,
        custom_error_type="adaptive",
        custom_error_message="must be true, false, or a mapping of the engine's own parameters",
    ),
]


def _checked_schedule(steps: tuple[ScheduleStep, ...]) -> tuple[ScheduleStep, ...]:
    raise_all(schedule_contradictions(steps))
    return steps


Schedule = Annotated[
    tuple[ScheduleStep, ...],
    ListIsTuple,
    Field(min_length=1),
    AfterValidator(_checked_schedule),
]


class Speculation(Section):
    """What drafts, how much, and how drafts are verified."""

    method: Annotated[Method, Field(strict=False)] = Field(
        description="What proposes the draft tokens; none is no speculation."
    )
    num_draft_tokens: Count | None = Field(
        default=None,
        description="K: draft tokens on the longest path of one round, per request, without the root or bonus token.",
    )
    draft: Annotated[Draft, EmptyIsUnset] = Field(default=Draft(), description="The weights that draft.")
    tree: Annotated[Tree, EmptyIsUnset] = Field(default=Tree(), description="The shape of one round's proposal.")
    ngram: Annotated[Ngram, EmptyIsUnset] = Field(default=Ngram(), description="Bounds on n-gram matches.")
    verification: Verification = Field(
        default="exact",
        description="exact: outputs follow the target's own distribution. Else a mapping with the mode and its "
        "parameters: lossy, by name.",
    )
    sampling: Annotated[Sampling, EmptyIsUnset] = Field(
        default=Sampling(), description="Lossless choices inside exact verification."
    )
    schedule: Schedule | None = Field(
        default=None,
        description="K by the number of running requests per replica, rows with rising up_to; "
        "at most num_draft_tokens.",
    )
    disable_above: Count | None = Field(
        default=None,
        description="Running requests per replica above which nothing is drafted; the request itself included.",
    )
    adaptive: Adaptive | None = Field(
        default=None,
        description="Whether the engine may change K while it runs: true, false, or a mapping of its own parameters.",
    )

    @model_validator(mode="before")
    @classmethod
    def _chain_by_default(cls, data: Any) -> Any:
        """topk 1 is set where the method has a tree and none is written."""
        if not isinstance(data, dict) or not _has_tree(data.get("method")):
            return data
        tree = data.get("tree")
        if tree is None:
            return data | {"tree": {"topk": 1}}
        if isinstance(tree, dict) and tree.get("topk") is None:
            return data | {"tree": tree | {"topk": 1}}
        if isinstance(tree, Tree) and tree.topk is None:
            return data | {"tree": tree.model_copy(update={"topk": 1})}
        return data

    @model_validator(mode="after")
    def _check_contradictions(self) -> Speculation:
        raise_all(speculation_contradictions(self))
        return self


def _has_tree(method: Any) -> bool:
    return isinstance(method, str) and method in Method._value2member_map_ and Method(method).traits.tree
