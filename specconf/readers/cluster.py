"""What a manifest's pods are given by other objects: ConfigMaps of the same file, of files beside it, and of a kustomization.

A ConfigMap is its texts by key, each with its place. What is neither in the file nor under a name that people use for a
file beside it is not known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TypeAlias

from specconf.errors import InputError
from specconf.readers.fragments import Document
from specconf.readers.source import Placed, SourceText
from specconf.readers.yamltext import YamlNode, documents

ConfigMap: TypeAlias = "Mapping[str, Placed]"

KUSTOMIZATIONS = ("kustomization.yaml", "kustomization.yml", "Kustomization")
_BESIDE = ("{name}.yaml", "{name}.yml", "{name}-configmap.yaml", "configmap.yaml", "configmap.yml", "configmaps.yaml",
           "config.yaml", "cm.yaml")  # fmt: skip


def resources(roots: list[YamlNode]) -> Iterator[YamlNode]:
    """The objects of a file's documents; a list's items are objects of their own."""
    for root in roots:
        items = root.get("items") if (text_at(root, "kind") or "").endswith("List") else None
        if items is not None:
            yield from resources(list(items))
        elif root.kind == "sequence":
            yield from resources(list(root))
        elif root.kind == "mapping":
            yield root


def text_at(node: YamlNode | None, *path: str) -> str | None:
    """The text of the scalar at a path."""
    found = node.get(*path) if node is not None else None
    return found.text if found is not None else None


class Cluster:
    """The objects that a manifest's pods may refer to."""

    def __init__(self, document: Document, roots: list[YamlNode]) -> None:
        self.document = document
        self.roots = roots
        self.used: set[str] = set()  # ConfigMaps that something in the file refers to
        # Those whose kustomizations change its objects, the inner ones first.
        self.layers: list[Cluster] = [self]

    @cached_property
    def kustomization(self) -> YamlNode | None:
        """The kustomization beside the file."""
        return next((roots[0] for name in KUSTOMIZATIONS if (roots := self.beside(name))), None)

    def beside(self, name: str) -> list[YamlNode]:
        """The documents of a YAML file beside this one; none where there is none, or it cannot be read.

        A file that cannot be read is told where it is read itself.
        """
        text = self.document.around(name)
        if text is None:
            return []
        try:
            return documents(text, self.path_of(name))
        except InputError:
            return []

    def path_of(self, name: str) -> str:
        """The path of a file beside this one."""
        folder, slash, _ = self.document.path.rpartition("/")
        return folder + slash + name

    def objects(self, *kinds: str) -> Iterator[YamlNode]:
        """The objects of these kinds in the file."""
        return (node for node in resources(self.roots) if text_at(node, "kind") in kinds)

    def config_map(self, name: str | None) -> ConfigMap | None:
        """The texts of a ConfigMap; None where it is not at hand."""
        if not name:
            return None
        self.used.add(name)
        for node in resources(self.roots):
            if _is_config_map(node, name):
                return config_texts(node)
        return self._generated(name) or self._beside(name)

    def _beside(self, name: str) -> ConfigMap | None:
        if "/" in name:
            return None
        for pattern in _BESIDE:
            for node in resources(self.beside(pattern.format(name=name))):
                if _is_config_map(node, name):
                    return config_texts(node)
        return None

    def _generated(self, name: str) -> ConfigMap | None:
        """The files that a kustomization makes a ConfigMap of."""
        generators = self.kustomization.get("configMapGenerator") if self.kustomization is not None else None
        found: dict[str, Placed] = {}
        for generator in generators or ():
            if text_at(generator, "name") != name:
                continue
            for item in generator.get("files") or ():
                key, sign, path = (item.text or "").partition("=")
                path = path if sign else key
                text = self.document.around(path) if path else None
                if text is not None:
                    source = SourceText(text, self.path_of(path))
                    found[key if sign else path.rpartition("/")[2]] = source.part(0, len(text))
        return found or None


def _is_config_map(node: YamlNode, name: str) -> bool:
    return text_at(node, "kind") == "ConfigMap" and text_at(node, "metadata", "name") == name


def config_texts(node: YamlNode) -> ConfigMap:
    """The texts of a ConfigMap by key."""
    data = node.get("data")
    pairs = data.items() if data is not None else ()
    return {key.text: value.placed() for key, value in pairs if key.text and value.text is not None}
