"""vLLM in a program: `LLM(...)` takes what `EngineArgs` has. The server's own options, and AsyncEngineArgs', it has not."""

from __future__ import annotations

from specconf.compat.rows import Option
from specconf.compat.view import View
from specconf.engines.emitting import environment, object_value, plain
from specconf.engines.options import parent_object
from specconf.engines.pycall import PyCall, refused
from specconf.settings import Settings
from specconf.words import JsonValue

_FIELDS = "vllm/engine/arg_utils.py"  # where EngineArgs and its options are declared
_ASYNC_ONLY = frozenset({"disable_log_requests", "enable_log_requests", "engine_use_ray", "max_log_len"})


def call(settings: Settings, view: View) -> PyCall:
    """The call that makes an engine of these settings."""
    keywords: dict[str, JsonValue] = {}
    done: set[str] = set()
    for path in settings:
        if path in done or path.startswith("env."):
            continue
        parent = parent_object(path, view)
        if path != "model" and parent is not None:
            inside = {p: settings[p] for p in settings if p == parent.path or p.startswith(f"{parent.path}.")}
            done |= set(inside)
            keywords[_keyword(parent, view)] = object_value(parent.path, inside, view)
            continue
        value = plain(settings[path], path)
        option = next((o for o in view.by_path.get(path, ()) if o.names), None)
        if path == "model":
            keywords["model"] = value
        elif option is None or (option.kind == "switch" and option.const is not True):
            raise refused(view, "vLLM", path, "LLM")
        else:
            keywords[_keyword(option, view)] = value
    return PyCall("vllm", "LLM", keywords, {}, environment(settings))


def _keyword(option: Option, view: View) -> str:
    """The field of EngineArgs that a flag writes, which has the flag's name."""
    name = option.key.lstrip("-").replace("-", "_")
    if name in _ASYNC_ONLY or not _is_field(option.path, view):
        raise refused(view, "vLLM", option.path, "LLM")
    return name


def _is_field(path: str, view: View) -> bool:
    """Whether the rows of a path were read where EngineArgs is declared."""
    places = view.db.places()
    return any(_FIELDS in " ".join(places[row]) for row in view.db.rows_by_path.get(path, ()))
