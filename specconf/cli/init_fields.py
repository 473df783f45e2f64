"""What the command line of `specconf init` can say of a spec: which option sets which field, and values by name."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

import click
from msgspec import Struct
from pydantic import ValidationError

from specconf.compat.names import engine_name
from specconf.errors import UsageError
from specconf.secrets import holds_secret
from specconf.spec.fields import ALL_FIELDS, description
from specconf.spec.leaves import nested
from specconf.spec.messages import nearest, problems_of
from specconf.spec.methods import DraftUse, Method
from specconf.spec.model import Spec
from specconf.spec.nodes import Mapping as MappingNode
from specconf.spec.nodes import plain_value
from specconf.spec.problems import SpecError
from specconf.spec.sections import Feature, Goal, WorkloadSampling
from specconf.spec.yaml12 import compose
from specconf.words import JsonValue

__all__ = ["FLAGS", "Flag", "engines_of", "field_options", "fields_of", "needed_draft", "spec_of"]

_F = TypeVar("_F", bound=Callable[..., Any])


class Flag(Struct, frozen=True):
    """One option of the command line and the field that it sets. `many`: it is repeated for a list."""

    option: str
    field: str
    type: Any = str
    many: bool = False

    @property
    def parameter(self) -> str:
        """The name under which click hands its value over."""
        return self.option.removeprefix("--").replace("-", "_")


_WHOLE = click.IntRange(min=1)
_NUMBER = click.FloatRange(min=0, min_open=True)

FLAGS: tuple[Flag, ...] = (
    Flag("--name", "name"),
    Flag("--model", "target.model"),
    Flag("--revision", "target.revision"),
    Flag("--dtype", "target.dtype"),
    Flag("--quantization", "target.quantization"),
    Flag("--max-model-len", "target.max_model_len", _WHOLE),
    Flag("--trust-remote-code", "target.trust_remote_code", bool),
    Flag("--method", "speculation.method", click.Choice([str(method) for method in Method])),
    Flag("--num-draft-tokens", "speculation.num_draft_tokens", _WHOLE),
    Flag("--draft-model", "speculation.draft.model"),
    Flag("--draft-revision", "speculation.draft.revision"),
    Flag("--host", "serving.host"),
    Flag("--port", "serving.port", click.IntRange(1, 65535)),
    Flag("--served-model-name", "serving.served_model_name"),
    Flag("--tensor-parallel-size", "serving.tensor_parallel_size", _WHOLE),
    Flag("--pipeline-parallel-size", "serving.pipeline_parallel_size", _WHOLE),
    Flag("--data-parallel-size", "serving.data_parallel_size", _WHOLE),
    Flag("--max-num-seqs", "serving.max_num_seqs", _WHOLE),
    Flag("--memory-fraction", "serving.memory_fraction", _NUMBER),
    Flag("--feature", "features", click.Choice([str(feature) for feature in Feature]), many=True),
    Flag("--gpu", "hardware.gpu"),
    Flag("--gpu-count", "hardware.count", _WHOLE),
    Flag("--prompt-tokens", "workload.prompt_tokens", _WHOLE),
    Flag("--output-tokens", "workload.output_tokens", _WHOLE),
    Flag("--concurrency", "workload.concurrency", _WHOLE, many=True),
    Flag("--sampling", "workload.sampling", click.Choice([str(way) for way in WorkloadSampling])),
    Flag("--objective", "objective.goal", click.Choice([str(goal) for goal in Goal])),
    Flag("--min-speedup", "objective.min_speedup", _NUMBER),
    Flag("--image", "deployment.image"),
    Flag("--hf-token-secret", "deployment.secrets.hf_token"),
)


def field_options(command: _F) -> _F:
    """Every option of the table, in its order, described as the field is."""
    for flag in reversed(FLAGS):
        about = f"{flag.field}: {description(flag.field)}" + (" Repeatable." if flag.many else "")
        command = click.option(flag.option, flag.parameter, type=flag.type, multiple=flag.many, help=about)(command)
    return command


def fields_of(options: Mapping[str, Any], settings: Iterable[str]) -> dict[str, JsonValue]:
    """The fields that a command line sets, in the order of the spec; `settings` are those given as FIELD=VALUE."""
    given: dict[str, JsonValue] = {}
    for flag in FLAGS:
        value = options[flag.parameter]
        if value not in (None, ()):
            given[flag.field] = list(value) if flag.many else value
    for text in settings:
        field, value = _setting(text)
        if field in given:
            raise UsageError(f"{field} is set twice on the command line.", hint="Keep one of them.")
        given[field] = value
    return {field: given[field] for field in ALL_FIELDS if field in given}


def _setting(text: str) -> tuple[str, JsonValue]:
    """FIELD=VALUE, the value read as the spec's file would read it."""
    field, equals, written = text.partition("=")
    if not equals:
        raise UsageError(f"--set {field} gives no value.", hint="Write --set FIELD=VALUE, such as serving.seed=0.")
    if field not in ALL_FIELDS:
        near = nearest(field, ALL_FIELDS)
        raise UsageError(
            f"the spec has no field {field}.", hint=f"Did you mean {near}?" if near else "See `specconf schema`."
        )
    if not written.isprintable():
        raise UsageError(f"--set {field} takes one value on one line.")
    try:
        root = compose(f"value: {written}", f"--set {field}")
    except SpecError as error:
        raise UsageError(f"--set {field}: {error.problems[0].message}.") from None
    assert isinstance(root, MappingNode)
    (entry,) = root.entries
    return field, plain_value(entry.node)


def engines_of(texts: Iterable[str]) -> dict[str, dict[str, Any]]:
    """What `engines` of the spec holds for the engines given as E or E=R."""
    engines: dict[str, dict[str, Any]] = {}
    for text in texts:
        named, equals, release = text.partition("=")
        name, release = engine_name(named.strip()), release.lstrip("= ").strip()
        if name in engines:
            raise UsageError(f"--engine names {name} twice.", hint="A spec holds one release of an engine.")
        if equals and not release:
            raise UsageError(
                f"--engine {text} names no release.", hint="Write one such as vllm=0.33.0, or the name alone."
            )
        engines[name] = {"release": release} if release else {}
    return engines


def needed_draft(method: str) -> bool:
    """Whether a method drafts with weights of its own, which have to be named."""
    return Method(method).traits.draft is DraftUse.NEEDS


def spec_of(fields: Mapping[str, JsonValue], engines: Mapping[str, Any]) -> Spec:
    """The spec of these fields. UsageError that says which field does not fit, and for what looks like a secret."""
    _refuse_secrets(fields, engines)
    tree = nested(fields) | {"engines": dict(engines)}
    try:
        return Spec.from_fields(fields, engines=dict(engines) or None)
    except ValidationError as error:
        root = compose(json.dumps(tree), "command line")
        assert isinstance(root, MappingNode)
        problems = list(problems_of(error, root))
    hints = [problem.hint for problem in problems if problem.hint]
    raise UsageError("; ".join(problem.message for problem in problems) + ".", hint="; ".join(hints) or None)


def _refuse_secrets(fields: Mapping[str, JsonValue], engines: Mapping[str, Any]) -> None:
    for name, value in [*fields.items(), *((f"engines.{name}", section) for name, section in engines.items())]:
        if holds_secret(json.dumps(value, ensure_ascii=False)):
            raise UsageError(
                f"{name} holds what looks like a token or a password, and a spec never holds one.",
                hint="Name the secret that holds it in deployment.secrets.hf_token, and give it to the server itself.",
            )
