"""What an engine has to provide, and the context its lowering writes into. `engines/registry.py` lists the engines."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias

from msgspec import Struct, field

from specconf.compat.view import View
from specconf.facts import Derivation, Fact, Known, Missing, ModelView
from specconf.findings import Effect, EvidenceKind, Finding, Severity, Stage
from specconf.settings import Origin, Settings, SettingsBuilder, Written
from specconf.words import JsonValue, Launch, Span, same

if TYPE_CHECKING:
    from specconf.engines.pycall import PyCall
    from specconf.engines.serving import Serving
    from specconf.spec.model import Spec

Fields: TypeAlias = "dict[str, JsonValue]"


class Models(Struct, frozen=True):
    """The target and the draft of one launch; each may be unavailable."""

    target: ModelView
    draft: ModelView

    def known(self, role: str, path: str) -> JsonValue:
        """A model fact's value, or None when it is not known; for lowering that can do without."""
        fact = (self.target if role == "target" else self.draft).fact(path)
        return fact.value if isinstance(fact, Known) else None


_REFUSAL_SEVERITY = {
    "results": Severity.ERROR,
    "exactness": Severity.ERROR,
    "k": Severity.ERROR,
    "performance": Severity.WARNING,
    "description": Severity.INFO,
}


class LowerContext(Struct):
    """What lowering reads (spec, release, models) and what it writes (settings, findings).

    Every set field must end up in `accounted`: written, proven equal to the engine's default, refused, or descriptive.
    `restated` holds what other fields of the spec say in the same words of the engine: what lifting gives back instead.
    """

    spec: Spec
    fields: Fields
    view: View
    models: Models
    title: str
    span: Callable[[str], Span | None]
    builder: SettingsBuilder
    findings: list[Finding] = field(default_factory=list)
    accounted: set[str] = field(default_factory=set)
    refused: set[str] = field(default_factory=set)
    written: set[str] = field(default_factory=set)
    restated: dict[str, JsonValue] = field(default_factory=dict)

    def get(self, name: str) -> JsonValue:
        """A set field's value, or None."""
        return self.fields.get(name)

    def write(self, path: str, value: JsonValue, *names: str) -> None:
        """Write a setting for a field of the spec; further names are fields that the same value carries."""
        self.builder.write(path, Written(value, Origin.SPEC, field=names[0], where=self.span(names[0])))
        self.accounted.update(names)
        self.written.update(names)

    def covered(self, name: str) -> None:
        """A set field that needs nothing written: the engine does it anyway, or it only describes."""
        self.accounted.add(name)

    def refuse(
        self,
        name: str,
        changes: str,
        because: str,
        *,
        fix: str = "",
        evidence: EvidenceKind = EvidenceKind.SOURCE,
        code: str = "SC250",
    ) -> None:
        """A set field that this release cannot express.

        `because` completes "vLLM 0.33.0 ...". `changes` is results, exactness, k, performance or description.
        """
        self.accounted.add(name)
        self.refused.add(name)
        self.findings.append(
            Finding(
                code=code,
                severity=_REFUSAL_SEVERITY[changes],
                message=f"{self.title} {self.view.release} {because}, so {name} cannot be expressed.",
                fix=fix or f"Unset {name}, or choose a release or engine that has it.",
                engine=self.view.engine,
                release=self.view.release,
                checked_as=self.view.point.checked_as,
                evidence=evidence,
                where=self.span(name),
                option=name,
            )
        )

    def problem(
        self,
        code: str,
        name: str,
        message: str,
        *,
        fix: str,
        severity: Severity = Severity.ERROR,
        evidence: EvidenceKind = EvidenceKind.SOURCE,
        effect: Effect | None = None,
        stage: Stage | None = None,
    ) -> None:
        """A finding about the spec itself for this release."""
        self.findings.append(
            Finding(
                code=code,
                severity=severity,
                message=message,
                fix=fix,
                engine=self.view.engine,
                release=self.view.release,
                checked_as=self.view.point.checked_as,
                evidence=evidence,
                effect=effect,
                stage=stage,
                where=self.span(name),
                option=name,
            )
        )


class Lowered(Struct, frozen=True):
    """A spec as settings of one engine at one release.

    `refused` are the set fields that could not be expressed, `written` those that the settings carry, `restated` fields
    that say the same as some of the spec's own and that lifting gives back instead.
    """

    settings: Settings
    findings: tuple[Finding, ...]
    refused: frozenset[str]
    written: frozenset[str]
    restated: Mapping[str, JsonValue] = field(default_factory=dict)


class Artifact(Struct, frozen=True):
    """A launch ready to be written out. `files` are named by the path that `argv` uses for them."""

    engine: str
    release: str
    argv: tuple[str, ...]
    env: Mapping[str, str]
    files: Mapping[str, str]


