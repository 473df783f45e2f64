"""TensorRT-LLM in a program: `LLM(...)` takes the keys of the option file. Flags that are no such key belong to the server."""

from __future__ import annotations

from specconf.compat.view import View
from specconf.engines.emitting import environment, plain
from specconf.engines.pycall import PyCall, PyObject, refused
from specconf.engines.tensorrt_llm.emit import option_tree
from specconf.settings import Settings
from specconf.words import JsonValue

_SPECULATION = "speculative_config"
_TYPE = "decoding_type"
# The beginning of the class's name, where it is not the word that an option file has.
_CLASSES = {
    "Draft_Target": "DraftTarget",
    "AUTO": "Auto",
    "User_Provided": "UserProvided",
    "SaveState": "SaveHiddenStates",
}


def call(settings: Settings, view: View) -> PyCall:
    """The call that makes an engine of these settings."""
    for path in settings:
        if path.startswith("cli."):
            raise refused(view, "TensorRT-LLM", path, "LLM")
    keywords: dict[str, JsonValue | PyObject] = {"model": plain(settings["model"], "model")}
    keywords |= option_tree(settings, view)
    beside: dict[str, str] = {}
    speculation = keywords.get(_SPECULATION)
    if isinstance(speculation, dict):
        word = str(speculation.get(_TYPE))
        name = f"{_CLASSES.get(word, word)}DecodingConfig"
        inside = {key: value for key, value in speculation.items() if key != _TYPE}
        keywords[_SPECULATION] = PyObject(name, inside)
        beside[name] = "tensorrt_llm.llmapi"
    return PyCall("tensorrt_llm", "LLM", keywords, beside, environment(settings))
