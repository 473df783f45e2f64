"""Ansible: the commands and containers of tasks. Variables that the same file sets are put in, all others are not known."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec.structs import replace

from specconf.patterns import pattern
from specconf.readers.commandparts import (
    Item,
    environment,
    mappings_in,
    one_line,
    plain_text,
    split_items,
    yaml_items,
)
from specconf.readers.filling import Filled
from specconf.readers.fragments import Document, Fragment
from specconf.readers.helm import in_roots as chart_values
from specconf.readers.innerfiles import in_file
from specconf.readers.kubernetes import in_roots as manifests
from specconf.readers.processes import Process
from specconf.readers.source import Placed, SourceText
from specconf.readers.templates import OUTER_HOLES, Template, holes_in
from specconf.readers.yamltext import YamlNode, placed_documents
from specconf.words import Word

# What nothing closes is looked for no further than this: a text full of openings would take forever.
_BLOCK = r"\{%-?\s*(?:if|for)\b.{0,2000}?\{%-?\s*end(?:if|for)\s*-?%\}"
_PART = pattern(
    r"\{\{\s*(?P<name>[A-Za-z_][\w.]*)\s*(?P<filters>\|.{0,500}?)?\s*\}\}|"
    + _BLOCK
    + r"|\{\{.{0,500}?\}\}|\{%.{0,500}?%\}|\{#.{0,500}?#\}",
    re.DOTALL,
)
_DEFAULT = pattern(
    r"\|\s*(?:default|d)\(\s*(?:'(?P<single>[^']*)'|\"(?P<double>[^\"]*)\"|[\w.]+)\s*(?:,\s*true\s*)?\)\s*\Z",
    re.IGNORECASE,
)
_KEPT = pattern(r"\|\s*(?:string|trim|int)\s*\Z")
_SHELLS = frozenset({"shell", "raw"})
_COMMANDS = frozenset({"command", "win_command"})
_CONTAINERS = frozenset({"docker_container", "podman_container"})
_COMPOSE = frozenset({"docker_compose", "docker_compose_v2"})
# Modules that write a text to a file of the host: the keys of the text, and those of the file.
_FILES = frozenset({"copy", "blockinfile", "template"})
_TEXTS, _NAMES = ("content", "block"), ("dest", "path", "destfile")
_MANIFESTS = {"k8s": ("definition", "resource_definition"), "helm": ("values", "release_values")}
_FREE_ARGUMENT = pattern(r"(?:\s*(?:chdir|creates|removes|executable)=\S+)+\s*")


def fragments(document: Document) -> Iterator[Fragment]:
    """The tasks of a playbook or of a role's file that start a process."""
    values: dict[str, str | None] = {}
    roots = placed_documents(document.source)
    for root in roots:
        _collect(root, values)
    template = Template(_PART, lambda match: _value(match, values), first=OUTER_HOLES)
    for root in roots:
        for task in mappings_in(root):
            name = task.get("name")
            for key, arguments in task.items():
                module = (key.text or "").rpartition(".")[2]
                if module in _FILES or module in _MANIFESTS:
                    yield from _held(module, arguments, template, document)
                else:
                    yield from _task(module, task, arguments, template, (name.text or "") if name is not None else "")


def _collect(root: YamlNode, values: dict[str, str | None]) -> None:
    """The variables that the file sets; one that it sets to two values is not known."""
    for mapping in mappings_in(root):
        for key, held in mapping.items():
            if (key.text or "").rpartition(".")[2] not in {"vars", "set_fact"}:
                continue
            for name, node in held.items():
                value = plain_text(node.plain()) if node.kind == "scalar" else None
                if name.text:
                    values[name.text] = value if values.get(name.text, value) == value else None


def _value(match: re.Match[str], values: dict[str, str | None]) -> str | None:
    name, filters = match["name"], match["filters"]
    if not name:
        return None
    value = values.get(name)
    if not filters:
        return value
    default = _DEFAULT.match(filters)
    if default is not None:
        # A variable that another file may set: its default is what is meant to run.
        found = default["single"] if default["single"] is not None else default["double"]
        return (value if name in values else found) if found is not None or name in values else None
    return value if _KEPT.match(filters) else None


