"""The checker: walks an engine's stages once, evaluates every constraint, applies overrides, and yields findings, what could
not be checked, and the effective configuration.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from msgspec import Struct, field

from specconf.codes import SCHEMA_CODES
from specconf.compat.rows import Action, Constraint, Option
from specconf.compat.view import View
from specconf.engines.base import Engine, default_fact
from specconf.engines.options import as_text
from specconf.facts import Effective, Fact, Facts, Known, Missing, OneOf
from specconf.findings import Effect, Finding, NotChecked, Severity, capped_severity, default_severity
from specconf.kleene import Ternary
from specconf.patterns import pattern
from specconf.rules.conditions import Condition, Test, Truth, evaluate, parse_condition
from specconf.rules.doubts import doubtful
from specconf.rules.naming import met
from specconf.rules.predicates import PREDICATES
from specconf.rules.silence import heard
from specconf.rules.spelling import says_nothing, spelling_findings
from specconf.words import JsonValue

_PLACEHOLDER = pattern(r"\{([a-z_]+(?:\.[\w@.-]+)?)\}")


class CheckResult(Struct):
    """What is said about one launch at one release.

    `resolved`: the values that the engine filled in for itself, by constraint; None where that could not be decided.
    """

    engine: str
    release: str
    findings: list[Finding] = field(default_factory=list)
    not_checked: list[NotChecked] = field(default_factory=list)
    effective: dict[str, Effective] = field(default_factory=dict)
    resolved: dict[str, bool | None] = field(default_factory=dict)

    @property
    def refused(self) -> bool:
        """Whether any finding is an error."""
        return any(f.severity is Severity.ERROR for f in self.findings)


@cache
def condition_of(constraint: Constraint) -> Condition:
    """The parsed condition of a constraint, parsed once."""
    return parse_condition(constraint.when, groups=constraint.groups, predicates=PREDICATES)


@cache
def _lead(text: str) -> Condition:
    """The test that a condition asks first, which is the same for many."""
    return parse_condition(json.loads(text))


def check(facts: Facts, engine: Engine, view: View, *, exact: bool = True) -> CheckResult:
    """Everything the database says about these facts at this release.

    `exact`: the spec asks for exact verification, so that a lossy effect is an error.
    """
    result = CheckResult(view.engine, view.release)
    spelled = list(spelling_findings(facts.settings, engine, view))
    result.findings += [finding for finding in spelled if not says_nothing(finding)]
    facts.doubt(doubtful(result.findings, facts.settings, view))
    leads = view.db.constraint_rows.column("lead")
    gives_way: dict[str, frozenset[str]] = {}
    for index, held in view.placed:
        lead = leads[index]
        if lead is not None and _lead(lead).truth(facts, view).value is False:
            continue
        constraint = view.db.constraint_row(index)
        if constraint.unless:
            gives_way[constraint.id] = constraint.unless
        if constraint.evaluated:
            _check_one(constraint, held, facts, view, result, exact=exact)
    result.findings, result.not_checked = heard(result.findings, result.not_checked, gives_way)
    result.not_checked += [*_unread_tables(facts, view), *_unknown_options(spelled, view)]
    result.effective = _effective(facts)
    return result


REGISTRY = "model_registry"
KNOWN_IN_PART = "/options-known-in-part"


def _unknown_options(findings: Sequence[Finding], view: View) -> list[NotChecked]:
    """What nothing is known of, since the release's options are known only in part: once for all of them."""
    names = frozenset(finding.option for finding in findings if says_nothing(finding))
    if not names:
        return []
    return [NotChecked(f"{view.engine}{KNOWN_IN_PART}", "SC101", names, engine=view.engine, release=view.release)]


