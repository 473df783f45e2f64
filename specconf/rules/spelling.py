"""SC1xx: words and options themselves, whatever the rest of the launch says: unknown, ambiguous, removed, badly typed.

Judged by scopes: an unknown option is an error only where our list is complete and the engine rejects; in a partial list it
is information, with a did-you-mean.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from specconf.compat.releases import Ranges
from specconf.compat.rows import Option, Scope
from specconf.compat.view import View
from specconf.engines.base import Engine
from specconf.engines.near import near_names
from specconf.engines.options import as_text, loose
from specconf.findings import Effect, EvidenceKind, Finding, Severity, Stage
from specconf.settings import Origin, Problem, ProblemKind, Setting, Settings
from specconf.words import Candidates, JsonValue, Span, Unresolved

_TYPES: dict[str, tuple[type, ...]] = {"int": (int,), "float": (int, float), "bool": (bool,), "str": (str,)}
_OPERATORS = {"gt": ">", "ge": ">=", "lt": "<", "le": "<="}


def spelling_findings(settings: Settings, engine: Engine, view: View) -> Iterator[Finding]:
    """Findings about spellings and values of single options."""
    for problem in settings.problems:
        yield _problem_finding(problem, engine, view)
    for setting in settings.items_by_path.values():
        yield from _setting_findings(setting, settings, engine, view)


def _finding(
    view: View,
    code: str,
    severity: Severity,
    effect: Effect,
    message: str,
    *,
    fix: str = "",
    option: str = "",
    where: Span | None = None,
    stage: Stage = Stage.PARSE,
    evidence: EvidenceKind = EvidenceKind.SOURCE,
) -> Finding:
    return Finding(
        code=code,
        severity=severity,
        message=message,
        engine=view.engine,
        release=view.release,
        checked_as=view.point.checked_as,
        effect=effect,
        stage=stage,
        evidence=evidence,
        fix=fix,
        where=where,
        option=option,
    )


def _problem_finding(problem: Problem, engine: Engine, view: View) -> Finding:
    name, title = problem.spelling, f"{engine.title} {view.release}"
    if problem.left_out:
        return _left_out(problem, title, view)
    if problem.kind is ProblemKind.UNKNOWN:
        return _unknown(name, view.scope(problem.scope), title, view, problem.near, problem.where)
    if problem.kind is ProblemKind.AMBIGUOUS:
        several = ", ".join(problem.near)
        message = f"{title} reads {name} as short for several options ({several}) and stops at start"
        message += f"{_releases_with(name, problem.scope, view)}."
        later = _successor(name, problem.scope, view)
        fix = f"Write {later}: that is this release's name for {name}." if later else "Write the option out in full."
        return _rejects(view, "SC102", message, fix, problem)
    if problem.kind is ProblemKind.MISSING_VALUE:
        return _rejects(
            view, "SC103", f"{name} needs a value, so {title} stops at start.", "Write one after it.", problem
        )
    if problem.kind is ProblemKind.OVERWRITTEN:
        message = f"{title} drops what was written before for {problem.value}: {name} replaces the whole object."
        fix = "Write the object once, either as JSON or key by key."
        return _finding(
            view, "SC107", Severity.WARNING, Effect.IGNORES, message, fix=fix, option=name, where=problem.where
        )
    if problem.kind is ProblemKind.UNEXPECTED:
        message = f"{title} does not expect the word {name} here and stops at start."
        return _rejects(view, "SC101", message, "Remove it, or write the option it belongs to.", problem)
    message = f"{name} is given {problem.value!r}, but {title} takes {problem.expected}, so it stops at start."
    return _rejects(view, "SC103", message, f"Give {name} {problem.expected.partition(' (')[0]}.", problem)


def _left_out(problem: Problem, title: str, view: View) -> Finding:
    """An option of a spec that no launch of this release can hold; the engine never sees it."""
    name = problem.spelling
    if problem.kind is ProblemKind.UNKNOWN:
        lived = _releases_with(name, problem.scope, view)
        code, message = "SC101", f"{title} has no option {name}, so it cannot be written{lived}."
        fix = f"Did you mean {' or '.join(problem.near)}?" if problem.near else f"Remove {name}."
    else:
        code, message = (
            "SC103",
            f"{name} is {problem.value}, but {title} takes {problem.expected}, so it cannot be written.",
        )
        fix = f"Give {name} {problem.expected.partition(':')[0]}, or remove it."
    return replace(_rejects(view, code, message, fix, problem), effect=None, stage=None)


def _rejects(view: View, code: str, message: str, fix: str, problem: Problem) -> Finding:
    return _finding(
        view, code, Severity.ERROR, Effect.REJECTS, message, fix=fix, option=problem.spelling, where=problem.where
    )


def _unknown(name: str, scope: Scope, title: str, view: View, near: tuple[str, ...], where: Span | None) -> Finding:
    """An option that is not in a scope's list, by what is known of the list and what the engine does with such words."""
    lived = _releases_with(name, scope.name, view)
    does = {"drops": "drops it without a word", "passes_on": "passes it on unread"}.get(scope.unknown_member)
    if scope.completeness != "complete" or scope.unknown_member == "unknown":
        verdict = ("SC101", Severity.INFO, Effect.WARNS)
        message = f"Whether {title} has {name} is not checked: its options are known only in part{lived}."
    elif does is None:
        verdict = ("SC101", Severity.ERROR, Effect.REJECTS)
        message = f"{title} has no option {name} and stops at start{lived}."
    else:
        verdict = ("SC106", Severity.WARNING, Effect.IGNORES)
        message = f"{title} has no option {name} and {does}{lived}."
    return _finding(
        view,
        *verdict,
        message,
        fix=_instead(name, scope.name, near, view, lived=bool(lived)),
        option=name,
        where=where,
        stage=Stage.PARSE if scope.name.endswith("cli") else Stage.CONFIG,  # members are read after the command line
    )


