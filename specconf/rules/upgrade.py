"""What an upgrade does to one launch: two judgements of the same words, at the release that runs and at the one to come.

What the engine refuses, drops or loses only at the new release is told by that release's own findings. What changes without
a finding is told by the two effective configurations, defaults included: a launch need not mention a setting for it to change.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from specconf.compat.rows import Method
from specconf.compat.view import View
from specconf.engines.base import Engine, default_fact
from specconf.engines.options import as_text
from specconf.facts import Effective, Fact, Known, Missing, OneOf
from specconf.findings import Effect, EvidenceKind, Finding, Severity
from specconf.rules.checker import with_defaults
from specconf.rules.judge import Judgement
from specconf.words import JsonValue, Span, same

_EXACTNESS = "SC5"
CHANGES, EXACTNESS, POSSIBLE, BEFORE = "SC901", "SC902", "SC903", "SC904"


class Outcome(StrEnum):
    """What comes of an upgrade, worst first."""

    BREAKS = "breaks"
    REFUSED = "refused already"
    LOSSY = "becomes lossy"
    CHANGES = "changes silently"
    TOLD = "is told"
    EXACT = "becomes exact"
    POSSIBLE = "newly possible"


class Told(Struct, frozen=True):
    """One thing to tell of an upgrade."""

    outcome: Outcome
    finding: Finding


class Change(Struct, frozen=True):
    """One setting in force, at both releases. `main`: whether it bears on speculation, or a spec has a field for it."""

    path: str
    before: Effective
    after: Effective
    main: bool


class Upgrade(Struct, frozen=True):
    """Everything that an upgrade does to one launch. `uncertain`: settings in force that cannot be compared, with why."""

    before: str
    after: str
    told: tuple[Told, ...]
    changes: tuple[Change, ...] = ()
    uncertain: Mapping[str, str] = {}

    def of(self, outcome: Outcome) -> list[Finding]:
        """What is told of one outcome."""
        return [one.finding for one in self.told if one.outcome is outcome]

    @property
    def breaks(self) -> bool:
        """Whether the launch starts at the old release as far as is known, and does not at the new one."""
        return bool(self.of(Outcome.BREAKS))


def compare(
    before: Judgement, after: Judgement, engine: Engine, views: tuple[View, View], *, where: Span | None = None
) -> Upgrade:
    """An upgrade of one launch. `views`: the database at the old and the new release; `where`: the launch's own place."""
    if _refusals(before):
        return _from_refused(before, after, views, where)
    changes, uncertain = _changes(before, after, engine, views)
    told = [
        *_findings(before, after, views, where),
        *(Told(Outcome.CHANGES, _changed(change, views, after, where)) for change in changes),
        *_new_methods(before, views, where),
    ]
    order = list(Outcome)
    told.sort(key=lambda one: (order.index(one.outcome), one.finding.severity.rank))
    return Upgrade(views[0].release, views[1].release, tuple(told), tuple(changes), uncertain)


def _from_refused(before: Judgement, after: Judgement, views: tuple[View, View], where: Span | None) -> Upgrade:
    """A launch that the old release refuses: nothing is in force there that could be compared, and nothing breaks."""
    first = _refusals(before)[0]
    about = f"{views[0].release} refuses this launch already: {first.message} The settings in force cannot be compared."
    remark = _remark(BEFORE, about, views[1], first.where or where, option=first.option)
    refusal = replace(remark, severity=Severity.WARNING, fix="Mend it first: `specconf lint` says how.")
    left = [Told(Outcome.REFUSED, finding) for finding in after.errors]
    gone = [one for one in _findings(before, after, views, where) if one.outcome in (Outcome.EXACT, Outcome.POSSIBLE)]
    return Upgrade(views[0].release, views[1].release, (Told(Outcome.REFUSED, refusal), *left, *gone))


def _refusals(judgement: Judgement) -> list[Finding]:
    """The errors for which the engine does not start, or dies; one that makes outputs wrong leaves everything in force."""
    return [finding for finding in judgement.errors if finding.effect in (Effect.REJECTS, Effect.CRASHES, None)]