def _unread_tables(facts: Facts, view: View) -> list[NotChecked]:
    """Whether the release serves the target's architecture at all: not checked while its model registry was not read."""
    architecture = facts.get("target.architecture")
    if REGISTRY in view.db.tables or not isinstance(architecture, Known) or architecture.value is None:
        return []
    missing = frozenset({f"the model registry of {view.engine} {view.release}"})
    return [NotChecked(f"{view.engine}/architecture", "SC305", missing, engine=view.engine, release=view.release)]


def _check_one(
    constraint: Constraint, held: Ternary, facts: Facts, view: View, result: CheckResult, *, exact: bool
) -> None:
    truth = condition_of(constraint).truth(facts, view)
    if truth.value is False:
        return
    if truth.value is None or held is None:
        if constraint.sets:
            _maybe_override(constraint, facts)
        if constraint.resolves:
            result.resolved[constraint.id] = None
        else:
            result.not_checked.append(_not_checked(constraint, held, truth, view))
        return
    if constraint.resolves:
        result.resolved[constraint.id] = True
        _override(constraint, facts)
        return
    changed = _override(constraint, facts) if constraint.sets else None
    if (changed is not None and not changed) or _refused_already(constraint, result):
        return
    result.findings.append(_finding(constraint, facts, view, exact=exact, of_written=changed))


def _refused_already(constraint: Constraint, result: CheckResult) -> bool:
    """Whether a constraint would replace only values that the launch is refused for: it never comes to that."""
    if constraint.effect is not Effect.OVERRIDES or not constraint.sets:
        return False
    refused = {f.option for f in result.findings if not f.constraint and f.effect is Effect.REJECTS}
    return constraint.sets.keys() <= refused


def _not_checked(constraint: Constraint, held: Ternary, truth: Truth, view: View) -> NotChecked:
    reason = "" if held else f"whether this holds in {view.release} is not known"
    missing = truth.missing if truth.value is None else frozenset({f"what {view.engine} {view.release} does"})
    return NotChecked(constraint.id, constraint.code, missing, reason, view.engine, view.release)


def _override(constraint: Constraint, facts: Facts) -> set[str] | None:
    """Apply an override; the paths whose written value it replaced, an empty set when nothing changed.

    A change of a default only is told by the path `""`.
    """
    changed: set[str] = set()
    for path, expression in constraint.sets.items():
        before = facts.effective(path)
        after = evaluate(expression, facts)
        if before.value == after:
            continue
        facts.override(path, after, constraint.id)
        changed.add(path if path in facts.settings else "")
    return changed


def _maybe_override(constraint: Constraint, facts: Facts) -> None:
    """An override whose condition is unknown leaves the old and the new value as candidates."""
    for path, expression in constraint.sets.items():
        before, after = facts.effective(path).value, evaluate(expression, facts)
        if before != after:
            facts.override(path, _either(before, after), constraint.id)


def _either(left: Fact, right: Fact) -> Fact:
    """Both facts as candidates; true and 1 are different values."""
    if isinstance(left, Missing):
        return left
    if isinstance(right, Missing):
        return right
    values: dict[tuple[type, str], JsonValue] = {}
    for fact in (left, right):
        for value in fact.values:
            values.setdefault((type(value), repr(value)), value)
    several = tuple(values.values())
    return OneOf(several) if len(several) > 1 else Known(several[0])


def _finding(constraint: Constraint, facts: Facts, view: View, *, exact: bool, of_written: set[str] | None) -> Finding:
    evidence = constraint.best_evidence
    severity = constraint.severity or default_severity(
        constraint.effect, exact=exact, override_of_written=of_written is None or bool(of_written - {""})
    )
    condition = condition_of(constraint)
    option = _option_of(constraint, facts)
    setting = facts.settings.setting(option)
    return Finding(
        code=constraint.code,
        severity=capped_severity(severity, evidence, schema_fact=constraint.code in SCHEMA_CODES),
        message=fill(constraint.message, facts, view, condition),
        engine=view.engine,
        release=view.release,
        checked_as=view.point.checked_as,
        constraint=constraint.id,
        effect=constraint.effect,
        stage=constraint.stage,
        evidence=evidence,
        fix=fill(constraint.fix, facts, view, condition),
        where=setting.final.where if setting else None,
        option=option,
        releases=constraint.ranges.text(view.db.line),
    )


