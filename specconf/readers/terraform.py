"""Terraform: the containers, manifests, chart values and scripts that resources and modules hold.

A resource becomes a tree as Terraform's own JSON syntax has it, which is searched for what starts processes; each kind of
content then has the reader of its own format. Plans, other files of a module and its variables' files are not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec.structs import replace

from specconf.errors import InputError
from specconf.patterns import pattern
from specconf.readers.cluster import Cluster
from specconf.readers.commandparts import environment, mappings_in, yaml_items
from specconf.readers.containers import image_of
from specconf.readers.filling import Filled
from specconf.readers.fragments import Document, Fragment
from specconf.readers.hcl import Reader, first_error, parsed
from specconf.readers.helm import in_roots as chart_values
from specconf.readers.innerfiles import in_file
from specconf.readers.kubepods import container
from specconf.readers.kubernetes import in_roots as manifests
from specconf.readers.processes import Process
from specconf.readers.programs import mentions_program
from specconf.readers.source import Placed, SourceText
from specconf.readers.values import Items, Pairs, Scalar, Text, Value, last_of_each, of_yaml
from specconf.readers.yamltext import YamlNode, placed_documents
from specconf.words import Word

_BLOCKS = frozenset({"resource", "module", "data"})
# Keys whose texts a shell runs: first starts of machines, and provisioners.
_SCRIPTS = frozenset(
    {"user_data", "user_data_base64", "custom_data", "startup_script", "startup-script", "metadata_startup_script", "user-data",
     "inline", "command"}
)  # fmt: skip
_FILE_NAMES = ("filename", "path", "dest", "destination")
_TEXTS = ("content", "content_base64")
# Resources whose containers are Docker's: `command` stands behind the entrypoint.
_DOCKER = pattern(r"docker_|aws_ecs_|aws_batch_")
_PROGRAM_KEYS = ("command", "args", "entrypoint", "entryPoint")


def fragments(document: Document) -> Iterator[Fragment]:
    """The processes that a file's resources start."""
    if document.path.endswith(".json"):
        yield from _json_file(document)
        return
    tree = parsed(document.source)
    problem = first_error(tree.root_node) if tree.root_node.has_error else None
    if problem is not None and mentions_program(document.text):
        where = document.source.span(problem)
        raise InputError("the Terraform syntax cannot be parsed here", where=replace(where, end_line=0, end_column=0))
    reader = Reader(document.source)
    for block in reader.blocks(tree.root_node):
        if block.kind in _BLOCKS:
            kind = block.labels[0] if block.kind != "module" and block.labels else block.kind
            name = block.labels[-1] if block.labels else ""
            yield from _Resource(document, reader, kind, name).fragments(block.body)


def _json_file(document: Document) -> Iterator[Fragment]:
    """Terraform's JSON syntax. Its variables are not known."""
    reader = Reader(document.source)
    for root in placed_documents(document.source):
        for block in ("resource", "module", "data"):
            held = root.get(block)
            for kind, named in held.items() if held is not None else ():
                bodies = named.items() if block != "module" else ((kind, named),)
                for name, body in bodies:
                    for one in body if body.kind == "sequence" else (body,):
                        resource = _Resource(document, reader, kind.text or "", name.text or "")
                        yield from resource.in_tree(one)


