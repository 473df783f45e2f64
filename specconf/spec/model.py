"""The spec: one engine-neutral description of a speculative-decoding deployment. Reading files is elsewhere.

None in a field means "leave it to the engine". Three fields have defaults of the spec's own and always count as set:
`speculation.verification`, `speculation.tree.topk` where the method has a tree, and `hardware.platform`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field
from pydantic_core import PydanticCustomError

from specconf.spec.contradictions import raise_all
from specconf.spec.engines import Engines
from specconf.spec.leaves import leaf_infos, nested, read
from specconf.spec.sections import Deployment, Feature, Hardware, Objective, Serving, Target, Workload
from specconf.spec.speculation import Speculation
from specconf.spec.values import EmptyIsUnset, Name, Section, to_json
from specconf.words import JsonValue

KNOWN_VERSIONS = (1,)


def _known_version(value: int) -> int:
    if value not in KNOWN_VERSIONS:
        known = ", ".join(str(version) for version in KNOWN_VERSIONS)
        raise PydanticCustomError(
            "version", "{value} is no version of the spec; known: {known}", {"value": value, "known": known}
        )
    return value


def _once(features: tuple[Feature, ...]) -> tuple[Feature, ...]:
    raise_all(
        (str(index), f"{feature} is listed twice; keep one of them")
        for index, feature in enumerate(features)
        if feature in features[:index]
    )
    return features


def _features(value: Any) -> Any:
    """A list of the file becomes a tuple; an empty one says the same as none."""
    return (tuple(value) or None) if isinstance(value, list | tuple) else value


Features = Annotated[tuple[Annotated[Feature, Field(strict=False)], ...], AfterValidator(_once)]


class Spec(Section):
    """One engine-neutral description of a speculative-decoding deployment."""

    specconf: Annotated[int, AfterValidator(_known_version)] = Field(
        default=1, description="Version of the spec format.", json_schema_extra={"enum": list(KNOWN_VERSIONS)}
    )
    name: Name | None = Field(
        default=None, description="Name of the deployment; also the base of file and resource names."
    )
    target: Target = Field(description="The model whose behaviour must be preserved.")
    speculation: Speculation = Field(description="What drafts, how much, and how drafts are verified.")
    serving: Annotated[Serving, EmptyIsUnset] = Field(default=Serving(), description="The server.")
    features: Annotated[Features | None, BeforeValidator(_features)] = Field(
        default=None,
        description="What requests may use, each checked against speculation; an empty list is the same as none.",
    )
    hardware: Annotated[Hardware, EmptyIsUnset] = Field(default=Hardware(), description="What one launch runs on.")
    workload: Annotated[Workload, EmptyIsUnset] = Field(
        default=Workload(), description="The requests that are expected."
    )
    objective: Annotated[Objective, EmptyIsUnset] = Field(
        default=Objective(), description="What speculation has to bring."
    )
    deployment: Annotated[Deployment, EmptyIsUnset] = Field(
        default=Deployment(), description="What surrounds the server in a deploy file."
    )
    engines: Annotated[Engines, EmptyIsUnset] = Field(
        default=Engines(), description="Releases and settings in the engines' own words."
    )

    def set_fields(self) -> dict[str, JsonValue]:
        """Every set field by dotted name, in the order of the spec; `engines` is not among them."""
        return dict(self._set_fields)

    @cached_property
    def _set_fields(self) -> dict[str, JsonValue]:
        """Read once: a spec is judged at hundreds of releases and never changes."""
        values = ((field, read(self, field)) for field in leaf_infos(Spec))
        return {field: value for field, value in values if value is not None}

    @classmethod
    def from_fields(cls, fields: Mapping[str, JsonValue], *, engines: Mapping[str, Any] | None = None) -> Spec:
        """A spec from dotted names and, apart, what stands under `engines`. An unknown name is a ValueError."""
        unknown = [field for field in fields if field not in leaf_infos(Spec)]
        if unknown:
            raise ValueError(f"no field of the spec: {', '.join(unknown)}")
        return cls.model_validate(nested(fields) | {"engines": engines})

    def with_fields(self, changes: Mapping[str, JsonValue]) -> Spec:
        """The same spec with some fields set to other values; None unsets a field. The result is validated."""
        merged = self.set_fields() | dict(changes)
        if "speculation.tree.topk" not in changes and merged.get("speculation.tree.topk") == 1:
            del merged["speculation.tree.topk"]  # set again by the model where the method has a tree
        return Spec.from_fields(merged, engines=self.engine_settings())

    def with_field(self, name: str, value: JsonValue) -> Spec:
        """The same spec with one field set to another value; None unsets it. The result is validated."""
        return self.with_fields({name: value})

    def without_speculation(self) -> Spec:
        """The target alone: method none, and nothing else said about speculation."""
        kept = {field: value for field, value in self.set_fields().items() if not field.startswith("speculation.")}
        return Spec.from_fields(kept | {"speculation.method": "none"}, engines=self.engine_settings())

    def engine_settings(self) -> dict[str, Any]:
        """What stands under `engines`, as plain data: only engines named, only settings written."""
        return {name: _written(to_json(section)) for name, section in self.engines.items()}


def _written(section: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in section.items() if value != {}}
