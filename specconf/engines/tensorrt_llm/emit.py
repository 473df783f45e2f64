"""Settings as a launch: flags for what only a flag writes, everything else as keys of one YAML file."""

from __future__ import annotations

from collections.abc import Iterable

import yaml

from specconf.compat.rows import Option
from specconf.compat.view import View
from specconf.engines.base import Artifact
from specconf.engines.emitting import EmitError, environment, option_words, plain
from specconf.engines.options import as_text, parent_object, written_key
from specconf.engines.plainyaml import PlainDumper, plain_yaml
from specconf.engines.tensorrt_llm.read import CONFIG, SCOPE
from specconf.errors import InputError
from specconf.patterns import pattern
from specconf.settings import Settings
from specconf.words import JsonValue

FILE = "speculative.yaml"
_YAML = "trtllm.yaml"
_FLAGS = "cli."
_SPECULATION = "speculative_config"
_MODEL = "model"
_DRAFT = "speculative_config.speculative_model"
_NUMBER = pattern(r"-?(\d+\.?\d*|\.\d+)\Z")


def emit(settings: Settings, view: View, form: str) -> Artifact:
    """The artifact; both forms are the same launch, since the engine's own file is a part of it."""
    del form
    flags: list[str] = []
    tree: dict[str, JsonValue] = {}
    for path in settings:
        if path in {_MODEL, CONFIG} or path.startswith("env."):
            continue
        value, row = plain(settings[path], path), _row(path, view)
        if row is not None and row.scope == SCOPE:
            flags += _flag(row, value)
        elif row is None and path.startswith(_FLAGS):
            flags += _unlisted_flag(path, value)
        else:
            _put(tree, path, value, view)
    argv = ["trtllm-serve", *_model(settings), *flags, *_config(settings, view, tree)]
    files = {FILE: yaml_text(_ordered(tree, view))} if tree else {}
    return Artifact(view.engine, view.release, tuple(argv), environment(settings), files)


def option_tree(settings: Settings, view: View) -> dict[str, JsonValue]:
    """All settings as keys of the option file, ordered as it is; none of them may be a flag alone."""
    tree: dict[str, JsonValue] = {}
    for path in settings:
        if path != _MODEL and not path.startswith("env."):
            _put(tree, path, plain(settings[path], path), view)
    return _ordered(tree, view)


def _row(path: str, view: View) -> Option | None:
    """The spelling to write: a YAML key known to exist, else a flag known to, else one that may."""
    rows = [(option, option.ranges.holds(view.point)) for option in view.by_path.get(path, ())]
    for known in (True, None):
        for is_flag in (False, True):
            for option, held in rows:
                if held is known and (option.scope == SCOPE) is is_flag:
                    return option
    return None


def _flag(option: Option, value: JsonValue) -> list[str]:
    return _joined(option_words(option, value))


def _joined(words: list[str]) -> list[str]:
    """A value that starts with a dash is joined to its flag, or it would read as one."""
    if len(words) == 2 and words[1].startswith("-") and not _NUMBER.match(words[1]):
        return ["=".join(words)]
    return words


def _unlisted_flag(path: str, value: JsonValue) -> list[str]:
    """A flag that the list of the release does not hold, as its writer named it; true is a switch, a list repeats it."""
    name = f"--{path.removeprefix(_FLAGS)}"
    if value is True:
        return [name]
    if value is False:
        raise EmitError(f"{name} false has no spelling: trtllm-serve has no flags that switch off")
    items = value if isinstance(value, list) else [value]
    return [word for item in items for word in _joined([name, as_text(item)])]


def _model(settings: Settings) -> list[str]:
    return [str(plain(settings[_MODEL], _MODEL))] if _MODEL in settings else []


def _config(settings: Settings, view: View, tree: dict[str, JsonValue]) -> list[str]:
    own = settings.get(CONFIG)
    if own is not None and tree:
        raise InputError(
            f"the launch names a YAML file of its own ({own}), and trtllm-serve takes one file only.",
            hint=f"Write what {own} holds under engines.tensorrt-llm.options, and remove it from cli.",
        )
    if own is None and not tree:
        return []
    row = _row(CONFIG, view)
    assert row is not None, "every release has a flag for the YAML file"
    return [row.key, FILE if tree else str(plain(own, CONFIG))]


def _put(tree: dict[str, JsonValue], path: str, value: JsonValue, view: View) -> None:
    """Write a path into the tree, below the objects of this release that hold it."""
    parents: list[Option] = []
    above = parent_object(path, view)
    while above is not None:
        parents.insert(0, above)
        above = parent_object(above.path, view)
    place = tree
    for parent in parents:
        below = place.setdefault(parent.key, {})
        if not isinstance(below, dict):
            raise EmitError(f"{parent.path} is set to {below!r} and has members too")
        place = below
    key = written_key(path, view) if view.by_path.get(path) else path[len(parents[-1].path) + 1 :] if parents else path
    there = place.get(key)
    if isinstance(there, dict):
        if not isinstance(value, dict):
            raise EmitError(f"{path} is set to {value!r} and has members too")
        value = {**value, **there}
    place[key] = value


def _ordered(tree: dict[str, JsonValue], view: View) -> dict[str, JsonValue]:
    """Objects with their keys by name, in speculative_config after type, length and draft; other values as they are."""
    first = ("decoding_type", "max_draft_len", written_key(_DRAFT, view))
    result: dict[str, JsonValue] = {}
    for key, value in tree.items():
        known = isinstance(value, dict) and bool(view.names.get(f"{_YAML}.{key}"))
        result[key] = _sorted(value, first if key == _SPECULATION else ()) if known else value
    return result


def _sorted(value: JsonValue, first: Iterable[str]) -> JsonValue:
    assert isinstance(value, dict)
    ranks = {name: rank for rank, name in enumerate(first)}
    return dict(sorted(value.items(), key=lambda item: (ranks.get(item[0], len(ranks)), item[0])))


class _Dumper(PlainDumper):
    """Mappings of the option file, whose keys may be numbers."""


def _mapping(dumper: yaml.SafeDumper, value: dict[str, JsonValue]) -> yaml.MappingNode:
    """Keys that are whole numbers (the bounds of draft_len_schedule) are written as such."""
    keyed = {int(key) if key.isdecimal() and str(int(key)) == key else key: item for key, item in value.items()}
    return dumper.represent_mapping("tag:yaml.org,2002:map", keyed.items())


_Dumper.add_representer(dict, _mapping)


def yaml_text(data: dict[str, JsonValue]) -> str:
    """A mapping as YAML, keys in the order given."""
    return plain_yaml(data, _Dumper)
