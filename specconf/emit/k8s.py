"""Kubernetes: a Deployment and a Service, and a ConfigMap where the engine reads an option file.

Only the name of a secret is written. The words of a container are a list without a shell, where Kubernetes puts in `$(NAME)`
alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from posixpath import basename
from typing import Any

from specconf.emit.container import CACHE, FILES, Container, container_of, must_have_platform, release_comment
from specconf.emit.request import Request, head
from specconf.emit.yamlfile import deploy_yaml, laid_over
from specconf.errors import UsageError

Object = dict[str, Any]

# Weights of target and draft are downloaded, loaded and captured in graphs before the server answers: an hour.
_STARTUP = {"periodSeconds": 10, "failureThreshold": 360}
_READINESS = {"periodSeconds": 10, "failureThreshold": 3}
# A busy server may be late for some answers in a row without being dead.
_LIVENESS = {"periodSeconds": 30, "failureThreshold": 5}
_DRAIN_SECONDS = 15  # until no Service sends requests to a pod that ends
_GRACE_SECONDS = 90
_SHARED_MEMORY = "8Gi"
_RESOURCES = {"cuda": "nvidia.com/gpu", "rocm": "amd.com/gpu", "cpu": ""}
_TOKEN_KEY = "token"  # noqa: S105 (the key of a secret, not one)


def write(request: Request, *, alone: bool) -> Mapping[str, str]:
    """`k8s.yaml` with every object."""
    del alone
    container = container_of(request)
    must_have_platform(container, _RESOURCES, "k8s")
    objects = [*_config_map(container), _deployment(request, container), _service(container)]
    if (namespace := request.text("deployment.namespace")) is not None:
        for one in objects:
            one["metadata"] = {"name": one["metadata"]["name"], "namespace": namespace, **one["metadata"]}
    objects = _with_overlay(objects, request)
    first = [*head(request.artifact, request.forced), *release_comment(request)]
    return {"k8s.yaml": "\n".join(first) + "\n" + "---\n".join(deploy_yaml(one) for one in objects)}


def _with_overlay(objects: list[Object], request: Request) -> list[Object]:
    """Each document of the overlay is laid over the object of its kind."""
    kinds = [one["kind"] for one in objects]
    for document in request.overlay:
        kind = document.get("kind")
        if kind not in kinds:
            raise UsageError(
                f"deployment.overlay has a document of the kind {kind}, and k8s writes {', '.join(kinds)}.",
                hint="Give each document the kind of the object that it is laid over.",
            )
        objects = [laid_over(one, document) if one["kind"] == kind else one for one in objects]
    return objects


def _labels(container: Container) -> Object:
    return {"app.kubernetes.io/name": container.name, "app.kubernetes.io/managed-by": "specconf"}


def _selector(container: Container) -> Object:
    return {"app.kubernetes.io/name": container.name}


def _files_name(container: Container) -> str:
    return f"{container.name}-options"


def _config_map(container: Container) -> Iterator[Object]:
    if container.files:
        yield {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": _files_name(container), "labels": _labels(container)},
            "data": {basename(path): text for path, text in container.files.items()},
        }


def _service(container: Container) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": container.name, "labels": _labels(container)},
        "spec": {
            "selector": _selector(container),
            "ports": [{"name": "http", "port": container.port, "targetPort": "http"}],
        },
    }


def _deployment(request: Request, container: Container) -> Object:
    replicas = request.fields.get("deployment.replicas")
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": container.name, "labels": _labels(container)},
        "spec": {
            "replicas": 1 if replicas is None else replicas,
            # A second pod beside the first would wait for the GPUs that the first one holds.
            "strategy": {"type": "Recreate"},
            "progressDeadlineSeconds": _STARTUP["periodSeconds"] * _STARTUP["failureThreshold"] + 600,
            "selector": {"matchLabels": _selector(container)},
            "template": {"metadata": {"labels": _labels(container)}, "spec": _pod(container)},
        },
    }


def _pod(container: Container) -> Object:
    volumes: list[Object] = [
        {"name": "shared-memory", "emptyDir": {"medium": "Memory", "sizeLimit": _SHARED_MEMORY}},
        {"name": "model-cache", **_cache(container)},
    ]
    if container.files:
        volumes.append({"name": "options", "configMap": {"name": _files_name(container)}})
    return {
        # Variables such as VLLM_PORT, which Kubernetes makes of a Service's name, are read by the engines.
        "enableServiceLinks": False,
        "terminationGracePeriodSeconds": _GRACE_SECONDS,
        "containers": [_container(container)],
        "volumes": volumes,
    }


def _cache(container: Container) -> Object:
    if container.cache is None:
        return {"emptyDir": {}}
    if not container.cache_is_folder:
        return {"persistentVolumeClaim": {"claimName": container.cache}}
    if not container.cache.startswith("/"):
        raise UsageError(
            f"deployment.model_cache is {container.cache}, and a node's folder needs its whole path in Kubernetes.",
            hint="Write the name of a volume claim, or a path that begins with /.",
        )
    return {"hostPath": {"path": container.cache, "type": "DirectoryOrCreate"}}


def _container(container: Container) -> Object:
    name = _RESOURCES[container.platform]
    found: Object = {
        "name": "server",
        "image": container.image,
        "command": [_escaped(word) for word in container.program],
        "args": [_escaped(word) for word in container.arguments],
        "env": list(_environment(container)),
        "ports": [{"name": "http", "containerPort": container.port}],
        "resources": {"limits": {name: container.gpus}},
        "startupProbe": _probe(container, _STARTUP),
        "readinessProbe": _probe(container, _READINESS),
        "livenessProbe": _probe(container, _LIVENESS),
        "lifecycle": {"preStop": {"exec": {"command": ["/bin/sleep", str(_DRAIN_SECONDS)]}}},
        "volumeMounts": list(_mounts(container)),
    }
    return {key: value for key, value in found.items() if key != "resources" or name}


def _probe(container: Container, rhythm: Mapping[str, int]) -> Object:
    serving = container.serving
    return {
        "httpGet": {"path": serving.health, "port": "http"},
        "timeoutSeconds": serving.answers_within,
        **rhythm,
    }


def _environment(container: Container) -> Iterator[Object]:
    for name, value in container.env.items():
        yield {"name": name, "value": _escaped(value)}
    if container.token is not None:
        reference = {"name": container.token, "key": _TOKEN_KEY}
        yield {"name": "HF_TOKEN", "valueFrom": {"secretKeyRef": reference}}


def _mounts(container: Container) -> Iterator[Object]:
    yield {"name": "shared-memory", "mountPath": "/dev/shm"}  # noqa: S108 (the place itself)
    yield {"name": "model-cache", "mountPath": container.env.get("HF_HOME", CACHE)}
    if container.files:
        yield {"name": "options", "mountPath": FILES, "readOnly": True}


def _escaped(word: str) -> str:
    """A word that stays as it is where Kubernetes puts in `$(NAME)` and reads `$$` as one sign."""
    return word.replace("$", "$$") if "$(" in word or "$$" in word else word
