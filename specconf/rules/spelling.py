"""SC1xx: words and options themselves, whatever the rest of the launch says: unknown, ambiguous, removed, badly typed.

Judged by scopes: an unknown option is an error only where our list is complete and the engine rejects; in a partial list it
is information, with a did-you-mean.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from specconf.compat.rows import Option, Scope
from specconf.compat.view import View
from specconf.engines.base import Engine
from specconf.engines.near import near_names
from specconf.engines.options import as_text, python_literal
from specconf.findings import Effect, EvidenceKind, Finding, Severity, Stage
from specconf.rules.notjson import diagnose, written_as
from specconf.rules.othernames import instead, named, releases_with, releases_with_choice, successor
from specconf.rules.values import AS_GIVEN, coerced, out_of_bounds, wrong_value
from specconf.settings import Origin, Problem, ProblemKind, Setting, Settings
from specconf.words import Candidates, JsonValue, Span, Unresolved


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
        return _unknown(name, view.scope(problem.scope), title, view, problem.near, problem.where, problem.looked_up)
    if problem.kind is ProblemKind.AMBIGUOUS:
        several = ", ".join(problem.near)
        message = f"{title} reads {name} as short for several options ({several}) and stops at start"
        message += f"{releases_with(problem.looked_up, problem.scope, view)}."
        later = successor(problem.looked_up, problem.scope, view)
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
    if problem.kind is ProblemKind.TEXT_IN_CODE:
        message = f"{name} is a text, but in code {title} takes {problem.expected}, so it stops at start."
        literal = python_literal(problem.value)
        fix = f"Write {name}={literal}." if literal else "Give it the object itself: nothing reads the text."
        return replace(_rejects(view, "SC103", message, fix, problem), stage=Stage.CONFIG)
    if problem.kind is ProblemKind.EXCLUSIVE:
        message = f"{title} takes {name} or {problem.expected}, not both, and stops at start."
        return replace(
            _rejects(view, "SC103", message, "Remove the one that is not meant.", problem), stage=Stage.CONFIG
        )
    diagnosis = diagnose(problem.value) if problem.expected.startswith("JSON") else None
    if diagnosis is not None:
        message = f"{name} is given {problem.value!r}, which is no JSON: {diagnosis.why}; {title} stops at start."
        return _rejects(
            view, "SC103", message, written_as(name, diagnosis, dotted=_dotted(name, problem, view)), problem
        )
    message = f"{name} is given {problem.value!r}, but {title} takes {problem.expected}, so it stops at start."
    return _rejects(view, "SC103", message, f"Give {name} {problem.expected.partition(' (')[0]}.", problem)


def _dotted(name: str, problem: Problem, view: View) -> bool:
    """Whether the release takes the members of an object as words of their own."""
    option = view.names.get(problem.scope, {}).get(name.replace("_", "-"))
    return option is not None and bool(option.members) and "dotted" in view.scope(option.members).forms


def _left_out(problem: Problem, title: str, view: View) -> Finding:
    """An option of a spec that no launch of this release can hold; the engine never sees it."""
    name = problem.spelling
    if problem.kind is ProblemKind.UNKNOWN:
        lived = releases_with(name, problem.scope, view)
        code, message = "SC101", f"{title} has no option {name}, so it cannot be written{lived}."
        fix = instead(name, problem.scope, problem.near, view, lived=False)
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


def in_one_word(name: str) -> tuple[str, str] | None:
    """Flag and value where a word that is no option holds both, parted by blanks; None for any other word."""
    flag, *values = name.split(None, 1) or [""]
    return (flag, values[0].strip()) if values and flag.startswith("--") else None


def _unknown(
    name: str, scope: Scope, title: str, view: View, near: tuple[str, ...], where: Span | None, known_as: str = ""
) -> Finding:
    """An option that is not in a scope's list, by what is known of the list and what the engine does with such words."""
    lived = releases_with(known_as or name, scope.name, view)
    if scope.name.endswith("cli") and (two := in_one_word(name)) is not None:
        flag, value = two
        message = f"{title} takes {name!r} for the name of an option, as flag and value stand in one word, and stops at start."
        fix = f"Write two words, {flag} and {value}, or one with a sign: {flag}={value}."
        return _finding(view, "SC101", Severity.ERROR, Effect.REJECTS, message, fix=fix, option=name, where=where)
    does = {"drops": "drops it without a word", "passes_on": "passes it on unread"}.get(scope.unknown_member)
    fix = instead(name, scope.name, near, view, lived=bool(lived))
    if scope.completeness != "complete" or scope.unknown_member == "unknown":
        verdict = ("SC101", Severity.INFO, Effect.WARNS)
        message = f"Whether {title} has {name} is not checked: its options are known only in part{lived}."
        if not lived and fix == f"Remove {name}.":
            fix = ""  # nothing was found to be wrong with it
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
        fix=fix,
        option=name,
        where=where,
        stage=Stage.PARSE if scope.name.endswith("cli") else Stage.CONFIG,  # members are read after the command line
    )


