"""Kustomize's overlays: the manifests of other folders that a kustomization takes, as it changes them.

Looked for in folders below and up to two above; what lies elsewhere, on hosts, or behind generators is not read. Launches that
an overlay leaves as they are, are told where they are written.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from msgspec.structs import replace

from specconf.errors import InputError
from specconf.readers.cluster import KUSTOMIZATIONS, Cluster
from specconf.readers.fragments import Document, Fragment
from specconf.readers.yamltext import YamlNode, documents

_DEEPEST = 4  # overlays of overlays
_MOST_FILES = 50
_LISTS = ("resources", "bases", "components")


def overlay(node: YamlNode, cluster: Cluster) -> Iterator[Fragment]:
    """The launches of a kustomization's bases that it changes."""
    from specconf.readers.kubernetes import in_cluster

    taken: set[str] = set()
    for inner in _bases(node, cluster, "", [], taken, 0):
        changed = list(in_cluster(inner))
        inner.layers = inner.layers[:-1]
        before = list(in_cluster(inner))
        for old, new in zip(before, changed, strict=False):
            if not _same(old, new):
                yield replace(new, name=f"{new.name} of {_folder(cluster)}".strip(), where=node.span)


def _bases(
    node: YamlNode, cluster: Cluster, folder: str, outer: list[Cluster], taken: set[str], depth: int
) -> Iterator[Cluster]:
    """The files of the folders that a kustomization names, each with the kustomizations that change it, the inner first."""
    for item in (item for key in _LISTS for item in node.get(key) or ()):
        name = item.text or ""
        if not name or "://" in name or name.startswith("/"):
            continue
        path = posixpath.normpath(posixpath.join(folder, name))
        if path.endswith((".yaml", ".yml")):
            yield from _file(path, cluster, outer, taken) if depth else ()
        elif depth < _DEEPEST:
            inner = _kustomization(path, (outer[-1] if outer else cluster).document)
            if inner is not None:
                found, beside = inner
                yield from _bases(found, beside, path, [cluster, *outer], taken, depth + 1)


def _file(path: str, own: Cluster, outer: list[Cluster], taken: set[str]) -> Iterator[Cluster]:
    root = outer[-1].document
    text = root.around(path)
    if text is None or path in taken or len(taken) >= _MOST_FILES:
        return
    taken.add(path)
    document = _document(root, path, text)
    try:
        found = Cluster(document, documents(text, document.path))
    except InputError:
        return  # told where the file is read itself
    found.layers = [own, *outer]
    yield found


def _kustomization(folder: str, document: Document) -> tuple[YamlNode, Cluster] | None:
    for name in KUSTOMIZATIONS:
        path = posixpath.join(folder, name)
        text = document.around(path)
        if text is None:
            continue
        beside = _document(document, path, text)
        try:
            roots = documents(text, beside.path)
        except InputError:
            return None  # told where the file is read itself
        return (roots[0], Cluster(beside, roots)) if roots else None
    return None


def _document(outer: Document, path: str, text: str) -> Document:
    """A file of another folder, with the files beside it."""
    folder = posixpath.dirname(path)
    place = posixpath.normpath(posixpath.join(posixpath.dirname(outer.path), path))
    return Document(place, text, lambda name: outer.around(posixpath.normpath(posixpath.join(folder, name))))


def _folder(cluster: Cluster) -> str:
    return posixpath.basename(posixpath.dirname(cluster.document.path)) or "."


def _same(old: Fragment, new: Fragment) -> bool:
    def told(fragment: Fragment) -> tuple[object, ...]:
        script = fragment.script.text if fragment.script is not None else None
        image = fragment.image.text if fragment.image is not None else None
        env = tuple((name, word.text) for name, word in fragment.env)
        return script, image, env, tuple(word.text for word in fragment.words)

    return told(old) == told(new)
