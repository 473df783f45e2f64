"""Makefiles: the recipe lines of each target as scripts, with the file's variables put in."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from msgspec import Struct, field

from specconf.patterns import pattern
from specconf.readers.commandparts import pins_in
from specconf.readers.fragments import Document, Fragment
from specconf.readers.mistakes import Mistake, MistakeKind
from specconf.readers.source import Placed, SourceText, joined
from specconf.readers.templates import Template
from specconf.words import Word

_NESTED = r"[^(){}]*(?:[({][^(){}]*(?:[({][^(){}]*[)}][^(){}]*)*[)}][^(){}]*)*"
_PART = pattern(
    r"\$(?:(?P<dollar>\$)|\((?P<round>[\w.-]+)\)|\{(?P<curly>[\w.-]+)\}|\("
    + _NESTED
    + r"\)|\{"
    + _NESTED
    + r"\}|[@<^?*%+|\w])"
)
_ASSIGNMENT = pattern(
    r"(?P<before>(?:(?:export|override|private)\s+)*)(?P<name>[\w.-]+)\s*(?P<sign>::?:?=|\?=|\+=|!=|=)\s*(?P<value>.*)\Z",
    re.DOTALL,
)
_NAME = pattern(r"[A-Za-z_]\w*")
_EXPORT = pattern(r"(?P<un>un)?export\s+(?P<names>[\w.\s-]+)\Z")
_OF_TARGET = pattern(r"[^:=#\t][^:=#]*:\s*(?:(?:export|override|private)\s+)*(?P<name>[\w.-]+)\s*(?::?:?|\?|\+)=")
_TARGET = pattern(r"(?P<names>[^\s:=#][^:=#]*?)\s*::?(?!=)(?P<rest>.*)\Z", re.DOTALL)
_OPENS, _CLOSES = pattern(r"\s*(ifeq|ifneq|ifdef|ifndef)\b"), pattern(r"\s*endif\b")
_BROKEN_END = pattern(r"\\[ \t]+\Z")  # a backslash that continues nothing, as a blank follows it
_DEFINE, _ENDEF = pattern(r"\s*define\s+(?P<name>[\w.-]+)"), pattern(r"\s*endef\b")


class _Read(Struct):
    """What a Makefile holds: its variables, None for one that is not known, and its recipe lines by target."""

    values: dict[str, str | None] = field(default_factory=dict)
    exported: dict[str, Word] = field(default_factory=dict)
    recipes: list[tuple[str, Placed]] = field(default_factory=list)


def fragments(document: Document) -> Iterator[Fragment]:
    """Each recipe line is a script of its own. Variables have the values they have at the end of the file."""
    found = _read(document.source)

    def value_of(match: re.Match[str]) -> str | None:
        return "$" if match["dollar"] else found.values.get(match["round"] or match["curly"] or match.group()[1:])

    template = Template(_PART, value_of)
    pins = tuple(pin for _, recipe in found.recipes for pin in pins_in(template.text(recipe)))
    env = tuple((name, template.word(_of(word, document.source))) for name, word in found.exported.items())
    for target, script in found.recipes:
        mistakes = tuple(_one_letter(script, found.values))
        yield Fragment(
            script=template.text(script), env=env, name=target, stated=pins, holes=template.holes, mistakes=mistakes
        )


def _one_letter(recipe: Placed, values: Mapping[str, str | None]) -> Iterator[Mistake]:
    """`$NAME`, of which make takes the first letter, unless the file has a variable of that letter."""
    for match in _PART.finditer(recipe.text):
        rest = _NAME.match(recipe.text, match.start() + 1)
        letter = match.group()[1:]
        if rest is not None and letter == rest[0][:1] and len(rest[0]) > 1 and letter not in values:
            written = recipe.text[match.start() : rest.end()]
            instead = f"$({rest[0]})" if rest[0] in values else f"${written}"
            where = recipe.span_of(match.start(), rest.end())
            yield Mistake(MistakeKind.ONE_LETTER, where, written, instead)


def _of(word: Word, source: SourceText) -> Placed:
    span = word.span
    at = source.at(span.line, span.column) if span is not None else 0
    return Placed(word.text, source, [at] * len(word.text))


def _read(source: SourceText) -> _Read:
    read = _Read()
    target, depth, define = "", 0, ""
    for line in _logical(source):
        text = line.text
        if define:
            define = "" if _ENDEF.match(text) else define
        elif text.startswith("\t") and target:
            read.recipes.append((target, _recipe(line)))
        elif found := _DEFINE.match(text):
            define = found["name"]
            read.values[define] = None
        elif _OPENS.match(text):
            depth += 1
        elif _CLOSES.match(text):
            depth = max(0, depth - 1)
        elif found := _OF_TARGET.match(text):
            read.values[found["name"]] = None  # it differs between targets
        elif found := _ASSIGNMENT.match(text.strip()):
            _assign(read, found, line, certain=depth == 0)
        elif found := _EXPORT.match(text.strip()):
            for name in found["names"].split():
                value = read.values.get(name)
                read.exported[name] = Word(value, line.span, value if value is not None else f"$({name})")
        elif found := _TARGET.match(text):
            target = found["names"].split()[0]
            _, semicolon, recipe = found["rest"].partition(";")
            if semicolon:
                read.recipes.append((target, line.part(len(text) - len(recipe), len(text))))
    return read


def _logical(source: SourceText) -> Iterator[Placed]:
    """Lines with those that continue them; a recipe keeps its continuation for the shell."""
    parts: list[Placed] = []
    start = 0
    for written in source.text.split("\n"):
        line = source.part(start, start + len(written.removesuffix("\r")))
        start += len(written) + 1
        if parts and parts[0].text.startswith("\t") and line.text.startswith("\t"):
            line = line.part(1, len(line.text))
        parts.append(line)
        slashes = len(line.text) - len(line.text.rstrip("\\"))
        if slashes % 2 == 0:
            yield joined(parts)
            parts = []
    if parts:
        yield joined(parts)


def _recipe(line: Placed) -> Placed:
    """A recipe line without make's own signs before it."""
    start = len(line.text) - len(line.text.lstrip("\t @+-"))
    broken = _BROKEN_END.search(line.text, start)
    return line.part(start, broken.start() if broken else len(line.text))


def _assign(read: _Read, match: re.Match[str], line: Placed, *, certain: bool) -> None:
    name, sign = match["name"], match["sign"]
    value: str | None = re.sub(r"\s*\\\n\s*", " ", re.sub(r"(?<!\\)#.*", "", match["value"])).strip()
    before = read.values.get(name)
    if sign == "?=" and name in read.values:
        value = before
    elif sign == "+=" and name in read.values:
        value = f"{before} {value}" if before is not None else None
    if sign == "!=" or (not certain and value != before):
        value = None
    if sign == ":=" and value is not None and f"({name})" in value:
        value = None if before is None else value.replace(f"$({name})", before)
    read.values[name] = value
    if "export" in match["before"]:
        read.exported[name] = Word(value, line.span, value if value is not None else f"$({name})")
