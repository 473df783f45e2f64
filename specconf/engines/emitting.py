"""Writing settings as argv words with the options of one release. The reverse of `specconf.engines.argv`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from specconf.compat.rows import Option
from specconf.compat.view import View
from specconf.engines.options import as_text, compact_json, parent_object, written_key
from specconf.errors import SpecconfError
from specconf.settings import Settings
from specconf.words import Candidates, JsonValue, Unresolved, Value

_FIRST_KEYS = ("method", "model", "num_speculative_tokens")


class EmitError(SpecconfError):
    """A setting that this release has no spelling for reached the emitter; lowering should have refused it."""

    exit_code = 4


def flag_words(settings: Settings, view: View, scope: str, *, skip: Iterable[str] = ()) -> list[str]:
    """Argv words for every setting but `skip` and the environment, in order; an object stands where its first member does."""
    result: list[str] = []
    done = set(skip)
    for path in settings:
        if path in done or path.startswith("env."):
            continue
        option = _cli_option(path, view, scope)
        if option is not None:
            result += option_words(option, plain(settings[path], path))
            done.add(path)
            continue
        parent = parent_object(path, view)
        if parent is None or parent.scope != scope:
            raise EmitError(f"{view.engine} {view.release} has no spelling for {path}")
        inside = {p: settings[p] for p in settings if p == parent.path or p.startswith(f"{parent.path}.")}
        done |= set(inside)
        result += [parent.key, compact_json(object_value(parent.path, inside, view))]
    return result


def _cli_option(path: str, view: View, scope: str) -> Option | None:
    """The flag of a path; a member of an object that this release takes whole is written in the object instead."""
    if parent_object(path, view) is not None:
        return None
    rows = [o for o in view.by_path.get(path, ()) if o.scope == scope and o.names]
    return rows[0] if rows else None


def option_words(option: Option, value: JsonValue) -> list[str]:
    """One option with its value as words."""
    if option.kind == "switch":
        return [_switch_word(option, value)]
    if option.kind == "list":
        return [option.key, *(as_text(item) for item in _items(value))]
    if option.kind == "append":
        return [word for item in _items(value) for word in (option.key, as_text(item))]
    if option.kind == "optional" and value == option.const:
        return [option.key]
    return [option.key, as_text(value)]


def _switch_word(option: Option, value: JsonValue) -> str:
    if value == option.const:
        return option.key
    if option.no_names and value is (not option.const):
        return option.no_names[0]
    raise EmitError(f"{option.key} is a switch and cannot be given the value {value!r}")


def _items(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else [value]


def object_value(parent: str, inside: Mapping[str, Value], view: View) -> dict[str, JsonValue]:
    """The members of an object as the mapping to write: method, model, K first, then by name; deeper objects nested."""
    result: dict[str, JsonValue] = {}
    for path, value in inside.items():
        if path == parent:
            whole = plain(value, path)
            if not isinstance(whole, dict):
                raise EmitError(f"{path} is both a value and an object")
            result.update(whole)
            continue
        place = result
        steps = path[len(parent) + 1 :].split(".")
        for depth, step in enumerate(steps[:-1], 1):
            key = written_key(".".join([parent, *steps[:depth]]), view) or step
            place = place.setdefault(key, {})  # type: ignore[assignment]
        place[written_key(path, view)] = plain(value, path)
    return sorted_keys(result)


def sorted_keys(value: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """Keys in the order that every emitted object uses."""
    return dict(sorted(value.items(), key=lambda item: (_rank(item[0]), item[0])))


def _rank(key: str) -> int:
    return _FIRST_KEYS.index(key) if key in _FIRST_KEYS else len(_FIRST_KEYS)


def plain(value: Value, path: str) -> JsonValue:
    """A value that can be written; candidates and unresolved words cannot."""
    if isinstance(value, Unresolved | Candidates):
        raise EmitError(f"{path} is not known: {value}")
    return value


def environment(settings: Settings) -> dict[str, str]:
    """The environment variables among the settings."""
    return {path[4:]: as_text(plain(settings[path], path)) for path in settings if path.startswith("env.")}
