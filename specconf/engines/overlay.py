"""Laying `engines.<e>.options`, `cli` and `env` of a spec over what its fields were lowered to.

Keys are destination paths or flag names without dashes, either separator; true switches on, false writes `--no-x`, null
removes what the spec would have emitted. Setting what a field also sets is an error unless equal.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from specconf.compat.rows import Option
from specconf.engines.base import Engine, LowerContext
from specconf.engines.near import near_names
from specconf.engines.options import BadValue, as_text, by_loose_name, from_text, loose, members
from specconf.secrets import is_secret_name
from specconf.settings import Origin, Problem, ProblemKind, Written
from specconf.words import JsonValue


class _Entry(Struct, frozen=True):
    """One key of the spec's options resolved to a path; `option` is None for a member that the release does not list."""

    path: str
    value: JsonValue
    option: Option | None
    key: str


_OPTION_FILES = {"config", "cli.config"}


def lay_options(context: LowerContext, engine: Engine) -> None:
    """Write the spec's options, cli and env for this engine into the context."""
    section = dict(context.spec.engines.items()).get(engine.name)
    if section is None:
        return
    for part, scope in engine.option_scopes.items():
        given: Mapping[str, JsonValue] = getattr(section, part)
        prefix = f"engines.{engine.name}.{part}"
        for entry in _entries(context, engine, given, scope, prefix):
            if entry.path in _OPTION_FILES and entry.value is not None:
                _refuse_file(context, f"{prefix}.{entry.key}")
            elif is_secret_name(entry.path) and entry.value is not None:
                _refuse_secret(context, f"{prefix}.{entry.key}")
            elif entry.path == engine.model_path and entry.value is None:
                message = f"{prefix}.{entry.key} is null, but a launch needs its target model."
                context.problem("SC252", f"{prefix}.{entry.key}", message, fix=f"Remove {entry.key}.")
            else:
                _lay(context, entry, f"{prefix}.{entry.key}")
    for name, value in section.env.items():
        field = f"engines.{engine.name}.env.{name}"
        if is_secret_name(name):
            _refuse_secret(context, field)
            continue
        _lay(context, _Entry(f"env.{name}", value, None, name), field)


def _refuse_file(context: LowerContext, field: str) -> None:
    context.problem(
        "SC252",
        field,
        f"{field} names an option file, whose options specconf would neither see nor check.",
        fix="Write the options of that file here, one by one.",
    )


def _refuse_secret(context: LowerContext, field: str) -> None:
    """The value is not shown, and not written."""
    context.problem(
        "SC252",
        field,
        f"{field} holds a secret, which does not belong in a spec or in the launch written from it.",
        fix="Remove it, and set it in the environment of the server when it starts.",
    )


def _entries(
    context: LowerContext, engine: Engine, given: Mapping[str, JsonValue], scope: str, prefix: str
) -> Iterator[_Entry]:
    table = by_loose_name(context.view, scope)
    for key, value in given.items():
        resolved = _resolve(context, engine, table, key, value)
        if resolved is None:
            near = near_names(key, table)
            where, listed = context.span(f"{prefix}.{key}"), context.view.scope(scope).completeness == "complete"
            problem = Problem(ProblemKind.UNKNOWN, scope, key, near=near, where=where, left_out=listed)
            context.builder.problem(problem)
            if not listed:
                yield _Entry(_unlisted_path(prefix, key), value, None, key)
            continue
        yield from resolved


def _unlisted_path(prefix: str, key: str) -> str:
    """Where an option goes that our list does not hold, and may lack: by its key, apart where it is no plain option."""
    part = prefix.rpartition(".")[2]
    return key if part == "options" else f"{part}.{loose(key)}"


def _resolve(
    context: LowerContext, engine: Engine, table: Mapping[str, Option], key: str, value: JsonValue
) -> list[_Entry] | None:
    option = table.get(loose(key)) or (_abbreviated(table, loose(key)) if engine.abbreviations else None)
    if option is not None:
        return list(_option_entries(context, option, key, value))
    base, dot, rest = key.partition(".")
    parent = table.get(loose(base)) if dot else None
    if parent is None or parent.kind != "object":
        return None
    nested: JsonValue = value
    for step in reversed(rest.split(".")):
        nested = {step: nested}
    return list(_option_entries(context, parent, key, nested))


def _abbreviated(table: Mapping[str, Option], key: str) -> Option | None:
    """The one option whose flag begins with a key, as the engine's own parser would read it."""
    found = {
        option.path: option
        for option in table.values()
        if any(name.startswith("--") and loose(name).startswith(key) for name in option.names)
    }
    return next(iter(found.values())) if len(found) == 1 else None


