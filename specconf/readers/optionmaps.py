"""Options as keys of a map, which some controller turns into flags: the words that it makes of them, at the keys' places."""

from __future__ import annotations

import json
from collections.abc import Iterator

from specconf.readers.yamltext import YamlNode
from specconf.words import Word


def words_of_map(node: YamlNode) -> Iterator[Word]:
    """`--key value` for each key. True is the bare flag, false is `--no-key`."""
    for key, value in node.items():
        if key.text is None:
            continue
        name = "--" + key.text.replace("_", "-")
        plain = value.plain()
        if plain is None:
            continue
        if isinstance(plain, bool):
            yield Word(name if plain else f"--no-{name[2:]}", key.span, key.raw)
            continue
        yield Word(name, key.span, key.raw)
        yield Word(as_text(value), value.span, value.raw.strip())


def as_text(node: YamlNode) -> str:
    """A value as a word: a scalar as written, anything else as its JSON."""
    return node.text if node.text is not None else json.dumps(node.plain(), default=str)
