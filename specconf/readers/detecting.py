"""Which file is of which format: one row each, by its name and by words that only such a file holds. Nothing is parsed here.

Names are looked at first, since they cost nothing; a YAML file is told by its keys at the beginning of lines.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from specconf.patterns import pattern
from specconf.readers.optionkeys import is_option_file

Detector = Callable[[str, str], bool]

_SHELL_NAMES = (".sh", ".bash", ".zsh", ".ksh", ".sbatch", ".slurm")
_SHEBANG = pattern(r"#!.*\b(ba|z|k|da)?sh\b")


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
_TEMPLATE = pattern(
    r"^[ \t]*\{\{-?[ \t]*(?:/\*|[.$]|(?:if|else|end|range|with|include|define|template|block|toYaml|tpl)\b)",
    re.MULTILINE,
)
_SERVICES = pattern(
    r"^services:[ \t]*(?:&\S+[ \t]*)?(?:\{|(?:#.*)?\n(?:[ \t]*(?:#.*)?\n)*[ \t]+[\"']?[\w.-]+[\"']?:)", re.MULTILINE
)
_SERVICE_KEYS = pattern(r"[ \t{,](?:image[\"']?:[ \t]+\S|(?:build|extends)[\"']?:\s|<<:)")


def _is_compose(path: str, text: str) -> bool:
    if not is_yaml(path) or "services:" not in text or _name(path).startswith("values") or _TEMPLATE.search(text):
        return False
    return _SERVICES.search(text) is not None and _SERVICE_KEYS.search(text) is not None


_API_VERSION = pattern(r"^(?:- |[ \t]*\{?[ \t]*\")?apiVersion[\"]?:", re.MULTILINE)
_KIND = pattern(r"^(?:- |  )?kind:|\"kind\":", re.MULTILINE)


def _is_kubernetes(path: str, text: str) -> bool:
    if not (is_yaml(path) or path.endswith(".json")) or "apiVersion" not in text:
        return False
    if not _API_VERSION.search(text) or not _KIND.search(text) or _TEMPLATE.search(text):
        return False
    return not ("{{" in text and "/templates/" in f"/{path}".replace("\\", "/"))


def _is_engine_yaml(path: str, text: str) -> bool:
    return is_yaml(path) and is_option_file(text)


_PYTHON_ENGINE = pattern(r"\b(vllm|sglang|tensorrt_llm)\b|\btrtllm-serve\b|\bserve\.llm\b")
_PYTHON_NAMES = r"(LLM|Engine|\w*EngineArgs|ServerArgs|Runtime|LLMConfig)"
_PYTHON_START = pattern(
    rf"\b{_PYTHON_NAMES}\s*\(|\bimport\b.*\b{_PYTHON_NAMES}\b|\b(serve|launch_server|api_server)\b"
    r"|vllm-openai|lmsysorg/sglang|tensorrt-llm/release"
)
_TEST_NAME = pattern(r"(test_.*|.*_test|conftest)\.py\Z")


def _is_python(path: str, text: str) -> bool:
    """A program that speaks of an engine and of starting it; a test suite starts engines for itself only."""
    if not path.endswith(".py") and not text.startswith("#!"):
        return False
    if not path.endswith(".py") and "python" not in text.partition("\n")[0]:
        return False
    named = _TEST_NAME.match(_name(path)) is None
    return named and _PYTHON_ENGINE.search(text) is not None and _PYTHON_START.search(text) is not None


_RAY_KEYS = pattern(r"^[ \t-]*(llm_configs?|model_loading_config)[ \t]*:", re.MULTILINE)


def _is_ray(path: str, text: str) -> bool:
    return is_yaml(path) and _RAY_KEYS.search(text) is not None and "model_loading_config" in text


# -- deploy formats

_DOCKER_NAME = pattern(r"(?:.+\.)?(?:Dockerfile|Containerfile)(?:[.-].+)?\Z|dockerfile\Z", re.IGNORECASE)


def _is_dockerfile(path: str, _text: str) -> bool:
    name = _name(path)
    other = (".md", ".sh", ".yaml", ".yml", ".dockerignore", ".j2", ".py")
    return _DOCKER_NAME.match(name) is not None and not name.endswith(other)


def _has_keys(text: str, *names: str) -> bool:
    """Whether a text holds all of these keys at the beginning of lines."""
    return all(text.startswith(f"{name}:") or f"\n{name}:" in text for name in names)


def _is_github(path: str, text: str) -> bool:
    if not is_yaml(path):
        return False
    folders = path.replace("\\", "/")
    action = _name(path) in {"action.yml", "action.yaml"} and _has_keys(text, "runs")
    return action or (_has_keys(text, "jobs") and (".github/workflows/" in folders or "runs-on:" in text))


def _is_gitlab(path: str, text: str) -> bool:
    name = _name(path)
    if not is_yaml(path):
        return False
    return ".gitlab-ci" in name or (_has_keys(text, "stages") and "script:" in text and "stage:" in text)


def _is_skypilot(path: str, text: str) -> bool:
    others = ("resources", "setup", "envs", "workdir", "file_mounts", "service", "num_nodes")
    return is_yaml(path) and _has_keys(text, "run") and any(_has_keys(text, name) for name in others)


_MODULE = pattern(
    r"^[ \t-]+(?:[\w.]{1,60}\.)?(?:shell|command|raw|docker_container|podman_container|docker_compose(?:_v2)?"
    r"|copy|blockinfile|k8s|helm):",
    re.MULTILINE,
)
_TASK = pattern(r"^(?:[ ]*)- (?:name|hosts|import_playbook|block|ansible\.[\w.]+):", re.MULTILINE)
_ANSIBLE_FOLDER = pattern(r"(?:^|/)(?:tasks|handlers|playbooks)/[^/]+\Z")


def _is_ansible(path: str, text: str) -> bool:
    """A list of plays or tasks: nothing but list items and comments begins at the margin."""
    if not is_yaml(path) or not _MODULE.search(text) or not _TASK.search(text):
        return False
    return _ANSIBLE_FOLDER.search(path) is not None or not _KEY_AT_MARGIN.search(text)


_KEY_AT_MARGIN = pattern(r"^[A-Za-z_][\w-]*:", re.MULTILINE)


def _is_llama_swap(path: str, text: str) -> bool:
    return is_yaml(path) and _has_keys(text, "models") and re.search(r"^[ \t]+cmd:", text, re.MULTILINE) is not None


def _is_gpustack(path: str, text: str) -> bool:
    if not is_yaml(path):
        return False
    backend = ("run_command:" in text or "default_run_command:" in text) and "image_name:" in text
    return backend or ("backend_parameters:" in text and "backend:" in text)


def _is_truss(path: str, text: str) -> bool:
    return is_yaml(path) and _has_keys(text, "docker_server") and "start_command:" in text


def _is_srt_slurm(path: str, text: str) -> bool:
    if not is_yaml(path) or "container:" not in text:
        return False
    configured = any(f"{engine}_config:" in text for engine in ("sglang", "vllm", "trtllm"))
    return ("backend:" in text and configured) or (_has_keys(text, "roles", "model") and "args:" in text)


_IMAGE_OF_CHART = pattern(r"^[ \t]*image:[ \t]*(?:#[^\n]*)?\n(?:[ \t][^\n]*\n){0,8}?[ \t]+repository:", re.MULTILINE)
_CHART_ARGUMENTS = pattern(
    r"^[ \t]*(?:args|extraArgs|extra_args|vllmArgs|engineArgs|serverArgs|additionalArgs|command):", re.M
)


_ENGINE_IMAGE = pattern(
    r"^[ \t-]*(?:image|repository):[ \t]*['\"]?[\w./-]*(?:vllm|sglang|tensorrt|trtllm)", re.M | re.I
)
_FLAGS_OF_CHART = pattern(r"^[ \t]*(?:[\w.-]+:[ \t]*(?:[>|][-+]?[ \t]*\n[ \t]*|\[[ \t]*)?|-[ \t]+)['\"]?--[a-z]", re.M)


def _is_helm_values(path: str, text: str) -> bool:
    if not is_yaml(path) or _has_keys(text, "apiVersion", "kind"):
        return False
    if _has_keys(text, "servingEngineSpec") or "\nservingEngineSpec:" in text:
        return True
    named = "values" in _name(path).lower() and "image:" in text
    if not (named or _IMAGE_OF_CHART.search(text) or _ENGINE_IMAGE.search(text)):
        return False
    return _CHART_ARGUMENTS.search(text) is not None or _FLAGS_OF_CHART.search(text) is not None


_HELM_NAME = pattern(r"\.(?:Values|Release|Chart)\b")


def _is_helm_template(path: str, text: str) -> bool:
    """What a chart renders; its values, and dashboards whose texts have braces of their own, are none."""
    if not path.endswith((".yaml", ".yml", ".tpl")) or "{{" not in text or "values" in _name(path):
        return False
    for line in text.split("\n"):
        before, action, inside = line.partition("{{")
        if action and "#" not in before and _HELM_NAME.search(inside):
            return True
    return False


def _is_makefile(path: str, _text: str) -> bool:
    name = _name(path)
    return name in {"Makefile", "makefile", "GNUmakefile"} or name.endswith(".mk") or name.startswith("Makefile.")


_UNIT = pattern(r"^\[(?:Service|Container)\]\s*$", re.MULTILINE)


def _is_systemd(path: str, text: str) -> bool:
    return path.endswith((".service", ".container", ".service.example", ".conf")) and _UNIT.search(text) is not None


def _is_batch(path: str, _text: str) -> bool:
    return path.lower().endswith((".bat", ".cmd"))


def _is_powershell(path: str, _text: str) -> bool:
    return path.lower().endswith((".ps1", ".psm1"))


def _is_markdown(path: str, _text: str) -> bool:
    return path.lower().endswith((".md", ".mdx", ".markdown"))


def _is_terraform(path: str, _text: str) -> bool:
    return path.endswith((".tf", ".tf.json"))


# Formats that are read only on request.
ON_REQUEST = frozenset({"markdown"})

# name, detector, module:function, whole (gives launches itself)
DETECTORS: tuple[tuple[str, Detector, str, bool], ...] = (
    ("terraform", _is_terraform, "terraform:fragments", False),
    ("kubernetes", _is_kubernetes, "kubernetes:fragments", False),
    ("compose", _is_compose, "compose:fragments", False),
    ("argv-json", _is_argv_json, "artifacts:argv_json_launches", True),
    ("dockerfile", _is_dockerfile, "dockerfile:fragments", False),
    ("makefile", _is_makefile, "makefile:fragments", False),
    ("systemd", _is_systemd, "systemd:fragments", False),
    ("batch", _is_batch, "batch:fragments", False),
    ("powershell", _is_powershell, "powershell:fragments", False),
    ("markdown", _is_markdown, "markdown:launches", True),
    ("github-workflow", _is_github, "workflows:github_fragments", False),
    ("gitlab-ci", _is_gitlab, "workflows:gitlab_fragments", False),
    ("helm-template", _is_helm_template, "helmtemplates:fragments", False),
    ("ansible", _is_ansible, "ansible:fragments", False),
    ("llama-swap", _is_llama_swap, "modelservers:llama_swap_fragments", False),
    ("gpustack", _is_gpustack, "modelservers:gpustack_fragments", False),
    ("truss", _is_truss, "modelservers:truss_fragments", False),
    ("srt-slurm", _is_srt_slurm, "modelservers:srt_slurm_fragments", False),
    ("skypilot", _is_skypilot, "skypilot:fragments", False),
    ("helm-values", _is_helm_values, "helm:fragments", False),
    ("python", _is_python, "python:fragments", False),
    ("ray-serve", _is_ray, "ray:fragments", False),
    ("engine-yaml", _is_engine_yaml, "artifacts:option_file_launches", True),
    ("shell", _is_shell, "launches:script_launches", True),
)