class _Resource:
    """One resource or module."""

    def __init__(self, document: Document, reader: Reader, kind: str, name: str) -> None:
        self.document, self.reader, self.kind, self.name = document, reader, kind, name

    def fragments(self, body: Pairs) -> Iterator[Fragment]:
        """The processes of a resource's body."""
        for root in self._tree(body):
            yield from self.in_tree(root)

    def in_tree(self, root: YamlNode) -> Iterator[Fragment]:
        """The same, of a body in JSON."""
        found: Iterator[Fragment]
        if self.kind == "helm_release" or (root.get("chart") is not None and root.get("values") is not None):
            found = chart_values(self.document, self._tree_of_values(root))
        elif (manifest := root.get("manifest")) is not None and manifest.kind == "mapping":
            found = manifests(self.document, [manifest])
        elif (text := root.get("yaml_body")) is not None and text.text is not None:
            found = in_file("manifest.yaml", text.placed(), self.document)
        else:
            found = self._searched(root)
        for fragment in found:
            holes = {**fragment.holes, **self.reader.template.holes}
            yield replace(fragment, holes=holes, name=fragment.name or self.name)

    def _tree(self, value: Value) -> list[YamlNode]:
        """A value as the nodes of its JSON, which know where each character stands."""
        parts = list(self.reader.json_parts(value, 0))
        text = "".join(piece for piece, _ in parts)
        at = [place for _, places in parts for place in places]
        return placed_documents(Placed(text, self.reader.source, at).source())

    # -- charts

    def _tree_of_values(self, root: YamlNode) -> list[YamlNode]:
        """The values of a chart: its texts one over the other, and over them what is set by name."""
        merged: Value = Pairs((), root.span, self.document.source.part(0, 0))
        held = root.get("values")
        for item in [held] if held is not None and held.kind == "scalar" else held or ():
            if item.text is not None and item.text.strip():
                for values in placed_documents(item.placed().source()):
                    merged = _over(merged, self._resolved(of_yaml(values)))
        for key in ("set", "set_sensitive", "set_list"):
            for item in root.get(key) or ():
                name, value = item.get("name"), item.get("value")
                if name is not None and name.text and value is not None:
                    merged = _over(merged, _set(re.split(r"(?<!\\)\.", name.text), self._resolved(of_yaml(value))))
        return self._tree(merged)

    def _resolved(self, value: Value) -> Value:
        """A value whose characters have their places in the file itself."""
        if isinstance(value, Text):
            return replace(value, placed=_in(self.reader.source, value.placed))
        if isinstance(value, Scalar):
            return replace(value, at=_in(self.reader.source, value.at))
        if isinstance(value, Items):
            return replace(value, items=tuple(self._resolved(item) for item in value.items))
        if isinstance(value, Pairs):
            pairs = tuple(
                (replace(k, placed=_in(self.reader.source, k.placed)), self._resolved(v)) for k, v in value.pairs
            )
            return replace(value, pairs=pairs, at=_in(self.reader.source, value.at))
        return value

    # -- everything else

    def _searched(self, root: YamlNode) -> Iterator[Fragment]:
        for mapping in mappings_in(root):
            if mapping.get("image") is not None and any(mapping.get(key) is not None for key in _PROGRAM_KEYS):
                yield self._container(mapping)
                continue
            yield from self._overridden(mapping)
            text = next((node for key in _TEXTS if (node := mapping.get(key)) is not None and node.text), None)
            name = next((node.text for key in _FILE_NAMES if (node := mapping.get(key)) is not None), None)
            for key, value in mapping.items():
                if text is not None and value.node is text.node and name:
                    yield from in_file(name, value.placed(), self.document)
                elif value.text is not None:
                    yield from self._of_text(key.text or "", value)
                elif key.text in _SCRIPTS and value.kind == "sequence":
                    lines = [item.placed() for item in value if item.text is not None]
                    yield from (Fragment(script=line, name=self.name) for line in lines if mentions_program(line.text))

    def _overridden(self, mapping: YamlNode) -> Iterator[Fragment]:
        """An engine's image whose words a provider keeps in a block of their own (`cmd` stands behind the entrypoint)."""
        image = mapping.get("image")
        word = image.word() if image is not None and image.text else None
        if word is None or image_of(word) is None:
            return
        for _, value in mapping.items():
            for held in value if value.kind == "sequence" else (value,):
                entrypoint, command = held.get("entrypoint"), held.get("cmd") or held.get("command")
                if command is not None and command.kind == "sequence":
                    replaced = _parts(entrypoint) if entrypoint is not None and not entrypoint.is_null else None
                    env = environment(mapping.get("env") or mapping.get("environment"))
                    yield Process(replaced, _parts(command), word, env, name=self.name).fragment()

    def _of_text(self, key: str, node: YamlNode) -> Iterator[Fragment]:
        """The processes of a text: definitions of containers, a machine's first start, a script."""
        written = (node.text or "").lstrip()
        if key in {"container_definitions", "container_properties"}:
            for root in placed_documents(node.placed().source()):
                yield from self._searched(root)
        elif written.startswith("#cloud-config"):
            yield from self._cloud_config(node.placed())
        elif written.startswith("#!") or key in _SCRIPTS:
            yield Fragment(script=node.placed(), name=self.name)

    def _cloud_config(self, text: Placed) -> Iterator[Fragment]:
        for root in placed_documents(text.source()):
            for item in (*(root.get("bootcmd") or ()), *(root.get("runcmd") or ())):
                if item.text is not None:
                    yield Fragment(script=item.placed(), name=self.name)
                elif item.kind == "sequence":
                    yield Process([(word, Filled(placed)) for word, placed in yaml_items(item)], []).fragment()
            for file in root.get("write_files") or ():
                path, content = file.get("path"), file.get("content")
                if path is not None and path.text and content is not None and content.text is not None:
                    yield from in_file(path.text, content.placed(), self.document)

    def _container(self, node: YamlNode) -> Fragment:
        docker = _DOCKER.match(self.kind) is not None or node.get("entryPoint") is not None
        if not docker and node.get("entrypoint") is None:
            return container(node, Cluster(self.document, []), {}, name=self.name).fragment()
        entrypoint = node.get("entrypoint") or node.get("entryPoint")
        image, name = node.get("image"), node.get("name")
        return Process(
            entrypoint=_parts(entrypoint) if entrypoint is not None and not entrypoint.is_null else None,
            arguments=_parts(node.get("command")),
            image=image.word() if image is not None else None,
            env=(*environment(node.get("environment")), *environment(node.get("env"))),
            name=(name.text or "") if name is not None else self.name,
        ).fragment()


