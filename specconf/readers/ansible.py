"""Ansible: the commands and containers of tasks. Variables that the same file sets are put in, all others are not known."""

from __future__ import annotations

import re
from collections.abc import Iterator

from specconf.patterns import pattern
from specconf.readers.commandparts import (
    Item,
    environment,
    mappings_in,
    one_line,
    plain_text,
    shell_script,
    split_items,
    yaml_items,
)
from specconf.readers.fragments import Document, Fragment
from specconf.readers.templates import Template
from specconf.readers.yamltext import YamlNode, documents
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
_FREE_ARGUMENT = pattern(r"(?:\s*(?:chdir|creates|removes|executable)=\S+)+\s*")


def fragments(document: Document) -> Iterator[Fragment]:
    """The tasks of a playbook or of a role's file that start a process."""
    values: dict[str, str | None] = {}
    roots = documents(document.text, document.path)
    for root in roots:
        _collect(root, values)
    template = Template(_PART, lambda match: _value(match, values))
    for root in roots:
        for task in mappings_in(root):
            name = task.get("name")
            for key, arguments in task.items():
                module = (key.text or "").rpartition(".")[2]
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
            yield _process(_items(command, template), None, env, name, template, adds_program=False)
    elif module in _CONTAINERS and arguments.kind == "mapping":
        image, entrypoint = arguments.get("image"), arguments.get("entrypoint")
        items = [*_items(entrypoint, template), *_items(arguments.get("command"), template)]
        word = template.word(image.placed(), image.raw.strip()) if image is not None and image.text else None
        env = environment(arguments.get("env"), template)
        yield _process(items, word, env, name, template, adds_program=entrypoint is None)
    elif module in _COMPOSE and arguments.kind == "mapping":
        services = arguments.get("definition", "services")
        for service, node in services.items() if services is not None else ():
            env = environment(node.get("environment"), template)
            items = [*_items(node.get("entrypoint"), template), *_items(node.get("command"), template)]
            image = node.get("image")
            word = template.word(image.placed(), image.raw.strip()) if image is not None and image.text else None
            adds = node.get("entrypoint") is None
            yield _process(items, word, env, service.text or "", template, adds_program=adds)


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
    items: list[Item],
    image: Word | None,
    env: tuple[tuple[str, Word], ...],
    name: str,
    template: Template,
    *,
    adds_program: bool,
) -> Fragment:
    script = shell_script(items)
    return Fragment(
        words=() if script is not None else tuple(word for word, _ in items), script=script, image=image,
        adds_program=adds_program and script is None, env=env, name=name, holes=template.holes,
    )  # fmt: skip
