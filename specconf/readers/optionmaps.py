"""Options as keys of a map, which some tool turns into flags: the words that it makes of them, at the keys' places.

Two tools do this in two ways, both without any knowledge of the engine's options. srt-slurm takes truth values for switches:
true is the bare flag, false and null are nothing, and the items of a list follow their flag. KAITO writes every value behind
its flag, as Python prints it. Both print a mapping as Python does, which is no JSON. vLLM's own option file is read by the
engine's rules.
"""

from __future__ import annotations

from collections.abc import Iterator

from specconf.readers.yamltext import YamlNode
from specconf.words import Word


def switches_and_values(options: YamlNode) -> Iterator[Word]:
    """The words that srt-slurm makes of a map."""
    for key, node in options.items():
        value = node.plain()
        if not key.text or value is None or value is False:
            continue
        yield _flag(key)
        if node.kind == "sequence":
            yield from (item.word() if item.kind == "scalar" else _printed(item) for item in node)
        elif value is not True:
            yield _printed(node)


def values_alone(options: YamlNode) -> Iterator[Word]:
    """The words that KAITO makes of a map. A switch takes no value: what becomes of True behind it depends on the release."""
    for key, node in options.items():
        if not key.text:
            continue
        yield _flag(key)
        value = node.plain()
        if value is None or isinstance(value, bool):
            yield Word(None, node.span, str(value), may_be_many=True)
        else:
            yield _printed(node)


def _flag(key: YamlNode) -> Word:
    return Word("--" + (key.text or "").lstrip("-").replace("_", "-"), key.span, key.raw.strip())


def _printed(node: YamlNode) -> Word:
    """A scalar as it is written, anything else as Python prints it."""
    return node.word() if node.text is not None else Word(str(node.plain()), node.span, node.raw.strip())
