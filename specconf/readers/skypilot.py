"""SkyPilot tasks: the `run` script, in the image of the resources, with the releases that `setup` installs."""

from __future__ import annotations

from collections.abc import Iterator

from specconf.patterns import pattern
from specconf.readers.commandparts import environment, pins_in
from specconf.readers.fragments import Document, Fragment
from specconf.readers.templates import Template
from specconf.readers.yamltext import YamlNode, placed_documents
from specconf.words import Word

_DOCKER = "docker:"
_VARIABLE = pattern(r"\$\{(?P<name>\w+)\}|\$(?P<bare>[A-Za-z_]\w*)")


def fragments(document: Document) -> Iterator[Fragment]:
    """Each document of the file is a task."""
    for root in placed_documents(document.source):
        env = (*environment(root.get("envs")), *environment(root.get("secrets")))
        values = {name: word.value for name, word in env}
        template = Template(_VARIABLE, lambda match, values=values: values.get(match["name"] or match["bare"]))  # type: ignore[misc]
        setup, name = root.get("setup"), root.get("name")
        pins = pins_in(setup.placed()) if setup is not None and setup.text is not None else ()
        for part in (setup, root.get("run")):
            if part is not None and part.text is not None:
                yield Fragment(
                    script=part.placed(), image=_image(root.get("resources"), template), env=env,
                    stated=(*pins_in(part.placed()), *pins), name=(name.text or "") if name is not None else "",
                )  # fmt: skip


def _image(resources: YamlNode | None, template: Template) -> Word | None:
    node = resources.get("image_id") if resources is not None else None
    if node is None or not (node.text or "").startswith(_DOCKER):
        return None
    text = node.placed()
    return template.word(text.part(len(_DOCKER), len(text.text)))