def _instead(name: str, scope: str, near: tuple[str, ...], view: View, *, lived: bool) -> str:
    """What to write instead of an option that this release does not have."""
    later = _successor(name, scope, view)
    if later:
        return f"Write {later}: that is this release's name for {name}."
    if near:
        return f"Did you mean {' or '.join(near)}?"
    return f"Remove {name}, or choose a release that has it." if lived else f"Remove {name}."


def _named(name: str, scope: str, view: View) -> list[tuple[Ranges, Mapping[str, Any]]]:
    """The rows of a scope, in any release, that have this spelling, with dashes or underscores."""
    names = {name, f"--{name.replace('_', '-')}"} if scope.endswith("cli") else {name}
    rows = [view.db.raw_options[i] for i in view.db.rows_by_scope.get(scope, ())]
    return [(ranges, row) for ranges, row in rows if names & {*(row.get("names") or ()), *(row.get("no_names") or ())}]


def _successor(name: str, scope: str, view: View) -> str:
    """How this release spells what the option wrote in others; empty where it writes no such thing, or another one.

    Of a switch, that is the spelling which writes the same value: the opposite one would turn the setting round.
    """
    found = {
        spelling
        for _, row in _named(name, scope, view)
        for option in view.by_path.get(row["path"], ())
        if option.scope == scope and not option.deprecated
        for spelling in _same_writers(option, name, row)
    }
    return found.pop() if len(found) == 1 else ""


def _same_writers(option: Option, name: str, row: Mapping[str, Any]) -> Iterator[str]:
    """The first spelling of an option that writes what `name` wrote by its row of another release."""
    kind = row.get("kind", "value")
    if kind not in ("switch", "optional"):
        if option.kind == kind and "const" not in row:
            yield from option.names[:1]
        return
    written = row.get("const", True)
    if name not in (row.get("names") or ()) and loose(name) not in {loose(n) for n in row.get("names") or ()}:
        written = _opposite(written)
    if option.kind in ("switch", "optional") and written is not None:
        if _same(option.const, written):
            yield from option.names[:1]
        elif _same(_opposite(option.const), written):
            yield from option.no_names[:1]


