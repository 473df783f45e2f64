"""Settings → a launch: `vllm serve` (or the module before there was a command), as argv or with an option file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from specconf.compat.rows import Option
from specconf.compat.view import View
from specconf.engines.base import Artifact
from specconf.engines.emitting import EmitError, environment, flag_words, object_value, option_words, plain
from specconf.engines.options import as_text, compact_json, parent_object
from specconf.engines.vllm.behaviour import does
from specconf.errors import UsageError
from specconf.settings import Settings
from specconf.words import JsonValue

SCOPE = "vllm.cli"
CONFIG = "speculative_config"
MODEL = "model"
CONFIG_FILE = "vllm.yaml"
MODULE = ("python", "-m", "vllm.entrypoints.openai.api_server")


def emit(settings: Settings, view: View, form: str) -> Artifact:
    """A launch of these settings; `form` is `argv` or `engine-yaml`."""
    if form == "engine-yaml":
        argv, files = _with_file(settings, view)
    else:
        argv, files = [*program(settings, view), *_words(settings, view)], {}
    return Artifact(view.engine, view.release, tuple(argv), environment(settings), files)


def program(settings: Settings, view: View) -> list[str]:
    """The program with the model, as the release takes it."""
    if MODEL not in settings:
        raise EmitError("a launch of vLLM needs a model")
    model = as_text(plain(settings[MODEL], MODEL))
    if does(view, "serve_command"):
        return ["vllm", "serve", model]
    return [*MODULE, "--model", model]


def _words(settings: Settings, view: View) -> list[str]:
    """The options as words, each where it stands in the settings."""
    inside = [p for p in settings if p.startswith(f"{CONFIG}.")]
    if not inside or not does(view, "separate_flags") or parent_object(inside[0], view) is None:
        return flag_words(settings, view, SCOPE, skip=(MODEL,))
    paths = list(settings)
    before, after = paths[: paths.index(inside[0])], paths[paths.index(inside[0]) :]
    return [
        *flag_words(settings.without(after), view, SCOPE, skip=(MODEL,)),
        *_flags_or_literal(settings, inside, view),
        *flag_words(settings.without([*before, *inside]), view, SCOPE, skip=(MODEL,)),
    ]


def _flags_or_literal(settings: Settings, inside: list[str], view: View) -> list[str]:
    """0.8.2 alone: the flags of before where they say it all (they keep the engine that can run it), else its literal."""
    flags = [_flag(path, view) for path in inside]
    if all(flags):
        pairs = zip(flags, inside, strict=True)
        return [word for flag, path in pairs if flag for word in option_words(flag, plain(settings[path], path))]
    value = object_value(CONFIG, {path: settings[path] for path in inside}, view)
    text = compact_json(value)
    return ["--speculative-config", text if _is_literal(value) else repr(value)]


def _flag(path: str, view: View) -> Option | None:
    return next((o for o in view.by_path.get(path, ()) if o.scope == SCOPE and o.names), None)


def _is_literal(value: JsonValue) -> bool:
    """Whether JSON and a Python literal write the value alike."""
    if isinstance(value, dict):
        return all(_is_literal(item) for item in value.values())
    if isinstance(value, list):
        return all(_is_literal(item) for item in value)
    return value is not None and not isinstance(value, bool)


def _with_file(settings: Settings, view: View) -> tuple[list[str], dict[str, str]]:
    """`vllm serve MODEL --config vllm.yaml`, and the options that the file of this release cannot hold behind it."""
    if view.has("config") is not True:
        raise UsageError(
            f"vLLM {view.release} reads no option file.", hint="Use --format shell or argv, or vLLM 0.6.0 or newer."
        )
    options: dict[str, JsonValue] = {}
    left: list[str] = []
    for path in _roots(settings, view):
        entry = _entry(path, settings, view)
        if entry is None:
            left.append(path)
        else:
            options[entry[0]] = entry[1]
    kept = settings.without(p for p in settings if not any(p == root or p.startswith(f"{root}.") for root in left))
    if not options:  # the engine stops at an empty file
        return [*program(settings, view), *_words(kept, view)], {}
    import yaml

    text: str = yaml.safe_dump(options, sort_keys=False, allow_unicode=True, default_flow_style=False)
    return [*program(settings, view), "--config", CONFIG_FILE, *_words(kept, view)], {CONFIG_FILE: text}


def _roots(settings: Settings, view: View) -> Iterable[str]:
    """The options of the file, an object once for all its members; not the model, nor the environment."""
    seen: dict[str, None] = {}
    as_flags = does(view, "separate_flags") and all(_flag(p, view) for p in settings if p.startswith(f"{CONFIG}."))
    for path in settings:
        if path == MODEL or path.startswith("env."):
            continue
        parent = None if as_flags and path.startswith(f"{CONFIG}.") else parent_object(path, view)
        seen.setdefault(parent.path if parent is not None else path, None)
    return seen


def _entry(path: str, settings: Settings, view: View) -> tuple[str, JsonValue] | None:
    """Key and value of one option in the file, or None where this release's file cannot say it."""
    option = _flag(path, view)
    if option is None:
        raise EmitError(f"vLLM {view.release} has no spelling for {path}")
    key = option.key.lstrip("-")
    if option.kind == "object":
        return key, _object(option, settings, view)
    value = plain(settings[path], path)
    if option.kind == "switch":
        says = (value is True and does(view, "yaml_true")) or (value is False and does(view, "yaml_false"))
        return (key, value) if says and option.const is True else None
    if option.kind == "list":
        return (key, value) if does(view, "yaml_list") else None
    if option.kind not in {"value", "positional"} or value is None or isinstance(value, bool | list | dict):
        return None
    return key, value


def _object(option: Option, settings: Settings, view: View) -> JsonValue:
    inside: Mapping[str, JsonValue] = {
        path: plain(settings[path], path)
        for path in settings
        if path == option.path or path.startswith(f"{option.path}.")
    }
    whole = inside.get(option.path)
    if whole is not None and not isinstance(whole, dict):
        return json.dumps(whole)
    value = object_value(option.path, inside, view)
    if does(view, "yaml_nested"):
        return value
    return repr(value) if does(view, "separate_flags") and not _is_literal(value) else compact_json(value)
