"""Pods: each container is a process, with its variables and the files that its volumes bring.

Words follow Kubernetes: `command` takes the place of the image's program, `args` stand behind it, `$(NAME)` in either is
put in from the container's own variables.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from posixpath import join

from msgspec import Struct
from msgspec.structs import replace

from specconf.patterns import pattern
from specconf.readers.cluster import Cluster, text_at
from specconf.readers.commandline import KUBERNETES
from specconf.readers.filling import Filled, Put, filled
from specconf.readers.processes import Part, Process
from specconf.readers.source import Placed
from specconf.readers.yamltext import YamlNode
from specconf.secrets import is_secret_name
from specconf.words import Word

# What `envsubst` and templates fill in. Kubernetes itself takes it as it is.
_PLACEHOLDER = pattern(r"\$\{[A-Za-z_]\w*\}|\{\{[^{}]*\}\}")

Variables = dict[str, Word]
Volumes = Mapping[str, Mapping[str, Placed]]


class Changes(Struct, frozen=True):
    """What stands beside a container's own text and changes it, by a kustomization. See `kustomize`."""

    image: Word | None = None
    command: Sequence[YamlNode] | None = None
    args: Sequence[YamlNode] | None = None
    env: Sequence[YamlNode] = ()


def containers_of(spec: YamlNode) -> Iterator[tuple[str, int, YamlNode]]:
    """The containers of a pod's spec, with the list that holds each and its index there."""
    for key in ("initContainers", "containers"):
        for index, node in enumerate(spec.get(key) or ()):
            if node.kind == "mapping":
                yield key, index, node


def container(
    node: YamlNode,
    cluster: Cluster,
    volumes: Volumes,
    *,
    further_env: Iterable[YamlNode | None] = (),
    changes: Changes | None = None,
    name: str = "",
) -> Process:
    """One container as a process."""
    changed = changes or Changes()
    env, env_files = environment((*further_env, node.get("env")), (node.get("envFrom"),), cluster, changed.env)
    command = changed.command if changed.command is not None else _items(node.get("command"))
    arguments = changed.args if changed.args is not None else _items(node.get("args"))
    image = node.get("image")
    # Without its quotes: of what is filled in only later, the name is read as it is written.
    written = Word(image.text, image.span, image.text or "") if image is not None else None
    shown = changed.image or written
    return Process(
        entrypoint=parts(command, env) if command else None,
        arguments=parts(arguments or (), env),
        image=rendered(shown) if shown is not None else None,
        env=tuple(env.items()),
        files=mounted(node, volumes),
        env_files=env_files,
        name=text_at(node, "name") or name,
        variable="$({})",
    )


def _items(node: YamlNode | None) -> list[YamlNode]:
    if node is None or node.is_null:
        return []
    return list(node) if node.kind == "sequence" else [node]


def parts(nodes: Iterable[YamlNode], env: Variables) -> list[Part]:
    """Words of a list, with the container's variables put in."""
    found = []
    for node in nodes:
        text = put_in(node, env)
        found.append((rendered(text.word(node.span) if text else node.word()), text))
    return found


def rendered(word: Word) -> Word:
    """A word as it stands once the manifest is rendered: `${NAME}` and `{{ … }}` are put in by somebody before that."""
    return replace(word, value=None) if word.value is not None and _PLACEHOLDER.search(word.value) else word


def put_in(node: YamlNode, env: Variables) -> Filled | None:
    """A scalar with `$(NAME)` put in; None for other nodes. A secret's value, and what the container is not given, stay out."""
    if node.text is None:
        return None
    placed = node.placed()
    if "$" not in placed.text:
        return Filled(placed)
    return filled(placed, _variables(placed.text, env))


def _variables(text: str, env: Variables) -> Iterator[Put]:
    for match in KUBERNETES.finditer(text):
        name = match["braced"]
        value = "$" if match["dollar"] else None
        if name and name in env and not is_secret_name(name):
            value = env[name].value
        yield Put(match.start(), match.end(), value)


def environment(
    lists: Iterable[YamlNode | None],
    sources: Iterable[YamlNode | None],
    cluster: Cluster,
    further: Iterable[YamlNode] = (),
) -> tuple[Variables, tuple[Word, ...]]:
    """The variables of a container, and the objects that may set others."""
    found: Variables = {}
    unread: list[Word] = []
    for source in (item for node in sources for item in (node or ())):
        prefix = text_at(source, "prefix") or ""
        name = text_at(source, "configMapRef", "name")
        texts = cluster.config_map(name)
        if texts is None:
            kind = "ConfigMap" if name else "Secret"
            word = Word(f"{kind} {name or text_at(source, 'secretRef', 'name') or ''}".strip(), source.span)
            unread.append(word)
        else:
            found |= {prefix + key: Word(text.text, text.span, text.text) for key, text in texts.items()}
    for item in (*(item for node in lists for item in (node or ())), *further):
        variable = text_at(item, "name")
        if variable:
            found[variable] = _value(item, found, cluster)
    return found, tuple(unread)


def _value(item: YamlNode, earlier: Variables, cluster: Cluster) -> Word:
    value, source = item.get("value"), item.get("valueFrom")
    if value is not None:
        text = put_in(value, earlier)
        return rendered(text.word(value.span)) if text else replace(value.word(), value="" if value.is_null else None)
    if source is None:
        return Word("", item.span)
    reference = source.get("configMapKeyRef")
    texts = cluster.config_map(text_at(reference, "name"))
    text_there = (texts or {}).get(text_at(reference, "key") or "")
    if text_there is not None:
        return Word(text_there.text, text_there.span, text_there.text)
    return Word(None, source.span, re.sub(r"\s+", " ", source.raw.strip()))


# -- files


def volumes_of(spec: YamlNode, cluster: Cluster) -> dict[str, dict[str, Placed]]:
    """The texts that a pod's volumes hold, by the volume's name and the path inside it."""
    found: dict[str, dict[str, Placed]] = {}
    for volume in spec.get("volumes") or ():
        projected = volume.get("projected", "sources")
        held: dict[str, Placed] = {}
        for source in (volume, *(projected or ())):
            held |= _config_files(source.get("configMap"), cluster)
        if held and (name := text_at(volume, "name")):
            found[name] = held
    return found


def _config_files(node: YamlNode | None, cluster: Cluster) -> dict[str, Placed]:
    if node is None:
        return {}
    texts = cluster.config_map(text_at(node, "name")) or {}
    items = node.get("items")
    if items is None:
        return dict(texts)
    pairs = [(text_at(item, "key") or "", text_at(item, "path") or "") for item in items]
    return {path: texts[key] for key, path in pairs if key in texts}


def mounted(node: YamlNode, volumes: Volumes) -> dict[str, str | Placed]:
    """The files that a container can open, by their path inside it."""
    found: dict[str, str | Placed] = {}
    for mount in node.get("volumeMounts") or ():
        path, part = text_at(mount, "mountPath"), text_at(mount, "subPath")
        for name, text in volumes.get(text_at(mount, "name") or "", {}).items() if path else ():
            if not part:
                found[join(path or "", name)] = text
            elif name == part:
                found[path or ""] = text
    return found
