"""Helm templates before rendering: looked through line by line, never guessed.

A container's image, command and arguments are found by their keys and their indentation. What `{{ … }}` makes is not
known, and what stands between `{{ if }}` and `{{ end }}` may be there or not; only the image is looked up in the values
of the chart, because it says the release.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from msgspec import Struct, field

from specconf.errors import InputError
from specconf.patterns import pattern
from specconf.readers.commandparts import Item, plain_text, shell_script
from specconf.readers.containers import image_of
from specconf.readers.fragments import Document, Fragment
from specconf.readers.programs import match_program
from specconf.readers.source import Placed, joined
from specconf.readers.templates import Template
from specconf.readers.yamltext import documents, placed_documents
from specconf.words import Span, Word

_ACTION = pattern(r"\{\{.{0,500}?\}\}", re.DOTALL)
_CONTROL = pattern(r"\s*\{\{-?\s*(?P<what>if|with|range|define|block|else|end)\b")
_ONLY_ACTIONS = pattern(r"\s*(?:\{\{[^{}]{0,500}\}\}\s*)+\Z", re.DOTALL)
_KEY = pattern(r"(?P<indent> *)(?P<dash>- +)?(?P<key>[A-Za-z][\w-]*):(?:\s+(?P<value>\S.*))?\Z", re.DOTALL)
_ITEM = pattern(r"(?P<indent> *)- +(?P<value>\S.*)\Z", re.DOTALL)
_BLOCK = pattern(r"[|>][-+\d]*\s*(?:#.*)?\Z")
_VALUE = pattern(
    r"\{\{-?\s*\(?\s*(?P<name>\.(?:Values|Chart)(?:\.[\w-]+)+)\s*\)?\s*"
    r"(?:\|\s*default\s+(?:(?P<default>\.(?:Values|Chart)(?:\.[\w-]+)+)|\"(?P<text>[^\"]*)\")\s*)?(?:\|\s*(?:quote|toString|trim)\s*)*-?\}\}"
)
# Options that one engine alone has, for a container whose image the chart leaves open.
_OWN_OPTIONS = {
    "vllm": pattern(r"--(?:speculative[-_]config|spec-method|max-model-len)\b|-sc\b"),
    "sglang": pattern(r"--(?:speculative-algo|speculative-eagle-topk|mem-fraction-static|model-path)"),
}
_PROGRAMS = {"vllm": ("vllm", "serve"), "sglang": ("python3", "-m", "sglang.launch_server")}


class _Container(Struct):
    """What is met of one container: its image, the items of its command and arguments, and those that are there perhaps."""

    indent: int
    image: Word | None = None
    command: list[Item] = field(default_factory=list)
    args: list[Item] = field(default_factory=list)
    perhaps: list[Word] = field(default_factory=list)
    where: Span | None = None


def fragments(document: Document) -> Iterator[Fragment]:
    """The containers of a template that may start an engine."""
    template = Template(_ACTION)
    for container in _Scan(document, template).containers():
        items = [*container.command, *container.args]
        script = shell_script(items)
        words = tuple(word for word, _ in items)
        if script is None and not container.command:
            words = (*_program(words, container), *words)
        yield Fragment(
            words=() if script is not None else words, script=script, image=container.image,
            adds_program=not container.command and script is None, where=container.where if script is None else None,
            holes=template.holes,
        )  # fmt: skip


def _program(words: tuple[Word, ...], container: _Container) -> tuple[Word, ...]:
    """The engine's program where no known image says it, by options that it alone has."""
    if match_program(words) is not None or (container.image is not None and image_of(container.image) is not None):
        return ()
    for engine, options in _OWN_OPTIONS.items():
        first = next(
            (word for word in (*words, *container.perhaps) if word.value is not None and options.match(word.value)),
            None,
        )
        if first is not None:
            return tuple(Word(text, first.span, text) for text in _PROGRAMS[engine])
    return ()