def _opposite(value: JsonValue) -> JsonValue:
    """What the opposite spelling of a switch writes; None where it has none."""
    return not value if isinstance(value, bool) else None


def _same(left: JsonValue, right: JsonValue) -> bool:
    return left == right and isinstance(left, bool) == isinstance(right, bool)


def _releases_with(name: str, scope: str, view: View) -> str:
    """In which other releases an option of this name exists, as an aside in brackets; empty when in none."""
    line = view.db.line
    held = [ranges for ranges, _ in _named(name, scope, view)]
    runs: list[tuple[int, int]] = []
    for position in range(len(line.names)):
        if any(ranges.at(position) for ranges in held):
            if runs and runs[-1][1] == position:
                runs[-1] = (runs[-1][0], position + 1)
            else:
                runs.append((position, position + 1))
    text = Ranges(tuple(runs)).text(line)
    word = "" if text.startswith("before") else "from " if text.endswith(" on") and ";" not in text else "in "
    return f"; it exists {word}{text}" if runs else ""


def _setting_findings(setting: Setting, settings: Settings, engine: Engine, view: View) -> Iterator[Finding]:
    if setting.path.startswith("env."):
        return
    rows = view.by_path.get(setting.path, ())
    if not rows:
        yield from _unknown_path(setting, engine, view)
        return
    tag, fitting = _of_tag(rows, settings, view)
    if not fitting:
        yield _not_with(tag, rows[0], setting, engine, view)
        return
    option = _row_for(setting, fitting)
    if option.deprecated and setting.final.origin is not Origin.SPEC:
        yield _deprecated(setting, option, engine, view)
    value = setting.value
    if isinstance(value, Unresolved | Candidates):
        return
    wrong = _wrong_value(option, value)
    if wrong:
        shown = setting.final.spelling or option.key
        message = f"{shown} is {as_text(value)}, but {engine.title} {view.release} takes {wrong}, so it stops at start."
        severity = Severity.ERROR if option.evidence.rank <= EvidenceKind.DOCS.rank else Severity.WARNING
        stage = Stage.CONFIG if "." in setting.path else Stage.PARSE
        yield _finding(
            view,
            "SC103",
            severity,
            Effect.REJECTS,
            message,
            fix=f"Set {shown} to {wrong}.",
            option=setting.path,
            where=setting.final.where,
            stage=stage,
            evidence=option.evidence,
        )


def _row_for(setting: Setting, rows: tuple[Option, ...]) -> Option:
    """The row whose spelling was used, else the first."""
    spelling = setting.final.spelling
    return next((o for o in rows if spelling in o.names or spelling in o.no_names), rows[0])


def _of_tag(rows: tuple[Option, ...], settings: Settings, view: View) -> tuple[str, tuple[Option, ...]]:
    """The value of the scope's discriminator, and the rows that belong to it; all rows where it says nothing."""
    tag = settings.get(view.scope(rows[0].scope).tag)
    if not isinstance(tag, str) or all(method.value != tag for method, _ in view.methods()):
        return "", rows
    return tag, tuple(o for o in rows if not o.methods or tag in o.methods)


def _not_with(tag: str, option: Option, setting: Setting, engine: Engine, view: View) -> Finding:
    """A key that only other values of the discriminator have."""
    key, title = setting.final.spelling or option.key, f"{engine.title} {view.release} with {tag}"
    return _unknown(key, view.scope(option.scope), title, view, (), setting.final.where)


