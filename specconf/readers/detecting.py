"""Which file is of which format: one row each, by its name and by words that only such a file holds. Nothing is parsed here.

Names are looked at first, since they cost nothing; a YAML file is told by its keys at the beginning of lines.
"""

from __future__ import annotations

import re
from collections.abc import Callable

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


# Lines that only a chart's template has: before it is rendered it is no YAML. A model's chat template looks otherwise.
_TEMPLATE = re.compile(
    r"^[ \t]*\{\{-?[ \t]*(?:/\*|[.$]|(?:if|else|end|range|with|include|define|template|block|toYaml|tpl)\b)",
    re.MULTILINE,
)
_SERVICES = re.compile(
    r"^services:[ \t]*(?:&\S+[ \t]*)?(?:\{|(?:#.*)?\n(?:[ \t]*(?:#.*)?\n)*[ \t]+[\"']?[\w.-]+[\"']?:)", re.MULTILINE
)
_SERVICE_KEYS = re.compile(r"[ \t{,](?:image[\"']?:[ \t]+\S|(?:build|extends)[\"']?:\s|<<:)")


def _is_compose(path: str, text: str) -> bool:
    if not is_yaml(path) or "services:" not in text or _name(path).startswith("values") or _TEMPLATE.search(text):
        return False
    return _SERVICES.search(text) is not None and _SERVICE_KEYS.search(text) is not None


_API_VERSION = re.compile(r"^(?:- |[ \t]*\{?[ \t]*\")?apiVersion[\"]?:", re.MULTILINE)
_KIND = re.compile(r"^(?:- |  )?kind:|\"kind\":", re.MULTILINE)


def _is_kubernetes(path: str, text: str) -> bool:
    if not (is_yaml(path) or path.endswith(".json")) or "apiVersion" not in text:
        return False
    if not _API_VERSION.search(text) or not _KIND.search(text) or _TEMPLATE.search(text):
        return False
    return not ("{{" in text and "/templates/" in f"/{path}".replace("\\", "/"))


def _is_engine_yaml(path: str, _text: str) -> bool:
    return is_yaml(path)


# name, detector, module:function, whole (gives launches itself)
DETECTORS: tuple[tuple[str, Detector, str, bool], ...] = (
    ("kubernetes", _is_kubernetes, "kubernetes:fragments", False),
    ("compose", _is_compose, "compose:fragments", False),
    ("argv-json", _is_argv_json, "artifacts:argv_json_launches", True),
    ("engine-yaml", _is_engine_yaml, "artifacts:option_file_launches", True),
    ("shell", _is_shell, "launches:script_launches", True),
)