class _Nothing:
    """The mark of a value that needs nothing written: the engine does it anyway."""


NOTHING = _Nothing()


class CannotExpressError(Exception):
    """Raised by a transform for a value that the engine has no way to say; `because` completes "vLLM 0.33.0 ..."."""

    def __init__(self, changes: str, because: str, fix: str = "") -> None:
        super().__init__(because)
        self.changes = changes
        self.because = because
        self.fix = fix


class Transform(Struct, frozen=True):
    """How a field's value becomes a setting's and back.

    `lower` gets the value and the context; it returns NOTHING where nothing has to be written and raises CannotExpressError.
    `lift` gets the value and the settings; it is the inverse of `lower` and raises LookupError for a value that no
    field's value lowers to.
    """

    lower: Callable[[JsonValue, LowerContext], JsonValue | _Nothing]
    lift: Callable[[JsonValue, Settings], JsonValue]


def one_value(field: JsonValue, setting: JsonValue) -> Transform:
    """For a field of which only one value has to be written, as `setting`: the other is what the engine does without it."""

    def lower(value: JsonValue, _: LowerContext) -> JsonValue | _Nothing:
        return setting if same(value, field) else NOTHING

    def lift(value: JsonValue, _: Settings) -> JsonValue:
        if not same(value, setting):
            raise LookupError(value)
        return field

    return Transform(lower, lift)


class Engine(Protocol):
    """One engine. Implemented by a module-level object in `engines/<e>/__init__.py`."""

    @property
    def name(self) -> str:
        """`vllm`, `sglang` or `tensorrt-llm`."""
        ...

    @property
    def title(self) -> str:
        """The name as its users write it."""
        ...

    @property
    def model_path(self) -> str:
        """The destination path of the target model."""
        ...

    @property
    def draft_path(self) -> str:
        """The destination path of the draft model."""
        ...

    @property
    def option_scopes(self) -> Mapping[str, str]:
        """Section of the spec's `engines.<e>` (`options`, `cli`) → the scope its keys belong to."""
        ...

    @property
    def abbreviations(self) -> bool:
        """Whether its command line takes the beginning of a flag for the flag."""
        ...

    @property
    def transforms(self) -> Mapping[str, Transform]:
        """Named value transforms that the mapping table uses, beside the shared ones."""
        ...

    @property
    def derivations(self) -> Mapping[str, Derivation]:
        """Facts under `derived.`, computed once per launch."""
        ...

    @property
    def effective_paths(self) -> tuple[str, ...]:
        """Paths that bear on speculation though no field of a spec writes them: shown in the effective configuration."""
        ...

    def lower_speculation(self, context: LowerContext) -> None:
        """Write everything the mapping table leaves to the method: method, K, draft, tree, verification, schedule."""
        ...

    def lift_speculation(self, settings: Settings, view: View, models: Models) -> Fields:
        """The best guess at the speculation fields; `engines.lifting` proves it by lowering it again."""
        ...

    def part_of_several(self, settings: Settings) -> str:
        """Why these settings are one part of a multi-node or disaggregated deployment; empty when they are not."""
        ...

    def resolve(self, launch: Launch, view: View) -> Settings:
        """A launch's words as settings."""
        ...

    def emit(self, settings: Settings, view: View, form: str) -> Artifact:
        """Settings as a launch; `form` is `argv` or `engine-yaml`."""
        ...

    def python_call(self, settings: Settings, view: View) -> PyCall:
        """Settings as a call in Python. UsageError for one that has no keyword."""
        ...

    @property
    def serving(self) -> Serving:
        """Its server, as deploy files have to know it."""
        ...


def default_fact(view: View) -> Callable[[str], Fact]:
    """The engine's recorded default of a path as a fact.

    A path that this release is known not to have, in a scope that is known completely, is None: it cannot be in force.
    """
    from specconf.compat.rows import UNKNOWN

    def default(path: str) -> Fact:
        value = view.default(path)
        if value is not UNKNOWN:
            return Known(value)
        rows = view.by_path.get(path, ())
        if not rows and _scope_is_complete(view, path):
            return Known(None)
        return Missing(f"the default of {path} in {view.engine} {view.release}")

    return default


def _scope_is_complete(view: View, path: str) -> bool:
    """Whether the scope that would hold a path is known completely at this release."""
    scopes = view.db.scopes_by_path.get(path, frozenset())
    return bool(scopes) and all(view.scope(scope).completeness == "complete" for scope in scopes)


def sequence(value: JsonValue) -> Sequence[JsonValue]:
    """A list value as a sequence; any other value as a sequence of one."""
    return value if isinstance(value, list) else [value]
