"""What many formats share: commands as lists, options as keys, images in two parts, pins of releases."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from specconf.patterns import pattern
from specconf.readers.commandline import words_of
from specconf.readers.source import Placed
from specconf.readers.stated import Firmness, Stated
from specconf.readers.templates import Template
from specconf.readers.wrappers import program_name
from specconf.readers.yamltext import YamlNode
from specconf.words import Word

_SHELLS = frozenset({"bash", "sh", "zsh", "dash"})
_COMMAND_OPTION = pattern(r"-[a-zA-Z]*c\Z")
_CONTINUED = pattern(r"\\\r?\n")
_COMMENT_LINE = pattern(r"^[ \t]*#[^\n]*", re.MULTILINE)

# A pinned engine: `vllm==0.33.0`, `sglang[all]>=0.5`, `tensorrt-llm==1.4.0rc1`, with an extra or a range.
_PIN = pattern(
    r"(?<![\w./-])(?P<name>vllm|sglang|tensorrt[-_]llm)(?:\[[\w,\s-]*\])?\s*"
    r"(?P<pins>(?:===?|>=|<=|~=|!=|>|<)\s*v?\d[\w.+!*-]*(?:\s*,\s*(?:===?|>=|<=|~=|!=|>|<)\s*v?\d[\w.+!*-]*)*)"
)
_ONE = pattern(r"===?\s*v?(?P<release>\d[\w.!-]*)(?:\+[\w.]+)?\Z")

# An item of a command: the word, and its text with the places of its characters.
Item = tuple[Word, Placed]


def shell_script(items: Sequence[Item]) -> Placed | None:
    """The script of a command such as `sh -c SCRIPT`; None for other commands."""
    if not items or program_name(items[0][0]) not in _SHELLS:
        return None
    for at, (word, _) in enumerate(items[1:-1], start=1):
        if word.value is not None and _COMMAND_OPTION.match(word.value):
            rest = [text for item, text in items[at + 1 :] if not item.text.startswith(("-", "+"))]
            return rest[0] if rest else None
    return None


def scalars(node: YamlNode | None) -> list[YamlNode]:
    """The scalars of a list, lists in it looked through; a scalar alone is its own list."""
    if node is None:
        return []
    if node.kind == "scalar":
        return [] if node.is_null else [node]
    return [scalar for item in node for scalar in scalars(item)]


def yaml_items(node: YamlNode | None, template: Template | None = None) -> list[Item]:
    """The items of a command that is a YAML list."""
    found: list[Item] = []
    for scalar in scalars(node):
        placed = scalar.placed()
        word = template.word(placed, scalar.raw.strip()) if template else scalar.word()
        found.append((word, template.text(placed) if template else placed))
    return found


def split_items(text: Placed) -> list[Item]:
    """A command line that no shell reads as its items."""
    found: list[Item] = []
    at = 0
    for word in words_of(text):
        at = text.text.find(word.raw, at)
        inside = text.part(at, at + len(word.raw))
        if word.value is not None and word.raw[1:-1] == word.value:
            inside = inside.part(1, len(word.raw) - 1)
        elif word.value is not None and word.raw != word.value:
            inside = Placed(word.value, text.outer, [inside.at[0]] * len(word.value))
        found.append((word, inside))
        at += len(word.raw)
    return found


def environment(node: YamlNode | None, template: Template | None = None) -> tuple[tuple[str, Word], ...]:
    """Variables as a mapping, as a list of `NAME=value`, or as a list of `{name, value}`."""
    found: list[tuple[str, Word]] = []
    for key, held in node.items() if node else ():
        if key.text is not None and held.kind == "scalar":
            found.append((key.text, _value(held, template)))
    for item in node or ():
        name = item.get("name")
        if name is not None and name.text:
            value = item.get("value")
            found.append((name.text, _value(value, template) if value else Word(None, item.span, f"${name.text}")))
        elif item.text and "=" in item.text:
            at = item.text.index("=") + 1
            placed = item.placed()
            part = placed.part(at, len(placed.text))
            word = template.word(part) if template else Word(part.text, item.span, part.text)
            found.append((item.text[: at - 1], word))
    return tuple(found)


def _value(node: YamlNode, template: Template | None) -> Word:
    if node.is_null:
        return Word("", node.span, node.raw)
    return template.word(node.placed(), node.raw.strip()) if template else node.word()


def image_word(repository: YamlNode | None, tag: YamlNode | None, registry: YamlNode | None = None) -> Word | None:
    """An image whose repository and tag are written apart; it has the place of the tag."""
    if repository is None or not repository.text:
        return None
    name = f"{registry.text}/{repository.text}" if registry is not None and registry.text else repository.text
    if tag is None or not tag.text:
        return Word(name, repository.span, name)
    sign = "@" if tag.text.startswith("sha256:") else ":"
    return Word(f"{name}{sign}{tag.text}", tag.span, f"{name}{sign}{tag.text}")


def one_line(text: Placed) -> Placed:
    """A command line without its continuation marks and without lines that are comments; nothing moves."""
    shown = _COMMENT_LINE.sub(lambda match: " " * len(match.group()), text.text)
    shown = _CONTINUED.sub(lambda match: " " * len(match.group()), shown)
    return Placed(shown, text.outer, text.at)


def pins_in(text: Placed) -> tuple[Stated, ...]:
    """The releases to which a text pins engines, as package managers read it. Comments are no pins."""
    found = []
    for match in _PIN.finditer(_COMMENT_LINE.sub(lambda line: " " * len(line.group()), text.text)):
        one = _ONE.match(match["pins"])
        exact = one is not None and "*" not in match["pins"]
        release = one["release"] if one is not None and exact else match["pins"]
        firmness = Firmness.EXACT if exact else Firmness.RANGE
        engine = "tensorrt-llm" if match["name"].startswith("tensorrt") else match["name"]
        found.append(Stated(engine, release, firmness, "pin", text.span_of(*match.span())))
    return tuple(found)


def mappings_in(node: YamlNode) -> Iterator[YamlNode]:
    """Every mapping in a document, the outer ones first; one that is met through several anchors once."""
    seen: set[int] = set()
    waiting = [node]
    while waiting:
        current = waiting.pop(0)
        if id(current.node) in seen or current.kind == "scalar":
            continue
        seen.add(id(current.node))
        if current.kind == "mapping":
            yield current
            waiting += [value for _, value in current.items()]
        else:
            waiting += list(current)


def plain_text(value: Any) -> str | None:
    """A YAML value as a template would print it; None for lists and mappings."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, str | int | float) else None


def known(words: Iterable[str], where: Word | YamlNode) -> tuple[Word, ...]:
    """Words that a format's own program adds, at the place that makes it add them."""
    return tuple(Word(text, where.span, text) for text in words)


def windows_program(words: tuple[Word, ...]) -> tuple[Word, ...]:
    """A command whose program's name is told without its folder and its ending."""
    if not words or words[0].value is None:
        return words
    name = re.sub(r"\.(exe|cmd|bat)\Z", "", words[0].value.replace("\\", "/").rpartition("/")[2], flags=re.IGNORECASE)
    return (replace(words[0], value=name), *words[1:])
