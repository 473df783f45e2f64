"""Compose: one service, its option file as an inline config, and a volume for weights.

The hub's token is a reference to a variable of whoever starts it. Every `$` is doubled, since Compose puts in variables.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from specconf.emit.container import CACHE, Container, container_of, must_have_platform, release_comment
from specconf.emit.request import Request, head
from specconf.emit.yamlfile import deploy_yaml, laid_over

Object = dict[str, Any]

_PLATFORMS = ("cuda", "rocm", "cpu")
_VOLUME = "model-cache"
_STARTUP_SECONDS = 3600  # weights of target and draft are downloaded, loaded and captured in graphs before it answers


def write(request: Request, *, alone: bool) -> Mapping[str, str]:
    """`compose.yaml`."""
    del alone
    container = container_of(request)
    must_have_platform(container, _PLATFORMS, "compose")
    project: Object = {"name": container.name, "services": {"server": _service(request, container)}}
    if container.files:
        contents = zip(_config_names(container), container.files.values(), strict=True)
        project["configs"] = {name: {"content": _escaped(text)} for name, text in contents}
    if not container.cache_is_folder:
        project["volumes"] = {_VOLUME: {"name": container.cache} if container.cache else {}}
    for document in request.overlay:
        project = laid_over(project, document)
    first = [*head(request.artifact, request.forced), *release_comment(request)]
    return {"compose.yaml": "\n".join(first) + "\n" + deploy_yaml(project)}


def _service(request: Request, container: Container) -> Object:
    replicas = request.fields.get("deployment.replicas")
    port = _escaped(str(container.port))
    one_port = replicas is None or replicas == 1
    environment = {name: _escaped(value) for name, value in container.env.items()}
    if (token := container.token) is not None:
        environment["HF_TOKEN"] = f"${{{variable_of(token)}:?the token of the hub}}"
    found: Object = {
        "image": container.image,
        "entrypoint": [_escaped(word) for word in container.program],
        "command": [_escaped(word) for word in container.arguments],
        "environment": environment,
        # Servers of one host cannot share its port: of several, each gets one of its own.
        "ports": [f"{port}:{port}" if one_port else port],
        "ipc": "host",  # ranks exchange tensors in shared memory, of which a container has 64 MB by itself
        "volumes": [f"{_folder(container) or _VOLUME}:{container.env.get('HF_HOME', CACHE)}"],
    }
    if container.files:
        pairs = zip(_config_names(container), container.files, strict=True)
        found["configs"] = [{"source": name, "target": path} for name, path in pairs]
    if container.platform == "rocm":
        found |= {"devices": ["/dev/kfd", "/dev/dri"], "group_add": ["video"]}
    deploy: Object = {} if replicas is None else {"replicas": replicas}
    if container.platform == "cuda":
        device = {"driver": "nvidia", "count": container.gpus, "capabilities": ["gpu"]}
        deploy["resources"] = {"reservations": {"devices": [device]}}
    if deploy:
        found["deploy"] = deploy
    found["healthcheck"] = _healthcheck(container)
    found |= {"restart": "unless-stopped", "stop_grace_period": "60s"}
    return found


def _healthcheck(container: Container) -> Object:
    """Python asks, which every engine's image has; curl is not in each."""
    serving = container.serving
    address = f"http://127.0.0.1:{container.port}{serving.health}"
    program = f"import urllib.request; urllib.request.urlopen('{address}', timeout={serving.answers_within})"
    return {
        "test": ["CMD", "python3", "-c", program],
        "interval": "30s",
        "timeout": f"{serving.answers_within + 5}s",
        "retries": 5,
        "start_period": f"{_STARTUP_SECONDS}s",
    }


def _config_names(container: Container) -> list[str]:
    return [f"options-{number}" if number else "options" for number, _ in enumerate(container.files)]


def _folder(container: Container) -> str | None:
    return _escaped(container.cache) if container.cache is not None and container.cache_is_folder else None


def variable_of(token: str) -> str:
    """The variable of the one who starts it that holds the token: the secret's name where it is one, else HF_TOKEN."""
    return token if token.isidentifier() and token.isupper() else "HF_TOKEN"


def _escaped(text: str) -> str:
    return text.replace("$", "$$")
