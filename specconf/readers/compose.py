"""Compose files: each service is a process. Its words, variables, inline configs and shared files are read here.

Read: `command` and `entrypoint` as lists and strings, `environment`, `env_file`, `configs`, bind mounts of files beside it,
`extends` in the same file, anchors, merges, and variables from `.env`. Not read: override files, `extends` of other files,
and what a `build` makes of its Dockerfile.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property

from specconf.readers import dotenv
from specconf.readers.filling import Filled, filled
from specconf.readers.fragments import Document, Fragment
from specconf.readers.interpolation import variables
from specconf.readers.mistakes import Mistake, MistakeKind
from specconf.readers.processes import Part, Process, named_in
from specconf.readers.source import Placed
from specconf.readers.yamltext import YamlNode, placed_documents
from specconf.secrets import is_secret_name
from specconf.words import Word

_DEEPEST_EXTENDS = 10


def fragments(document: Document) -> Iterator[Fragment]:
    """The processes of a compose file's services, in the order in which they are written."""
    for root in placed_documents(document.source):
        project = _Project(document, root)
        services = root.get("services")
        for name, node in services.items() if services is not None else ():
            if node.kind == "mapping":
                yield _Service(project, name.text or "", node).process().fragment()


class _Project:
    """What the services share: variables, configs and the files beside them."""

    def __init__(self, document: Document, root: YamlNode) -> None:
        self.document = document
        self.root = root

    @cached_property
    def dotenv(self) -> dict[str, str]:
        """The variables of the project's `.env`. The shell that starts the project may set others."""
        text = self.document.around(".env")
        return {} if text is None else dotenv.variables(text)

    def value_of(self, name: str) -> str | None:
        """A variable's value; a secret's is not put into any text."""
        return None if is_secret_name(name) else self.dotenv.get(name)

    def filled(self, node: YamlNode) -> Filled:
        """A scalar with its variables put in."""
        placed = node.placed()
        if "$" not in placed.text:
            return Filled(placed)
        return filled(placed, variables(placed.text, self.value_of))

    def word(self, node: YamlNode) -> Word:
        """A scalar as one word, any other node as one that is not known."""
        return self.filled(node).word(node.span) if node.text is not None else node.word()

    def text(self, node: YamlNode | None) -> str:
        """A scalar's text, empty where it is not known."""
        return (self.word(node).value or "") if node is not None else ""


