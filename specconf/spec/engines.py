"""The `engines` section of the spec: a release to launch, and settings in the engine's own words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    JsonValue,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)
from pydantic_core import PydanticCustomError

from specconf.patterns import pattern
from specconf.spec.contradictions import raise_all
from specconf.spec.values import EmptyIsUnset, OpenMapping, Section, Text, check_open_value

ENGINES = ("vllm", "sglang", "tensorrt-llm")
ENGINE_ALIASES = {"trtllm": "tensorrt-llm"}

_ENV_NAME = pattern(r"[A-Za-z_][A-Za-z0-9_]{0,127}\Z")


def engine_name(name: str) -> str:
    """The engine's name for a name or alias."""
    return ENGINE_ALIASES.get(name, name)


def option_key(key: str) -> str:
    """A key of `options` or `cli` in one spelling: either separator means the same."""
    return key.replace("-", "_")


def _release(value: Any) -> Any:
    """A bare number has lost digits already (1.10 is 1.1), so it is refused rather than turned into text."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        raise PydanticCustomError(
            "bare_release", 'a release is text; write it in quotes: "{value}"', {"value": str(value)}
        )
    return value


def _option_keys(options: dict[str, JsonValue]) -> dict[str, JsonValue]:
    raise_all(_bad_option_keys(options))
    return options


def _bad_option_keys(options: dict[str, JsonValue]) -> Iterator[tuple[str, str]]:
    seen: dict[str, str] = {}
    for key in options:
        name = option_key(key)
        if key.startswith("-"):
            yield key, f"write the option without dashes in front: {key.lstrip('-')}"
        elif re.search(r"[\s=]", key):
            yield key, "an option's key holds no spaces and no =; its value goes behind the colon"
        elif name in seen:
            yield key, f"the same option as {seen[name]}; keep one of them"
        seen.setdefault(name, key)


def _environment(env: dict[str, str]) -> dict[str, str]:
    raise_all(_bad_environment(env))
    return env


def _bad_environment(env: dict[str, str]) -> Iterator[tuple[str, str]]:
    for name, value in env.items():
        if not _ENV_NAME.match(name):
            yield name, "not a name of an environment variable; use letters, digits and _"
        elif "\0" in value:
            yield name, "an environment variable cannot hold the character U+0000"
        else:
            check_open_value(value)


Release = Annotated[Text, BeforeValidator(_release, json_schema_input_type=Text)]
Options = Annotated[OpenMapping, AfterValidator(_option_keys), EmptyIsUnset]
Environment = Annotated[dict[str, str], AfterValidator(_environment), EmptyIsUnset]


class EngineSpec(Section):
    """One engine: the release to launch and settings in its own words."""

    release: Release | None = Field(
        default=None,
        description='Published version of the engine, as text: "0.33.0". Unset: the newest final release known.',
    )
    options: Options = Field(
        default_factory=dict,
        description="Settings in the engine's own words: destination paths or flag names without dashes in front, "
        "either separator. A mapping is an object of the engine, true a switch, false its --no- form, a list a "
        "repeated option, null removes what the spec would have written. For TensorRT-LLM: keys of its YAML file.",
    )
    env: Environment = Field(default_factory=dict, description="Environment variables of the launch; values are text.")


class TensorRTLLMSpec(EngineSpec):
    """TensorRT-LLM: `options` are keys of its YAML file, `cli` flags of trtllm-serve."""

    cli: Options = Field(
        default_factory=dict, description="Flags of trtllm-serve without dashes in front, either separator."
    )


class Engines(Section):
    """The engines a spec is meant for. Naming one, even with nothing under it, makes it a default of every command."""

    vllm: Annotated[EngineSpec | None, EmptyIsUnset] = Field(default=None, description="vLLM.")
    sglang: Annotated[EngineSpec | None, EmptyIsUnset] = Field(default=None, description="SGLang.")
    tensorrt_llm: Annotated[TensorRTLLMSpec | None, EmptyIsUnset] = Field(
        default=None, alias="tensorrt-llm", description="TensorRT-LLM; trtllm is another name for it."
    )

    @model_validator(mode="before")
    @classmethod
    def _aliases(cls, data: Any) -> Any:
        if not isinstance(data, dict) or not ENGINE_ALIASES.keys() & data.keys():
            return data
        raise_all(
            (alias, f"{alias} is another name for {name}, which is given too; keep one of them")
            for alias, name in ENGINE_ALIASES.items()
            if alias in data and name in data
        )
        return {ENGINE_ALIASES.get(key, key): value for key, value in data.items()}

    @model_serializer(mode="wrap")
    def _without_absent(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        written: dict[str, Any] = handler(self)
        return {name: value for name, value in written.items() if value is not None}

    def get(self, engine: str) -> EngineSpec | None:
        """The section of an engine by name or alias, or None if the spec does not name it."""
        name = engine_name(engine)
        if name not in ENGINES:
            raise ValueError(f"{engine!r} is no engine; known: {', '.join(ENGINES)}")
        section: EngineSpec | None = getattr(self, name.replace("-", "_"))
        return section

    def items(self) -> Iterator[tuple[str, EngineSpec]]:
        """The engines that the spec names, in the fixed order."""
        for name in ENGINES:
            section = self.get(name)
            if section is not None:
                yield name, section