class _Scan:
    """One pass over a template's lines."""

    def __init__(self, document: Document, template: Template) -> None:
        self.document = document
        self.template = template
        self.lines = _lines(document)
        self.at = 0

    def containers(self) -> Iterator[_Container]:
        current: _Container | None = None
        while self.at < len(self.lines):
            line = self.lines[self.at]
            found = _KEY.match(line.text)
            self.at += 1
            if not found or line.text.lstrip().startswith("#"):
                continue
            key, indent = found["key"], len(found["indent"]) + len(found["dash"] or "")
            if key not in {"image", "command", "args"}:
                if current is not None and (indent < current.indent or (found["dash"] and indent == current.indent)):
                    yield current
                    current = None
                continue
            if current is None or indent != current.indent or found["dash"]:
                if current is not None:
                    yield current
                current = _Container(indent, where=line.part(*found.span("key")).span)
            value = line.part(*found.span("value")) if found["value"] else None
            if key == "image":
                current.image = self._image(value)
            elif key == "command":
                current.command = self._list(value, indent, current)
            else:
                current.args = self._list(value, indent, current)
        if current is not None:
            yield current

    def _image(self, value: Placed | None) -> Word | None:
        if value is None:
            return None
        text = _unquoted(value)
        filled = Template(_VALUE, self._value).text(text)
        raw = text.text
        return Word(None if _ACTION.search(filled.text) or _private(filled.text) else filled.text, text.span, raw)

    def _value(self, match: re.Match[str]) -> str | None:
        found = self._looked_up(match["name"])
        if found:
            return found
        if match["text"] is not None:
            return str(match["text"])
        return self._looked_up(match["default"]) if match["default"] else None

    def _looked_up(self, name: str) -> str | None:
        _, where, *path = name.split(".")
        file = "values.yaml" if where == "Values" else "Chart.yaml"
        path = path if where == "Values" else [part[:1].lower() + part[1:] for part in path]
        value: Any = self._chart(file)
        for part in path:
            value = value.get(part) if isinstance(value, Mapping) else None
        return plain_text(value)

    def _chart(self, file: str) -> Any:
        return _plain(self.document.around(f"../{file}"), file)

    def _list(self, value: Placed | None, indent: int, container: _Container) -> list[Item]:
        """The items of a list, in brackets or below its key."""
        if value is not None and value.text.startswith("["):
            return self._flow(value)
        if value is not None and value.text and not _BLOCK.match(value.text):
            return [self._unknown(value)]
        items: list[Item] = []
        depth = 0
        while self.at < len(self.lines):
            line = self.lines[self.at]
            own = len(line.text) - len(line.text.lstrip(" "))
            control = _CONTROL.match(line.text)
            if control:
                change = _depth_change(control, line.text)
                if depth + change < 0:
                    break  # the block that the list stands in
                if depth == 0:
                    items.append(self._unknown(line))
                depth += change
            elif _ONLY_ACTIONS.match(line.text):
                items += [self._unknown(line)] if depth == 0 else []
            elif item := _ITEM.match(line.text):
                if own < indent:
                    break
                self.at += 1
                found = self._item(line.part(*item.span("value")), own)
                if depth == 0:
                    items.append(found)
                else:
                    container.perhaps.append(found[0])
                continue
            elif own <= indent and line.text.strip() and not line.text.lstrip().startswith("#"):
                break
            self.at += 1
        return items

    def _item(self, value: Placed, indent: int) -> Item:
        if _BLOCK.match(value.text):
            return self._block(value, indent)
        text = _unquoted(value)
        filled = self.template.text(text)
        return self.template.word(text, value.text), filled

    def _block(self, header: Placed, indent: int) -> Item:
        """A block scalar's lines, without their indentation; lines of actions alone are kept as unknown parts."""
        body: list[Placed] = []
        while self.at < len(self.lines):
            line = self.lines[self.at]
            if (
                line.text.strip()
                and len(line.text) - len(line.text.lstrip(" ")) <= indent
                and not _CONTROL.match(line.text)
            ):
                break
            body.append(line)
            self.at += 1
        first = next((len(line.text) - len(line.text.lstrip(" ")) for line in body if line.text.strip()), 0)
        parts = [
            line.part(min(first, len(line.text)), len(line.text)) for line in body if not _CONTROL.match(line.text)
        ]
        text = joined(parts, " " if header.text.startswith(">") else "\n") if parts else header.part(0, 0)
        return self.template.word(text), self.template.text(text)

    def _flow(self, value: Placed) -> list[Item]:
        filled = self.template.text(value)
        try:
            nodes = placed_documents(filled.source())
        except InputError:  # a template need not be YAML: then its list is not known
            return [self._unknown(value)]
        items = []
        for item in nodes[0] if nodes else ():
            word = item.word()
            items.append((word, item.placed()))
        return items

    def _unknown(self, text: Placed) -> Item:
        shown = text.part(len(text.text) - len(text.text.lstrip()), len(text.text))
        return Word(None, shown.span, shown.text, may_be_many=True), shown.part(0, 0)


def _depth_change(control: re.Match[str], line: str) -> int:
    """How a line of control changes the number of blocks that are open."""
    if control["what"] == "end":
        return -1
    closed = len(re.findall(r"\{\{-?\s*end\b", line)) > 0
    return 0 if closed or control["what"] == "else" else 1


def _lines(document: Document) -> list[Placed]:
    found, start = [], 0
    for line in document.text.split("\n"):
        found.append(document.source.part(start, start + len(line.rstrip())))
        start += len(line) + 1
    return found


def _unquoted(text: Placed) -> Placed:
    quoted = len(text.text) > 1 and text.text[0] in "'\"" and text.text[-1] == text.text[0]
    return text.part(1, len(text.text) - 1) if quoted else text


def _private(text: str) -> bool:
    return any("\ue000" <= char <= "\uf8ff" for char in text)


@cache
def _plain(text: str | None, name: str) -> Any:
    """A file of the chart as values; None where there is none or it cannot be read, which is told where it is linted."""
    if text is None:
        return None
    try:
        roots = documents(text, name)
    except InputError:
        return None
    return roots[0].plain() if roots else None
