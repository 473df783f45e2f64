"""Kubernetes manifests: every pod in them, wherever its kind keeps it, and the kinds that start engines by fields of their own.

A pod is found by what it is made of, so a kind that is not known here is read as long as it holds containers. Kinds whose
controllers write the command stand in one table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module

from msgspec import Struct
from msgspec.structs import replace

from specconf.readers.cluster import Cluster, config_texts, resources, text_at
from specconf.readers.fragments import Document, Fragment
from specconf.readers.kubepods import container, containers_of, volumes_of
from specconf.readers.kustomize import Place, changes_of
from specconf.readers.processes import Process
from specconf.readers.yamltext import YamlNode, placed_documents

ResourceReader = Callable[[YamlNode, Cluster], Iterator[Fragment] | None]

# Beginning of the apiVersion, kind → the reader of it; one that gives None leaves the object to its pods.
KINDS: dict[tuple[str, str], str] = {
    ("serving.kserve.io/", "LLMInferenceService"): "kserve:llm_inference_service",
    ("serving.kserve.io/", "InferenceService"): "kserve:inference_service",
    ("serving.kserve.io/", "ServingRuntime"): "kserve:serving_runtime",
    ("serving.kserve.io/", "ClusterServingRuntime"): "kserve:serving_runtime",
    ("kubeai.org/", "Model"): "operators:kubeai_model",
    ("kaito.sh/", "Workspace"): "operators:kaito",
    ("kaito.sh/", "InferenceSet"): "operators:kaito",
    ("ray.io/", "RayService"): "operators:ray_service",
    ("ray.io/", "RayJob"): "operators:ray_job",
    ("kustomize.config.k8s.io/", "Kustomization"): "overlays:overlay",
}

# One container under a name of its own: Dynamo's, OME's for the roles of an engine, and Argo's.
_SINGLE = ("mainContainer", "runner", "container")


def fragments(document: Document) -> Iterator[Fragment]:
    """The processes of a manifest, in the order in which they are written."""
    yield from in_roots(document, placed_documents(document.source))


def in_roots(document: Document, roots: list[YamlNode]) -> Iterator[Fragment]:
    """The processes of objects, which may be a part of another file."""
    yield from in_cluster(Cluster(document, roots))


def in_cluster(cluster: Cluster) -> Iterator[Fragment]:
    """The processes of the objects of one file."""
    config_maps = []
    for node in resources(cluster.roots):
        if text_at(node, "kind") == "ConfigMap":
            config_maps.append(node)
            continue
        own = _reader(node)
        found = own(node, cluster) if own is not None else None
        yield from _pods(node, node, cluster, _Around(name=_name(node))) if found is None else found
    for node in config_maps:
        if text_at(node, "metadata", "name") not in cluster.used:
            yield from _alone(node)


def _reader(node: YamlNode) -> ResourceReader | None:
    version, kind = text_at(node, "apiVersion") or "", text_at(node, "kind")
    reads = next(
        (reads for (group, known), reads in KINDS.items() if kind == known and version.startswith(group)), None
    )
    if reads is None:
        return None
    module, _, function = reads.partition(":")
    reader: ResourceReader = getattr(import_module(f"specconf.readers.{module}"), function)
    return reader


class _Around(Struct, frozen=True):
    """What stands around a pod: variables that hold for its containers, what the file calls it, and the keys down to it."""

    env: tuple[YamlNode, ...] = ()
    name: str = ""
    path: tuple[str, ...] = ()

    def below(self, key: str) -> _Around:
        """What stands around a part of it."""
        return replace(self, path=(*self.path, key))


def _pods(resource: YamlNode, node: YamlNode, cluster: Cluster, around: _Around) -> Iterator[Fragment]:
    """The processes of the pods at or below a node."""
    if node.kind == "sequence":
        for index, item in enumerate(node):
            yield from _pods(resource, item, cluster, around.below(str(index)))
        return
    held = node.get("containers")
    if held is not None and held.kind == "sequence":
        volumes = volumes_of(node, cluster)
        for listed, index, one in containers_of(node):
            changes = changes_of(resource, Place((*around.path, listed, str(index)), one), cluster)
            process = container(one, cluster, volumes, further_env=around.env, changes=changes)
            yield _named(process, around).fragment()
    inner = _inside(node, around)
    for key, value in node.items():
        if key.text in _SINGLE and any(value.get(own) is not None for own in ("image", "command", "args")):
            changes = changes_of(resource, Place((*around.path, key.text or ""), value), cluster)
            process = container(value, cluster, volumes_of(node, cluster), further_env=around.env, changes=changes)
            yield _named(process, around).fragment()
        elif key.text not in ("containers", "initContainers", "env", "envs"):
            below = inner.below(key.text or "")
            component = value.get("extraPodSpec") is not None
            yield from _pods(resource, value, cluster, replace(below, name=key.text or "") if component else below)


def _inside(node: YamlNode, around: _Around) -> _Around:
    variables = [found for key in ("envs", "env") if (found := node.get(key)) is not None]
    name = text_at(node, "name") if node.get("podTemplate") is not None else None
    return replace(around, env=(*around.env, *variables), name=name or around.name)


def _named(process: Process, around: _Around) -> Process:
    """Dynamo calls every container `main`, so the component's name tells more."""
    return replace(process, name=around.name) if process.name in ("", "main") else process


def _name(resource: YamlNode) -> str:
    return text_at(resource, "metadata", "name") or ""


def _alone(node: YamlNode) -> Iterator[Fragment]:
    """What a ConfigMap holds that no pod of the file mounts: its scripts, and KAITO's options."""
    from specconf.readers.operators import kaito_config

    for key, text in config_texts(node).items():
        if key.endswith((".sh", ".bash")) or text.text.startswith("#!"):
            yield Fragment(script=text, name=key)
        elif key == "inference_config.yaml":
            yield from kaito_config(text, _name(node))