class _Service:
    """One service, with what it takes from another one in the same file."""

    def __init__(self, project: _Project, name: str, node: YamlNode) -> None:
        self.project = project
        self.name = name
        self.layers = _layers(project.root, node)

    def get(self, key: str) -> YamlNode | None:
        """The value of a key in the nearest layer."""
        return next((found for layer in self.layers if (found := layer.get(key)) is not None), None)

    def process(self) -> Process:
        """The service's process."""
        entrypoint, arguments = self.get("entrypoint"), self.get("command")
        replaced = None if entrypoint is None or entrypoint.is_null else self._parts(entrypoint)
        given = self._parts(arguments)
        env, env_files = self._environment()
        texts = [text for node in (entrypoint, arguments) for text in self._texts(node)]
        image = self.get("image")
        return Process(
            entrypoint=replaced,
            arguments=given,
            image=self.project.word(image) if image is not None else None,
            env=env,
            env_files=env_files,
            files={**self._mounted(named_in([*(replaced or ()), *given])), **self._configs()},
            name=self.name,
            variable="",
            mistakes=tuple(_taken_from_outside(texts, {name for name, word in env if word.value})),
        )

    def _texts(self, node: YamlNode | None) -> list[Filled]:
        """The texts of a command, as they are written."""
        return [self.project.filled(scalar) for scalar in _each(node) if scalar.text is not None]

    def _parts(self, node: YamlNode | None) -> list[Part]:
        if node is None or node.is_null:
            return []
        if node.kind == "sequence":
            return [(self.project.word(item), _scalar(self.project, item)) for item in node]
        return list(self.project.filled(node).words()) if node.text is not None else [(node.word(), None)]

    def _environment(self) -> tuple[tuple[tuple[str, Word], ...], tuple[Word, ...]]:
        """The variables, those of files first, and the files that could not be read."""
        found: dict[str, Word] = {}
        unread: list[Word] = []
        for node in _each(self.get("env_file")):
            path = node.get("path") if node.kind == "mapping" else node
            word = self.project.word(path) if path is not None else node.word()
            text = self.project.document.around(word.value) if word.value else None
            if text is None:
                unread.append(word)
                continue
            values = dotenv.variables(text)
            found |= {name: Word(value, word.span, f"{name} of {word.text}") for name, value in values.items()}
        for layer in reversed(self.layers):
            found |= dict(self._written_environment(layer.get("environment")))
        return tuple(found.items()), tuple(unread)

    def _written_environment(self, node: YamlNode | None) -> Iterator[tuple[str, Word]]:
        for key, value in node.items() if node is not None else ():
            word = self.project.word(value)
            yield key.text or "", Word(word.value, word.span, word.raw or f"${key.text}")
        for item in node or ():
            word = self.project.word(item)
            name, sign, raw = word.text.partition("=")
            yield name, Word(raw if sign and word.value is not None else None, word.span, raw if sign else f"${name}")

    def _configs(self) -> dict[str, str | Placed]:
        """Texts that the file itself holds, or files beside it, by their path inside."""
        found: dict[str, str | Placed] = {}
        for node in _each(self.get("configs")):
            long = node.kind == "mapping"
            source = self.project.text(node.get("source") if long else node)
            target = self.project.text(node.get("target")) if long else ""
            config = self.project.root.get("configs", source)
            content, file = (config.get("content"), config.get("file")) if config is not None else (None, None)
            text: str | Placed | None = None
            if content is not None and content.text is not None:
                filled_in = self.project.filled(content)
                text = filled_in.text if filled_in.known else None
            elif file is not None:
                text = self.project.document.around(self.project.text(file)) if self.project.text(file) else None
            if text is not None:
                path = target or source
                found[path if path.startswith("/") else f"/{path}"] = text
        return found

    def _mounted(self, named: str) -> dict[str, str | Placed]:
        """Files beside the document that a bind mount brings in, as far as the words name them."""
        found: dict[str, str | Placed] = {}
        for host, inside in self._mounts():
            for path in sorted(set(re.findall(rf"{re.escape(inside)}[\w./-]*", named))):
                behind = path.removeprefix(inside)
                if behind and not (inside.endswith("/") or behind.startswith("/")):
                    continue
                text = self.project.document.around(
                    host + ("/" if behind and not behind.startswith("/") else "") + behind
                )
                if text is not None:
                    found[path] = text
        return found

    def _mounts(self) -> Iterator[tuple[str, str]]:
        for node in _each(self.get("volumes")):
            if node.kind == "mapping":
                host, inside = self.project.text(node.get("source")), self.project.text(node.get("target"))
            else:
                host, _, inside = self.project.text(node).partition(":")
                inside = inside.partition(":")[0]
            if host.startswith(".") and inside.startswith("/"):
                yield host.rstrip("/").removeprefix("./") or ".", inside


def _taken_from_outside(texts: Iterable[Filled], own: Collection[str]) -> Iterator[Mistake]:
    """Variables without a value or default in the project, though the service has one of that name for itself."""
    for text in texts:
        for at, char in enumerate(text.text.text) if text.marks else ():
            written = text.marks.get(char, "")
            if written.strip("${}") in own:
                where = text.text.outer.span_of(text.text.at[at], text.text.at[at] + len(written))
                yield Mistake(MistakeKind.OUTER, where, written, certain=False)


def _scalar(project: _Project, node: YamlNode) -> Filled | None:
    return project.filled(node) if node.text is not None else None


def _each(node: YamlNode | None) -> Sequence[YamlNode]:
    """The items of a list, or the one value written in its place."""
    if node is None or node.is_null:
        return ()
    return list(node) if node.kind == "sequence" else (node,)


def _layers(root: YamlNode, node: YamlNode) -> list[YamlNode]:
    """A service and those it extends in the same file."""
    found = [node]
    while len(found) <= _DEEPEST_EXTENDS:
        extends = found[-1].get("extends")
        if extends is None or extends.get("file") is not None:
            break
        name = (extends.get("service") or extends).text
        base = root.get("services", name) if name else None
        if base is None or base.kind != "mapping":
            break
        found.append(base)
    return found