def _parts(node: YamlNode | None) -> list[tuple[Word, Filled | None]]:
    return [(word, Filled(text)) for word, text in yaml_items(node)]


def _in(source: SourceText, placed: Placed) -> Placed:
    """A text with its places in the file, whatever texts it is a part of."""
    outer, at = placed.outer, placed.at
    while outer is not source and isinstance(outer.inside, Placed):
        inside = outer.inside
        last = len(inside.at) - 1
        at = [inside.at[min(index, last)] if last >= 0 else 0 for index in at]
        outer = inside.outer
    return Placed(placed.text, source, at)


def _over(below: Value, above: Value) -> Value:
    """Values over others, as Helm merges them: mappings by their keys, everything else is replaced."""
    if not isinstance(below, Pairs) or not isinstance(above, Pairs):
        return above
    pairs = list(below.pairs)
    for key, value in above.pairs:
        under = below.get(key.text)
        pairs.append((key, _over(under, value) if under is not None else value))
    return replace(below if below.pairs else above, pairs=last_of_each(pairs))


def _set(path: list[str], value: Value) -> Value:
    """A value below the keys of its name; items of lists (`args[0]`) are lists of one."""
    for name in reversed(path):
        key, bracket, _ = name.replace("\\.", ".").partition("[")
        near = _first_place(value)
        inner: Value = Items((value,), value.span) if bracket else value
        value = Pairs(((Text(Placed(key, near.outer, [near.at[0]] * len(key)), value.span), inner),), value.span, near)
    return value


def _first_place(value: Value) -> Placed:
    if isinstance(value, Text) and len(value.placed.at):
        return value.placed
    if isinstance(value, Scalar | Pairs) and len(value.at.at):
        return value.at
    if isinstance(value, Items) and value.items:
        return _first_place(value.items[0])
    return Placed(" ", SourceText("", value.span.path), [0])
