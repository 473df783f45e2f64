"""What a launch is called where line numbers must not count: in baselines and in the fingerprints of reports."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from specconf.readers.found import ReadLaunch

_MODEL_OPTIONS = ("--model", "--model-path", "--model_path")
_SERVING = ("serve", "trtllm-serve")


def launch_keys(launches: Iterable[ReadLaunch]) -> list[str]:
    """A name for each launch of a file, in their order: engine, what the file calls it, model, and a number among equals."""
    seen: Counter[str] = Counter()
    keys = []
    for launch in launches:
        parts = (launch.launch.engine, launch.name, _model(launch))
        name = " ".join(part for part in parts if part)
        seen[name] += 1
        keys.append(name if seen[name] == 1 else f"{name} #{seen[name]}")
    return keys


def _model(launch: ReadLaunch) -> str:
    """The model as written; empty where the words do not show it."""
    texts = [word.text for word in launch.launch.argv]
    for i, text in enumerate(texts):
        option, sign, value = text.partition("=")
        if option in _MODEL_OPTIONS:
            return value if sign else next(iter(texts[i + 1 : i + 2]), "")
    for i, text in enumerate(texts):
        following = next(iter(texts[i + 1 : i + 2]), "-")
        if text.rpartition("/")[2] in _SERVING and following != "serve":
            return "" if following.startswith("-") else following
    return ""