def _task(module: str, task: YamlNode, arguments: YamlNode, template: Template, name: str) -> Iterator[Fragment]:
    env = environment(task.get("environment"), template)
    if module in _SHELLS or module in _COMMANDS:
        command = arguments if arguments.kind == "scalar" else (arguments.get("cmd") or arguments.get("argv"))
        if command is None or (command.kind == "scalar" and command.text is None):
            return
        if module in _SHELLS and command.kind == "scalar":
            text = command.placed()
            yield Fragment(script=template.text(text), env=env, name=name, holes=template.holes)
        else:
            yield _process(_items(command, template), [], None, env, name, template)
    elif module in _CONTAINERS and arguments.kind == "mapping":
        image, entrypoint = arguments.get("image"), arguments.get("entrypoint")
        word = template.word(image.placed(), image.raw.strip()) if image is not None and image.text else None
        env = environment(arguments.get("env"), template)
        replaced = _items(entrypoint, template) if entrypoint is not None else None
        yield _process(replaced, _items(arguments.get("command"), template), word, env, name, template)
    elif module in _COMPOSE and arguments.kind == "mapping":
        services = arguments.get("definition", "services")
        for service, node in services.items() if services is not None else ():
            env = environment(node.get("environment"), template)
            image = node.get("image")
            word = template.word(image.placed(), image.raw.strip()) if image is not None and image.text else None
            entrypoint = node.get("entrypoint")
            replaced = _items(entrypoint, template) if entrypoint is not None else None
            yield _process(replaced, _items(node.get("command"), template), word, env, service.text or "", template)


def _held(module: str, arguments: YamlNode, template: Template, document: Document) -> Iterator[Fragment]:
    """The processes of a file that a task writes, of the objects that it makes, and of the values it gives to a chart."""
    if module in _FILES:
        text = next((node for key in _TEXTS if (node := arguments.get(key)) is not None), None)
        name = next((node.text for key in _NAMES if (node := arguments.get(key)) is not None), None)
        if text is not None and text.text is not None and name:
            yield from in_file(name, template.text(text.placed()), document, template.holes)
        return
    held = next((node for key in _MANIFESTS[module] if (node := arguments.get(key)) is not None), None)
    if held is None:
        return
    if held.text is not None:
        name = "manifest.yaml" if module == "k8s" else "values.yaml"
        yield from in_file(name, template.text(held.placed()), document, template.holes)
        return
    reads = manifests if module == "k8s" else chart_values
    for fragment in reads(document, [held]):
        yield with_templates(fragment, template)


def with_templates(fragment: Fragment, template: Template) -> Fragment:
    """A fragment that was read from scalars as they are written, with what their templates make of them."""
    script = template.text(fragment.script) if fragment.script is not None else None
    words = tuple(_filled(word, template) for word in fragment.words)
    image = _filled(fragment.image, template) if fragment.image is not None else None
    return replace(fragment, script=script, words=words, image=image, holes={**fragment.holes, **template.holes})


def _filled(word: Word, template: Template) -> Word:
    if "{{" not in word.text:
        return word
    text = template.text(Placed(word.text, SourceText(word.text, ""), range(len(word.text)))).text
    return replace(word, value=None if holes_in(text, template.holes) else text)


def _items(node: YamlNode | None, template: Template) -> list[Item]:
    """A command as a list, or as one text that is split."""
    if node is None or node.kind != "scalar":
        return yaml_items(node, template)
    if node.text is None:
        return []
    text = one_line(template.text(node.placed()))
    free = _FREE_ARGUMENT.match(text.text)
    if free:
        text = text.part(free.end(), len(text.text))
    return split_items(text)


def _process(
    replaced: list[Item] | None,
    given: list[Item],
    image: Word | None,
    env: tuple[tuple[str, Word], ...],
    name: str,
    template: Template,
) -> Fragment:
    """A process: the words in place of the image's program, None where there are none, and those behind."""
    entrypoint = [(word, Filled(text)) for word, text in replaced] if replaced is not None else None
    arguments = [(word, Filled(text)) for word, text in given]
    return replace(Process(entrypoint, arguments, image, env, name=name).fragment(), holes=template.holes)