def _option_entries(context: LowerContext, option: Option, key: str, value: JsonValue) -> Iterator[_Entry]:
    if option.kind == "object" and isinstance(value, dict):
        for member in members(option, _own_keys(context, option, value), context.view):
            row = context.view.option(member.path)
            yield _Entry(member.path, member.value, row, f"{key}.{member.key}" if member.path != option.path else key)
        return
    expected = "" if value is None else _wrong_form(option, key, value)
    if expected:
        where = context.span(f"engines.{context.view.engine}.options.{key}")
        problem = Problem(ProblemKind.INVALID, option.scope, key, as_text(value), expected, where=where, left_out=True)
        context.builder.problem(problem)
    elif option.kind == "switch" and isinstance(value, bool):
        yield _Entry(option.path, option.const if _switches_on(option, key, value) else not option.const, option, key)
    else:
        yield _Entry(option.path, _as_argv_reads_it(option, value), option, key)


def _own_keys(context: LowerContext, option: Option, value: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """An object's keys as the engine spells them: either separator means the same; unknown keys stay as they are."""
    names = context.view.names.get(option.members, {})
    by_form = {loose(name): name for name in names}
    result: dict[str, JsonValue] = {}
    for key, item in value.items():
        own = by_form.get(loose(key), key)
        member = names.get(own)
        nested = member is not None and member.kind == "object" and isinstance(item, dict)
        result[own] = _own_keys(context, member, item) if nested and member and isinstance(item, dict) else item
    return result


def _wrong_form(option: Option, key: str, value: JsonValue) -> str:
    """What a flag takes where the spec gives it a switch's value, or a switch a flag's; empty where the form fits."""
    if not option.key.startswith("-"):
        return ""
    if option.kind == "switch" and not isinstance(value, bool):
        return "true or false: it is a switch"
    if option.kind == "switch" and isinstance(value, bool):
        can = _switches_on(option, key, value) or bool(option.no_names)
        return "" if can else "true only: this release has no flag that switches it off"
    alone = option.kind == "optional" and value == option.const
    if isinstance(value, bool) and option.type not in {"bool", "json", None} and not alone:
        return "a value: it is not a switch"
    return ""


def _switches_on(option: Option, key: str, on: bool) -> bool:
    """Whether true or false under this key means the switch's own flag (`disable-x: true`, `no-disable-x: false`)."""
    named_off = loose(key) in {loose(name) for name in option.no_names} and loose(key) != option.path
    return on != named_off


def _as_argv_reads_it(option: Option, value: JsonValue) -> JsonValue:
    """A flag's scalar as the engine's parser types it: `64` and `"64"` are the same word on a command line."""
    if not option.key.startswith("-") or isinstance(value, bool | dict | None):
        return value
    if option.kind in {"list", "append"}:
        return [_word(option, item) for item in (value if isinstance(value, list) else [value])]
    return value if isinstance(value, list) else _word(option, value)


def _word(option: Option, value: JsonValue) -> JsonValue:
    try:
        return from_text(option, as_text(value))
    except BadValue:
        return value


def _lay(context: LowerContext, entry: _Entry, field: str) -> None:
    if entry.value is None:
        context.builder.remove(entry.path)
        return
    current = context.builder.current(entry.path)
    if current is not None and current.origin is Origin.SPEC:
        if _is_alias(context, current, entry.value):
            context.builder.write(entry.path, replace(current, value=entry.value))
        elif current.value != entry.value:
            context.problem(
                "SC252",
                field,
                f"{field} sets {entry.path} to {entry.value!r}, but {current.field} of the spec sets it to "
                f"{current.value!r}.",
                fix=f"Remove one of the two, or write {entry.key}: null to leave {entry.path} out.",
            )
        return
    overlapping = _part_or_whole(context, entry.path)
    if overlapping is not None:
        other, by = overlapping
        message = f"{field} sets {entry.path}, but {by} of the spec sets {other}, and one is a part of the other."
        context.problem("SC252", field, message, fix="Remove one of the two.")
        return
    written = Written(entry.value, Origin.OPTION, entry.key, field=field, where=context.span(field))
    context.builder.write(entry.path, written)


def _is_alias(context: LowerContext, current: Written, value: JsonValue) -> bool:
    """Whether an option only says the method that a field wrote in another of the engine's own words (`deepseek_mtp`)."""
    method = context.get("speculation.method")
    return current.field == "speculation.method" and context.view.same_method(method, current.value, value)


def _part_or_whole(context: LowerContext, path: str) -> tuple[str, str] | None:
    """A path set by a field of the spec that holds this one or lies inside it, with the field."""
    for other in context.builder.paths():
        current = context.builder.current(other)
        if current is None or current.origin is not Origin.SPEC:
            continue
        if other.startswith(f"{path}.") or path.startswith(f"{other}."):
            return other, current.field
    return None