def says_nothing(finding: Finding) -> bool:
    """Whether nothing is known of an option: it is not in a list that is known in part, and near to nothing in it."""
    return finding.code == "SC101" and finding.effect is Effect.WARNS and not finding.fix


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
    yield from _taken_for_another(setting, option, engine, view)
    if option.deprecated and setting.final.origin is not Origin.SPEC:
        yield _deprecated(setting, option, engine, view)
    value = setting.value
    if isinstance(value, Unresolved | Candidates):
        return
    if any(view.scope(row.scope).coerces for row in fitting) and option.type is not None and option.parser != AS_GIVEN:
        value = coerced(value, option.type)
    if _no_object(option, value, view):
        yield _text_for_object(setting, option, value, engine, view)
        return
    wrong = wrong_value(option, value)
    if wrong:
        shown = setting.final.spelling or option.key
        given = as_text(value) if option.type == "str" or not isinstance(value, str) else repr(value)
        message = f"{shown} is {given}, but {engine.title} {view.release} takes {wrong}, so it stops at start"
        lived = releases_with_choice(value, option, view)
        severity = Severity.ERROR if option.evidence.rank <= EvidenceKind.DOCS.rank else Severity.WARNING
        # Bounds are no part of what a parser checks: the configuration classes hold them.
        stage = Stage.CONFIG if "." in setting.path or out_of_bounds(option, value) else Stage.PARSE
        yield _finding(
            view,
            "SC103",
            severity,
            Effect.REJECTS,
            f"{message}{lived}.",
            fix=_near_choice(option, value) or _one_that_is(shown, wrong, given if lived else ""),
            option=setting.path,
            where=setting.final.where,
            stage=stage,
            evidence=option.evidence,
        )


_FEW = 3


def _one_that_is(shown: str, wrong: str, elsewhere: str) -> str:
    """What to set where no choice is near; `elsewhere` is a value that other releases take."""
    return f"Set {shown} to {wrong}{f', or choose a release that takes {elsewhere}' if elsewhere else ''}."


def _near_choice(option: Option, value: JsonValue) -> str:
    """The choices that a text comes close to, as a question; empty where there is none."""
    if option.choices is None or not isinstance(value, str):
        return ""
    choices = [choice for choice in option.choices if isinstance(choice, str)]
    near = near_names(value.strip("'\""), choices)
    if not near:
        part = [choice for choice in choices if value in choice.split("_")]
        near = tuple(part) if len(part) <= _FEW else ()
    return f"Did you mean {' or '.join(near)}?" if near else ""


def _no_object(option: Option, value: JsonValue, view: View) -> bool:
    """Whether a value stands for an object and is none: any other where the members are known, else a text of an object."""
    if option.kind != "object" or value is None or isinstance(value, dict):
        return False
    return bool(view.names.get(option.members)) or (isinstance(value, str) and value.lstrip().startswith("{"))


def _text_for_object(setting: Setting, option: Option, value: JsonValue, engine: Engine, view: View) -> Finding:
    """JSON that is no object: a text that holds one, quoted once too often, or a list, number or word."""
    shown = setting.final.spelling or option.key
    meant = (
        value if isinstance(value, str) else as_text(value[0]) if isinstance(value, list) and len(value) == 1 else ""
    )
    if isinstance(value, str):
        what, remedy = "a JSON text", "Remove the outer double quotes and the backslashes inside"
    elif isinstance(value, list):
        what, remedy = "a JSON list", "Remove the brackets"
    else:
        what, remedy = f"{as_text(value)}", "Write a JSON object"
    example = f": write {shown} '{meant}'" if meant.startswith("{") else ""
    return _finding(
        view,
        "SC103",
        Severity.ERROR,
        Effect.REJECTS,
        f"{shown} is {what}, but {engine.title} {view.release} takes a JSON object, so it stops at start.",
        fix=f"{remedy}{example}.",
        option=setting.path,
        where=setting.final.where,
        evidence=option.evidence,
    )


def _taken_for_another(setting: Setting, option: Option, engine: Engine, view: View) -> Iterator[Finding]:
    """A flag that other releases have, but that this one reads as the beginning of a different option."""
    spelling = setting.final.spelling
    if not spelling.startswith("--") or "." in spelling:
        return
    name = "--" + spelling.removeprefix("--").replace("_", "-")
    if name in (*option.names, *option.no_names) or name in view.names.get(option.scope, {}):
        return
    others = {row["path"] for _, row in named(name, option.scope, view)}
    if not others or setting.path in others:
        return
    full = next((n for n in (*option.names, *option.no_names) if n.startswith(name)), option.key)
    message = f"{engine.title} {view.release} has no {spelling} and reads it as short for {full}"
    yield _finding(
        view,
        "SC102",
        Severity.WARNING,
        Effect.IGNORES,
        f"{message}{releases_with(name, option.scope, view)}.",
        fix=f"Remove {spelling}, or write {full} if that is what is meant.",
        option=setting.path,
        where=setting.final.where,
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