def _findings(before: Judgement, after: Judgement, views: tuple[View, View], where: Span | None) -> Iterator[Told]:
    """The findings of one release that the other has not."""
    old = {_key(finding): finding for finding in before.findings}
    new = {_key(finding) for finding in after.findings}
    for finding in after.findings:
        known = old.get(_key(finding))
        if known is not None and known.severity.rank <= finding.severity.rank:
            continue
        yield Told(_outcome(finding), finding)
    for finding in before.findings:
        if _key(finding) in new or finding.severity is Severity.INFO:
            continue
        exact = finding.code.startswith(_EXACTNESS)
        if not exact and finding.severity is not Severity.ERROR:
            continue
        about = _sentence(
            f"{finding.code} of {views[0].release} is gone in {views[1].release}: {finding.message}"
            if not exact
            else f"{views[1].release} no longer gives what {views[0].release} does: {finding.message}"
        )
        code = EXACTNESS if exact else POSSIBLE
        yield Told(
            Outcome.EXACT if exact else Outcome.POSSIBLE,
            _remark(
                code, about, views[1], finding.where or where, option=finding.option, constraint=finding.constraint
            ),
        )


def _outcome(finding: Finding) -> Outcome:
    if finding.code.startswith(_EXACTNESS):
        return Outcome.LOSSY
    if finding.severity is Severity.ERROR:
        return Outcome.BREAKS
    return Outcome.TOLD if finding.effect in (Effect.DEPRECATED, Effect.WARNS) else Outcome.CHANGES


def _key(finding: Finding) -> tuple[str, str, str]:
    return finding.code, finding.constraint, "" if finding.constraint else finding.option


def _changes(
    before: Judgement, after: Judgement, engine: Engine, views: tuple[View, View]
) -> tuple[list[Change], dict[str, str]]:
    """What is in force at both releases and differs, settings that bear on speculation first."""
    old, new = (
        with_defaults(one.result.effective, engine, view) for one, view in zip((before, after), views, strict=True)
    )
    refused = {finding.option for finding in after.findings if finding.effect is Effect.REJECTS}
    changes: list[Change] = []
    uncertain: dict[str, str] = {}
    for path in sorted(old.keys() | new.keys()):
        if path in refused:
            continue
        pair = tuple(_in_force(path, found, view) for found, view in zip((old, new), views, strict=True))
        if pair[0] is None or pair[1] is None:
            continue  # a setting of one release only: written, it has a finding; unwritten, it is no change of this launch
        _sorted_in(path, pair[0], pair[1], changes, uncertain)
    known = old.keys() | new.keys()
    changes += [change for change in _other_defaults(views) if change.path not in known]
    return changes, uncertain


def _sorted_in(
    path: str, before: Effective, after: Effective, changes: list[Change], uncertain: dict[str, str]
) -> None:
    old, new = before.value, after.value
    if isinstance(old, Missing) or isinstance(new, Missing):
        if _written(before) and _written(after) and before.origin == after.origin:
            return  # what was written and could not be read is the same at both
        missing = old if isinstance(old, Missing) else new
        assert isinstance(missing, Missing)
        uncertain[path] = missing.needs
    elif not _same(old, new):
        changes.append(Change(path, before, after, main=True))


def _in_force(path: str, found: Mapping[str, Effective], view: View) -> Effective | None:
    """A setting in force; None where the release has no such setting."""
    if path in found:
        return found[path]
    if view.has(path) is False and not path.startswith("env."):
        return None
    return Effective(default_fact(view)(path), "default")


def _other_defaults(views: tuple[View, View]) -> Iterator[Change]:
    """Defaults of all other options that differ: both releases have the option, and record what it is without being written."""
    facts = [default_fact(view) for view in views]
    for path in sorted(views[0].by_path):
        options = views[0].by_path[path], views[1].by_path.get(path, ())
        if not options[1] or any(one[0].internal or one[0].kind == "object" for one in options):
            continue
        old, new = facts[0](path), facts[1](path)
        if isinstance(old, Known) and isinstance(new, Known) and not _same(old, new):
            yield Change(path, Effective(old, "default"), Effective(new, "default"), main=False)


