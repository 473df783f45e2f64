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


# name, detector, module:function, whole (gives launches itself)
DETECTORS: tuple[tuple[str, Detector, str, bool], ...] = (
    ("argv-json", _is_argv_json, "artifacts:argv_json_launches", True),
    ("engine-yaml", _is_engine_yaml, "artifacts:option_file_launches", True),
    ("shell", _is_shell, "launches:script_launches", True),
)