def _option_of(constraint: Constraint, facts: Facts) -> str:
    """The option a finding is about: the last one that the condition looks at and the launch writes.

    Where none is written it is about a variable of the environment that the condition looks at and the launch sets. A
    condition that looks at models alone is about the option that names the draft, or else the target.
    """
    looked_at = [*constraint.sets] if constraint.effect is Effect.OVERRIDES else []
    variables = []
    roots = set()
    for leaf in condition_of(constraint).leaves():
        if isinstance(leaf, Test):
            root, _, rest = leaf.path.partition(".")
            looked_at += [rest] if root in {"option", "asked"} else []
            variables += [leaf.path] if root == "env" else []
            roots.add("draft" if rest.startswith("draft") else root)
    if not looked_at:
        looked_at = [path for root, path in facts.named_models.items() if root in roots]
    written = [path for path in looked_at if path in facts.settings] or [v for v in variables if v in facts.settings]
    return written[-1] if written else (looked_at[-1] if looked_at else "")


def fill(text: str, facts: Facts, view: View, condition: Condition) -> str:
    """A message with `{release}`, `{fact.path}` and `{met}`, what of the launch meets the condition, filled in."""

    def value(match: re.Match[str]) -> str:
        name = match.group(1)
        if name == "release":
            return view.release
        if name == "met":
            return met(condition, facts, view)
        return _shown(facts.get(name)) if "." in name else match.group(0)

    return _PLACEHOLDER.sub(value, text)


def _shown(fact: Fact) -> str:
    if isinstance(fact, Missing):
        return "an unknown value"
    if isinstance(fact, OneOf):
        return " or ".join(as_text(v) for v in fact.values)
    return as_text(fact.value)


def _effective(facts: Facts) -> dict[str, Effective]:
    """Every option written or overridden, with its value in force."""
    paths = [*facts.settings, *(p for p in facts.overridden if p not in facts.settings)]
    return {path: facts.effective(path) for path in paths}


def with_defaults(effective: Mapping[str, Effective], engine: Engine, view: View) -> dict[str, Effective]:
    """The effective configuration with the engine's own defaults for what a spec can set, and for what bears on speculation."""
    default = default_fact(view)
    mapped = {row.path for rows in view.mapping.values() for row, held in rows if held and row.action is Action.WRITE}
    speculation = {path for path in view.by_path if path.startswith("spec")}
    result = dict(effective)
    for path in sorted((mapped | speculation | set(engine.effective_paths)) - set(effective)):
        fact = default(path)
        options = view.by_path.get(path, ())
        shown = isinstance(fact, Known) and options and not options[0].internal and options[0].kind != "object"
        if shown and _may_have(options, effective, view):
            result[path] = Effective(fact, "default")
    return result


def _may_have(options: Sequence[Option], effective: Mapping[str, Effective], view: View) -> bool:
    """Whether a member is there at all: some belong to other values of their object's discriminator than the one in force."""
    tag = effective.get(view.scope(options[0].scope).tag)
    if tag is None or not isinstance(tag.value, Known):
        return True
    return any(not option.methods or tag.value.value in option.methods for option in options)


def shown_effective(effective: Mapping[str, Effective]) -> dict[str, dict[str, Any]]:
    """The effective configuration as plain data: value or candidates, and origin."""
    rows: dict[str, dict[str, Any]] = {}
    for path, item in effective.items():
        if isinstance(item.value, Known):
            rows[path] = {"value": item.value.value, "origin": item.origin}
        elif isinstance(item.value, OneOf):
            rows[path] = {"candidates": list(item.value.values), "origin": item.origin}
        else:
            rows[path] = {"unknown": item.value.needs, "origin": item.origin}
    return rows
