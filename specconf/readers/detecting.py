"""Which file is of which format: one row each, by its name and by words that only such a file holds. Nothing is parsed here.

Names are looked at first, since they cost nothing; a YAML file is told by its keys at the beginning of lines.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from specconf.readers.optionkeys import is_option_file

Detector = Callable[[str, str], bool]

_SHELL_NAMES = (".sh", ".bash", ".zsh", ".ksh", ".sbatch", ".slurm")
_SHEBANG = re.compile(r"#!.*\b(ba|z|k|da)?sh\b")


def _name(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2]


def _is_shell(path: str, text: str) -> bool:
    return path == "-" or path.endswith(_SHELL_NAMES) or _SHEBANG.match(text) is not None


def _is_argv_json(path: str, text: str) -> bool:
    return path.endswith(".json") or (path == "-" and text.lstrip().startswith("{"))


def is_yaml(path: str) -> bool:
    """Whether a file is YAML by its name."""
    return path.endswith((".yaml", ".yml"))


def _is_engine_yaml(path: str, text: str) -> bool:
    return is_yaml(path) and is_option_file(text)


_PYTHON_ENGINE = re.compile(r"\b(vllm|sglang|tensorrt_llm)\b|\btrtllm-serve\b|\bserve\.llm\b")
_PYTHON_NAMES = r"(LLM|Engine|\w*EngineArgs|ServerArgs|Runtime|LLMConfig)"
_PYTHON_START = re.compile(
    rf"\b{_PYTHON_NAMES}\s*\(|\bimport\b.*\b{_PYTHON_NAMES}\b|\b(serve|launch_server|api_server)\b"
    r"|vllm-openai|lmsysorg/sglang|tensorrt-llm/release"
)
_TEST_NAME = re.compile(r"(test_.*|.*_test|conftest)\.py\Z")


def _is_python(path: str, text: str) -> bool:
    """A program that speaks of an engine and of starting it; a test suite starts engines for itself only."""
    if not path.endswith(".py") and not text.startswith("#!"):
        return False
    if not path.endswith(".py") and "python" not in text.partition("\n")[0]:
        return False
    named = _TEST_NAME.match(_name(path)) is None
    return named and _PYTHON_ENGINE.search(text) is not None and _PYTHON_START.search(text) is not None


_RAY_KEYS = re.compile(r"^[ \t-]*(llm_configs?|model_loading_config)[ \t]*:", re.MULTILINE)


def _is_ray(path: str, text: str) -> bool:
    return is_yaml(path) and _RAY_KEYS.search(text) is not None and "model_loading_config" in text


# name, detector, module:function, whole (gives launches itself)
DETECTORS: tuple[tuple[str, Detector, str, bool], ...] = (
    ("argv-json", _is_argv_json, "artifacts:argv_json_launches", True),
    ("python", _is_python, "python:fragments", False),
    ("ray-serve", _is_ray, "ray:fragments", False),
    ("engine-yaml", _is_engine_yaml, "artifacts:option_file_launches", True),
    ("shell", _is_shell, "launches:script_launches", True),
)