def _written(effective: Effective) -> bool:
    return effective.origin != "default"


def _same(left: Fact, right: Fact) -> bool:
    if isinstance(left, Missing) or isinstance(right, Missing):
        return left == right
    if len(left.values) != len(right.values):
        return False
    return all(any(_equal(one, other) for other in right.values) for one in left.values)


def _leaves_open(change: Change) -> bool:
    """Whether it is possible that nothing changes: some values are on both sides, or a default is left to the engine."""
    sides = change.before, change.after
    if any(not _written(side) and side.value == Known(None) for side in sides):
        return True
    values = [side.value.values for side in sides if not isinstance(side.value, Missing)]
    return len(values) < 2 or any(_equal(one, other) for one in values[0] for other in values[1])


def _equal(left: JsonValue, right: JsonValue) -> bool:
    return same(left, right) or as_text(left) == as_text(right)


def _changed(change: Change, views: tuple[View, View], after: Judgement, where: Span | None) -> Finding:
    """A change of what is in force, as a finding."""
    setting = after.settings.setting(change.path)
    place = setting.final.where if setting is not None and setting.final.where is not None else where
    option = views[1].option(change.path)
    name = next(iter(option.names), change.path) if option is not None else change.path
    old, new = (_shown(one, view) for one, view in zip((change.before, change.after), views, strict=True))
    may = "may be" if _leaves_open(change) else "is"
    message = f"{name} is {old} in {views[0].release} and {may} {new} in {views[1].release}"
    message += ", and nothing in the launch says which." if setting is None else ", though the launch writes the same."
    fix = ""
    if setting is None and isinstance(change.before.value, Known) and option is not None and option.names:
        fix = _keeping(name, change.before.value.value)
    severity = Severity.WARNING if change.main and may == "is" else Severity.INFO
    return replace(_remark(CHANGES, message, views[1], place, option=change.path), severity=severity, fix=fix)


def _keeping(name: str, value: JsonValue) -> str:
    """How to keep a value by writing it; empty where there is no plain way."""
    if value is None or isinstance(value, bool | dict | list):
        return ""
    return f"To keep {as_text(value)}, write {name}{' ' if name.startswith('-') else ': '}{as_text(value)}."


def _shown(effective: Effective, view: View) -> str:
    fact = effective.value
    text = " or ".join(_value(value) for value in fact.values) if isinstance(fact, Known | OneOf) else "unknown"
    if effective.origin == "default":
        return f"{text} (its default)"
    constraint = view.db.constraint(effective.origin)
    return f"{text} (the engine's choice, {constraint.id})" if constraint is not None else text


def _value(value: JsonValue) -> str:
    return "unset" if value is None else as_text(value)


def _new_methods(before: Judgement, views: tuple[View, View], where: Span | None) -> Iterator[Told]:
    """The speculation methods that only the new release has; told of a launch that speculates."""
    if not any(path.startswith("spec") for path in before.settings):
        return
    old, new = ({method.value: method for method, held in view.methods() if held} for view in views)
    words = [word for word, method in new.items() if word not in old and not _is_alias(method)]
    if words and old:
        about = f"{views[1].release} has methods that {views[0].release} does not: {', '.join(words)}."
        yield Told(Outcome.POSSIBLE, _remark(POSSIBLE, about, views[1], where))


def _is_alias(method: Method) -> bool:
    return method.alias_of is not None


def _sentence(text: str) -> str:
    return text if text.endswith(".") else f"{text}."


def _remark(
    code: str, message: str, view: View, where: Span | None, *, option: str = "", constraint: str = ""
) -> Finding:
    return Finding(
        code,
        Severity.INFO,
        message,
        engine=view.engine,
        release=view.release,
        checked_as=view.point.checked_as,
        constraint=constraint,
        evidence=EvidenceKind.SOURCE,
        where=where,
        option=option,
    )
