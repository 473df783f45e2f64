"""Settings as a launch of SGLang: argv, or a `--config` file with what it cannot hold on the command line."""

from __future__ import annotations

from specconf.compat.rows import Option
from specconf.compat.view import View
from specconf.engines.base import Artifact
from specconf.engines.emitting import EmitError, environment, flag_words, plain
from specconf.engines.options import as_text
from specconf.engines.sglang.read import CONFIG, SCOPE
from specconf.errors import UsageError
from specconf.settings import Origin, Setting, Settings
from specconf.words import JsonValue

PROGRAM = ("python", "-m", "sglang.launch_server")
CONFIG_NAME = "sglang.yaml"


def emit(settings: Settings, view: View, form: str) -> Artifact:
    """The launch in one form: `argv` or `engine-yaml`."""
    in_order = ordered(settings)
    env = environment(in_order)
    if form == "argv":
        words = flag_words(in_order, view, SCOPE)
        return Artifact(view.engine, view.release, (*PROGRAM, *words), env, {})
    if form != "engine-yaml":
        raise EmitError(f"SGLang has no launch form {form!r}")
    if not view.has("config"):
        raise UsageError(
            f"SGLang {view.release} reads no option file.",
            hint="Use --format shell or argv, or SGLang 0.5.3rc2 or newer.",
        )
    return _with_file(in_order, view, env)


def ordered(settings: Settings) -> Settings:
    """The settings in the order in which a launch is written."""
    return Settings(settings.engine, dict(sorted(settings.items_by_path.items(), key=_place)))


def _place(item: tuple[str, Setting]) -> tuple[int, bool]:
    """The model, then fields in the order of the spec, speculation with its algorithm first, then options."""
    path, setting = item
    written = setting.final
    if path == "model_path":
        return 0, False
    if written.origin is Origin.OPTION:
        return 3, False
    speculates = written.field.startswith("speculation.")
    return (2, path != "speculative_algorithm") if speculates else (1, False)


def _with_file(settings: Settings, view: View, env: dict[str, str]) -> Artifact:
    from specconf.engines.sglang.yamlfile import dump

    held: dict[str, JsonValue] = {}
    for path in settings:
        option = _yaml_option(path, view)
        if option is not None:
            value = plain(settings[path], path)
            held[option.key.lstrip("-")] = value if _fits(value) else as_text(value)
    kept = {path for path in settings if _yaml_option(path, view) is not None}
    rest = flag_words(settings, view, SCOPE, skip=kept)
    argv = (*PROGRAM, CONFIG, CONFIG_NAME, *rest)
    return Artifact(view.engine, view.release, argv, env, {CONFIG_NAME: dump(held)})


def _yaml_option(path: str, view: View) -> Option | None:
    """The option that the file can hold: one value, several, or a plain switch; others are refused there."""
    rows = [o for o in view.by_path.get(path, ()) if o.scope == SCOPE and o.names and not o.deprecated]
    if not rows:
        return None
    option = rows[0]
    plain_switch = option.kind == "switch" and option.const is True and not option.no_names
    return option if option.kind in {"value"} or plain_switch else None


def _fits(value: JsonValue) -> bool:
    return isinstance(value, bool | int | float | str)
