"""What a kustomization beside a manifest changes: images, and patches of a container's words, image and variables.

Read: `images`, and patches that stand in the kustomization or beside it, as JSON patches or as parts of an object. What an
overlay makes of the bases in other folders is read with the overlay (`overlays`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from specconf.errors import InputError
from specconf.patterns import pattern
from specconf.readers.cluster import Cluster, text_at
from specconf.readers.kubepods import Changes
from specconf.readers.yamltext import YamlNode, placed_documents
from specconf.words import Word


class Place(Struct, frozen=True):
    """A container in its object: the keys and indices down to it, and itself."""

    path: tuple[str, ...]
    node: YamlNode


_FIELD = pattern(r"/(?P<field>image|args|command|env)(?:/(?P<item>\d+|-))?\Z")


def changes_of(resource: YamlNode, place: Place, cluster: Cluster) -> Changes:
    """What kustomizations do to one container of a resource: that beside its file, then those that take it over."""
    found = Changes()
    for layer in cluster.layers:
        root = layer.kustomization
        if root is None:
            continue
        for patch in _patches(root, layer, resource):
            found = _operations(patch, place, found) if patch.kind == "sequence" else _merged(patch, place, found)
        found = replace(found, image=_image(root, found.image or _written(place.node.get("image"))) or found.image)
    return found


def _written(node: YamlNode | None) -> Word | None:
    return node.word() if node is not None else None


# -- images


def _image(root: YamlNode, written: Word | None) -> Word | None:
    """The image by the kustomization's names and tags; None where it leaves it as it is."""
    if written is None or written.value is None:
        return None
    name, digest, tag = _split(written.value)
    for item in root.get("images") or ():
        if text_at(item, "name") != name:
            continue
        new = {key: item.get(key) for key in ("newName", "newTag", "digest")}
        given = {key: node.text for key, node in new.items() if node is not None and node.text}
        changed = given.get("newName", name)
        if "digest" in given:
            changed += f"@{given['digest']}"
        elif "newTag" in given:
            changed += f":{given['newTag']}"
        else:
            changed += f"@{digest}" if digest else f":{tag}" if tag else ""
        where = next(
            (node.span for key in ("newTag", "digest", "newName") if (node := new[key]) is not None), item.span
        )
        return Word(changed, where, changed)
    return None


def _split(reference: str) -> tuple[str, str, str]:
    """An image's name, digest and tag."""
    name, _, digest = reference.partition("@")
    if ":" not in name.rpartition("/")[2]:
        return name, digest, ""
    name, _, tag = name.rpartition(":")
    return name, digest, tag


# -- patches


def _patches(root: YamlNode, cluster: Cluster, resource: YamlNode) -> Iterator[YamlNode]:
    """The patches that are meant for a resource, each as a list of operations or as a part of an object."""
    for key in ("patches", "patchesJson6902", "patchesStrategicMerge"):
        for item in root.get(key) or ():
            target = item.get("target")
            if target is not None and not _targets(target, resource):
                continue
            for patch in _texts(item, cluster):
                is_part = patch.kind == "mapping"
                if is_part and target is None and not _same(patch, resource):
                    continue
                if is_part or target is not None:
                    yield patch


def _texts(item: YamlNode, cluster: Cluster) -> list[YamlNode]:
    text = item.get("patch") if item.kind == "mapping" else item
    path = text_at(item, "path") if item.kind == "mapping" else None
    if path:
        return cluster.beside(path)
    if text is None or text.text is None:
        return []
    if item.kind == "scalar" and "\n" not in text.text:
        return cluster.beside(text.text)  # the older list holds names of files, too
    try:
        return placed_documents(text.placed().source())
    except InputError:
        return []  # told where the kustomization is built


def _targets(target: YamlNode, resource: YamlNode) -> bool:
    """Whether a patch's target selects a resource; names are patterns there. Labels are not looked at."""
    kind, name = text_at(target, "kind"), text_at(target, "name")
    own = text_at(resource, "metadata", "name") or ""
    return (kind is None or kind == text_at(resource, "kind")) and (name is None or _matches(name, own))


def _matches(pattern: str, name: str) -> bool:
    try:
        return re.fullmatch(pattern, name) is not None
    except re.error:
        return pattern == name


def _same(patch: YamlNode, resource: YamlNode) -> bool:
    return all(text_at(patch, *path) == text_at(resource, *path) for path in (("kind",), ("metadata", "name")))


def _operations(patch: YamlNode, place: Place, found: Changes) -> Changes:
    """A JSON patch. Operations on anything but a container's words, image and variables change nothing that is read."""
    for operation in patch:
        pointer, own = text_at(operation, "path") or "", "/" + "/".join(place.path)
        match = _FIELD.fullmatch(pointer.removeprefix(own)) if pointer.startswith(own) else None
        if match is None:
            continue
        value, verb = operation.get("value"), text_at(operation, "op")
        field, item = match["field"], match["item"]
        if field == "image":
            found = replace(found, image=_written(value)) if value is not None else found
        elif field == "env":
            added = () if value is None else tuple(value) if item is None else (value,)
            found = replace(found, env=(*found.env, *added))
        else:
            words = _words(field, place, found)
            changed = _changed(words, verb, item, value)
            found = replace(found, args=changed) if field == "args" else replace(found, command=changed)
    return found


def _words(field: str, place: Place, found: Changes) -> list[YamlNode]:
    earlier = found.args if field == "args" else found.command
    return list(earlier if earlier is not None else place.node.get(field) or ())


def _changed(words: list[YamlNode], verb: str | None, item: str | None, value: YamlNode | None) -> list[YamlNode]:
    if item is None:
        return list(value) if value is not None and verb != "remove" else []
    at = len(words) if item == "-" else int(item)
    if verb == "add" and value is not None and at <= len(words):
        return [*words[:at], value, *words[at:]]
    if at >= len(words) or verb not in ("replace", "remove"):
        return words
    return [*words[:at], *([value] if verb == "replace" and value is not None else []), *words[at + 1 :]]


def _merged(patch: YamlNode, place: Place, found: Changes) -> Changes:
    """A part of an object: a container of the same name takes what it says; lists of words are replaced."""
    node = _same_container(patch, place)
    if node is None:
        return found
    return replace(
        found,
        image=_written(node.get("image")) or found.image,
        args=list(args) if (args := node.get("args")) is not None else found.args,
        command=list(command) if (command := node.get("command")) is not None else found.command,
        env=(*found.env, *(node.get("env") or ())),
    )


def _same_container(patch: YamlNode, place: Place) -> YamlNode | None:
    """The container of a patch that is merged into one: by its key, or in a pod's list by its name."""
    if not place.path[-1].isdigit():
        return patch.get(*place.path)
    name = text_at(place.node, "name")
    return next((node for node in patch.get(*place.path[:-1]) or () if text_at(node, "name") == name), None)
