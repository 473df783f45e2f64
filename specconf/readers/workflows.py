"""Pipelines that run scripts: GitHub workflows and actions, GitLab CI. Each job's scripts, with its image and environment."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from specconf.patterns import pattern
from specconf.readers.commandline import words_of
from specconf.readers.commandparts import Item, environment, pins_in, scalars, shell_script, yaml_items
from specconf.readers.fragments import Document, Fragment
from specconf.readers.powershell import script_words
from specconf.readers.source import joined
from specconf.readers.stated import Stated
from specconf.readers.templates import Template
from specconf.readers.yamltext import YamlNode, placed_documents
from specconf.words import Word

_EXPRESSION = pattern(r"\$\{\{\s*(?:env\.(?P<name>[A-Za-z_]\w*)\s*\}\}|.{0,500}?\}\})", re.DOTALL)
_POWERSHELL = frozenset({"pwsh", "powershell"})
_Environment = tuple[tuple[str, Word], ...]


def _template(env: Iterable[tuple[str, Word]]) -> Template:
    values = {name: word.value for name, word in env}
    return Template(_EXPRESSION, lambda match: values.get(match["name"] or ""))


def github_fragments(document: Document) -> Iterator[Fragment]:
    """The scripts of a workflow's jobs, or of a composite action's steps, and the containers beside them."""
    for root in placed_documents(document.source):
        env = environment(root.get("env"), _template(()))
        for name, job in _items(root.get("jobs")):
            yield from _job(name.text or "", job, (*env, *environment(job.get("env"), _template(env))))
        if root.get("runs", "steps") is not None:
            yield from _steps("", root.get("runs", "steps"), env, None)


def _items(node: YamlNode | None) -> Iterator[tuple[YamlNode, YamlNode]]:
    if node is not None:
        yield from node.items()


def _job(name: str, job: YamlNode, env: _Environment) -> Iterator[Fragment]:
    template = _template(env)
    container = job.get("container")
    if container is not None and container.kind == "mapping":
        env = (*env, *environment(container.get("env"), template))
        container = container.get("image")
    yield from _steps(name, job.get("steps"), env, _word(container, template), job.get("defaults", "run", "shell"))
    for service, node in _items(job.get("services")):
        own = environment(node.get("env"), template)
        items = [
            *_command(node.get("entrypoint"), template),
            *_command(node.get("args") or node.get("command"), template),
        ]
        image = _word(node.get("image"), template)
        yield _container(items, image, own, service.text or "", node, template, entrypoint=node.get("entrypoint"))


def _steps(
    name: str, steps: YamlNode | None, env: _Environment, image: Word | None, shell: YamlNode | None = None
) -> Iterator[Fragment]:
    pins: tuple[Stated, ...] = ()
    for step in steps or ():
        own = (*env, *environment(step.get("env"), _template(env)))
        template = _template(own)
        run, uses = step.get("run"), step.get("uses")
        if run is not None and run.text is not None:
            script = template.text(run.placed())
            pins = (*pins_in(script), *pins)
            kind = step.get("shell") or shell
            if kind is not None and (kind.text or "").partition(" ")[0] in _POWERSHELL:
                for words in script_words(script):
                    yield Fragment(words=words, image=image, env=own, stated=pins, name=name, holes=template.holes)
            else:
                yield Fragment(script=script, image=image, env=own, stated=pins, name=name, holes=template.holes)
        elif uses is not None and (uses.text or "").startswith("docker://"):
            items = [*_command(step.get("with", "entrypoint"), template), *_command(step.get("with", "args"), template)]
            yield _container(
                items, _word(uses, template), own, name, step, template, entrypoint=step.get("with", "entrypoint")
            )


def _word(node: YamlNode | None, template: Template) -> Word | None:
    return template.word(node.placed(), node.raw.strip()) if node is not None and node.text is not None else None


def _command(node: YamlNode | None, template: Template) -> list[Item]:
    """A command that is a list, or one text that is split as a command line."""
    if node is None or node.kind != "scalar":
        return yaml_items(node, template)
    text = template.text(node.placed()) if node.text is not None else None
    return [(word, text) for word in words_of(text)] if text is not None else []


def _container(
    items: list[Item], image: Word | None, env: _Environment, name: str, node: YamlNode, template: Template,
    entrypoint: YamlNode | None,
) -> Fragment:  # fmt: skip
    script = shell_script(items)
    words = () if script is not None else tuple(word for word, _ in items)
    return Fragment(
        words=words, script=script, image=image, env=env, name=name, where=node.span if script is None else None,
        adds_program=entrypoint is None and bool(words), holes=template.holes,
    )  # fmt: skip


# -- GitLab

_RESERVED = frozenset({"default", "include", "stages", "variables", "workflow", "image", "services", "cache", "spec"})
_SCRIPTS = ("before_script", "script", "after_script")


def gitlab_fragments(document: Document) -> Iterator[Fragment]:
    """The scripts of a pipeline's jobs: what runs before, the script itself and what runs after, as one text."""
    for root in placed_documents(document.source):
        jobs = {name.text: node for name, node in root.items() if name.text and node.kind == "mapping"}
        common = [node for node in (root.get("default"), root) if node is not None]
        for name, job in jobs.items():
            if name not in _RESERVED and not name.startswith("."):
                yield from _gitlab_job(name, [job, *_extended(job, jobs, 0), *common])


def _extended(job: YamlNode, jobs: dict[str, YamlNode], depth: int) -> list[YamlNode]:
    """The templates that a job extends, the nearest first."""
    found: list[YamlNode] = []
    for scalar in reversed(scalars(job.get("extends"))):
        base = jobs.get(scalar.text or "")
        if base is not None and depth < 10:
            found += [base, *_extended(base, jobs, depth + 1)]
    return found


def _first(nodes: list[YamlNode], name: str) -> YamlNode | None:
    return next((found for node in nodes if (found := node.get(name)) is not None), None)


def _gitlab_job(name: str, levels: list[YamlNode]) -> Iterator[Fragment]:
    env: dict[str, Word] = {}
    for level in reversed(levels):
        env |= dict(environment(level.get("variables")))
    image = _first(levels, "image")
    if image is not None and image.kind == "mapping":
        image = image.get("name")
    variables = _gitlab_variables(env)
    parts = [line.placed() for part in _SCRIPTS for line in scalars(_first(levels, part))]
    if parts:
        script = joined(parts)
        word = _word(image, variables)
        yield Fragment(script=script, image=word, env=tuple(env.items()), name=name, stated=pins_in(script))
    for service in _first(levels, "services") or ():
        items = [*yaml_items(service.get("entrypoint"), variables), *yaml_items(service.get("command"), variables)]
        own = (*env.items(), *environment(service.get("variables"), variables))
        yield _container(
            items, _word(service.get("name"), variables), own, name, service, variables, service.get("entrypoint")
        )


_VARIABLE = pattern(r"\$(?:\{(?P<braced>\w+)\}|(?P<bare>[A-Za-z_]\w*))")


def _gitlab_variables(env: dict[str, Word]) -> Template:
    def value_of(match: re.Match[str]) -> str | None:
        word = env.get(match["braced"] or match["bare"])
        return word.value if word is not None else None

    return Template(_VARIABLE, value_of)