def _unknown_path(setting: Setting, engine: Engine, view: View) -> Iterator[Finding]:
    """A path that this release does not have: a key of a known object, or an option that lives in other releases."""
    scopes = view.db.scopes_by_path.get(setting.path) or _scopes_under(setting.path, view)
    key = (setting.final.spelling or setting.path).rpartition(".")[2]
    for name in sorted(scopes):
        scope = view.scope(name)
        near = near_names(key, view.names.get(name, {}))
        yield _unknown(key, scope, f"{engine.title} {view.release}", view, near, setting.final.where)
        return


def _scopes_under(path: str, view: View) -> frozenset[str]:
    """The scope of the object that a path belongs to; an object that was not harvested is not descended into."""
    parent = path.rpartition(".")[0]
    rows = view.by_path.get(parent, ()) if parent else ()
    return frozenset(o.members for o in rows if o.members and view.names.get(o.members))


def _deprecated(setting: Setting, option: Option, engine: Engine, view: View) -> Finding:
    """An option on its way out: the launch stops already, it does nothing, or it still works."""
    shown, title = setting.final.spelling or option.key, f"{engine.title} {view.release}"
    if option.deprecated == "the launch stops":
        verdict = ("SC101", Severity.ERROR, Effect.REJECTS, f"{title} no longer takes {shown} and stops at start.")
    elif option.deprecated.endswith("does nothing"):
        verdict = ("SC106", Severity.WARNING, Effect.IGNORES, f"{title} accepts {shown} and does nothing with it.")
    else:
        message = f"{shown} still works in {title} and is marked as going away."
        verdict = ("SC105", Severity.INFO, Effect.DEPRECATED, message)
    return _finding(
        view,
        *verdict,
        fix=f"Use {option.replaced_by} instead." if option.replaced_by else f"Leave {shown} out.",
        option=setting.path,
        where=setting.final.where,
        evidence=option.evidence,
    )


def _wrong_value(option: Option, value: JsonValue) -> str:
    """What the option takes instead, when the value does not fit; empty when it fits or that is not known."""
    if option.own_parser:
        return ""
    if value is None:
        return "" if option.nullable or option.default is None or option.type is None else _type_text(option)
    if option.kind in {"list", "append"}:
        items = value if isinstance(value, list) else [value]
        return next((wrong for item in items if (wrong := _wrong_scalar(option, item))), "")
    return _wrong_scalar(option, value)


def _wrong_scalar(option: Option, value: JsonValue) -> str:
    if option.choices is not None:
        if any(value == choice and isinstance(value, bool) == isinstance(choice, bool) for choice in option.choices):
            return ""
        if option.type in _TYPES and _fits(option.type, value) and option.type != "str" and not isinstance(value, str):
            return _choices_text(option)
        return _choices_text(option) if isinstance(value, str) or option.type is None else _type_text(option)
    if option.type in _TYPES and not _fits(option.type, value):
        return _type_text(option)
    if isinstance(value, int | float) and not isinstance(value, bool) and not _within(option, value):
        return " and ".join(f"{_OPERATORS[op]} {bound:g}" for op, bound in option.bounds.items())
    return ""


def _fits(kind: str, value: JsonValue) -> bool:
    if isinstance(value, bool):
        return kind == "bool"
    return isinstance(value, _TYPES[kind])


def _within(option: Option, value: float) -> bool:
    tests = {"gt": value.__gt__, "ge": value.__ge__, "lt": value.__lt__, "le": value.__le__}
    return all(tests[op](bound) is True for op, bound in option.bounds.items())


def _type_text(option: Option) -> str:
    words = {"int": "a whole number", "float": "a number", "bool": "true or false", "str": "text"}
    return words.get(option.type or "", "another type")


def _choices_text(option: Option) -> str:
    assert option.choices is not None
    shown = [as_text(choice) for choice in option.choices]
    return (
        "one of " + ", ".join(shown)
        if len(shown) <= 12
        else f"one of {len(shown)} values such as {', '.join(shown[:6])}"
    )
