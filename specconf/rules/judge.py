"""One road for everything that is checked: a spec, or a launch as written, at one release → settings → facts → findings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

from specconf.compat.view import View
from specconf.engines.base import Engine, Lowered, Models, default_fact
from specconf.engines.lowering import lower, no_span
from specconf.facts import Context, Facts
from specconf.findings import Finding, Severity
from specconf.hardware import capability, memory
from specconf.rules.checker import CheckResult, check
from specconf.settings import Settings
from specconf.words import JsonValue, Span

if TYPE_CHECKING:
    from specconf.spec.model import Spec

_PLAIN_ROOTS = ("workload.", "hardware.")


class Judgement(Struct, frozen=True):
    """What specconf says about a spec or launch at one release."""

    settings: Settings
    result: CheckResult
    lowered: Lowered | None = None

    @property
    def findings(self) -> list[Finding]:
        """All findings, errors first; the order among equals is that of the rules."""
        return sorted(self.result.findings, key=lambda f: f.severity.rank)

    @property
    def errors(self) -> list[Finding]:
        """The findings that keep a launch from being written."""
        return [f for f in self.result.findings if f.severity is Severity.ERROR]


def judge_spec(
    spec: Spec,
    engine: Engine,
    view: View,
    models: Models,
    *,
    span: Callable[[str], Span | None] = no_span,
) -> Judgement:
    """Lower a spec and check what it was lowered to."""
    lowered = lower(spec, engine, view, models, span=span)
    fields = spec.set_fields()
    plain = {name: value for name, value in fields.items() if name.startswith(_PLAIN_ROOTS)}
    features = fields.get("features") or []
    listed = frozenset(str(f) for f in features) if isinstance(features, list) else frozenset()
    exact = fields.get("speculation.verification") == "exact"
    result = _check(lowered.settings, engine, view, models, plain=plain, features=listed, exact=exact)
    result.findings[:0] = lowered.findings
    return Judgement(lowered.settings, result, lowered)


def judge_settings(
    settings: Settings,
    engine: Engine,
    view: View,
    models: Models,
    *,
    plain: Mapping[str, JsonValue] | None = None,
    features: frozenset[str] | None = None,
) -> Judgement:
    """Check settings as they are."""
    result = _check(settings, engine, view, models, plain=plain or {}, features=features, exact=True)
    return Judgement(settings, result)


def _check(
    settings: Settings,
    engine: Engine,
    view: View,
    models: Models,
    *,
    plain: Mapping[str, JsonValue],
    features: frozenset[str] | None,
    exact: bool,
) -> CheckResult:
    context = Context(models.target, models.draft, _with_derived_hardware(plain), features)
    facts = Facts(
        settings,
        context,
        default=default_fact(view),
        derivations=engine.derivations,
        model_path=engine.model_path,
        draft_path=engine.draft_path,
    )
    return check(facts, engine, view, exact=exact)


def _with_derived_hardware(plain: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Hardware facts with the platform assumed as cuda, and capability and memory looked up by the GPU's name."""
    gpu = plain.get("hardware.gpu")
    found = {"capability": capability(gpu), "memory": memory(gpu)} if isinstance(gpu, str) else {}
    known: dict[str, JsonValue] = {f"hardware.{name}": value for name, value in found.items() if value is not None}
    return {"hardware.platform": "cuda", **plain, **known}
