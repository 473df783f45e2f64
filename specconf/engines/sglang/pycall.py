"""SGLang in a program: `sglang.Engine(...)` takes what `ServerArgs` has, whose fields the options write."""

from __future__ import annotations

from specconf.compat.view import View
from specconf.engines.emitting import environment, plain
from specconf.engines.pycall import PyCall, refused
from specconf.engines.sglang.emit import ordered
from specconf.engines.sglang.read import CONFIG
from specconf.settings import Settings
from specconf.words import JsonValue


def call(settings: Settings, view: View) -> PyCall:
    """The call that makes an engine of these settings."""
    keywords: dict[str, JsonValue] = {}
    for path in ordered(settings):
        if path.startswith("env."):
            continue
        name = path.partition("@")[0]
        flag = f"--{name.replace('_', '-')}"
        if flag == CONFIG or not any(flag in option.names for option in view.by_path.get(path, ())):
            raise refused(view, "SGLang", path, "Engine")
        keywords[name] = plain(settings[path], path)
    return PyCall("sglang", "Engine", keywords, {}, environment(settings), must_shut=True)
