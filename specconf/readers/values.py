"""Values that a file gives to options by name (YAML maps, keyword arguments), each with its place, as argv words.

A part that is not known stays so: it is a private character in a text, or a value of its own. No engine's option is known
here but by the database; how a value is written in its file is the business of the format.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, TypeAlias

from msgspec import Struct, field
from msgspec.structs import replace

from specconf.patterns import pattern
from specconf.readers.fragments import Fragment
from specconf.readers.source import Placed
from specconf.readers.yamltext import YamlNode
from specconf.words import Span, Word

FIRST_UNKNOWN, LAST_UNKNOWN = 0xE000, 0xF8FF  # Unicode's private use area: stands for a part that is not known
_UNKNOWN = pattern(f"[{chr(FIRST_UNKNOWN)}-{chr(LAST_UNKNOWN)}]")
DEEPEST = 50
MOST_NODES = 20_000
LONGEST = 100_000  # characters of a value
_DEEPEST_PARTS = 6


class Text(Struct, frozen=True):
    """A text with the place of every character. `origins`: the places of the lists that it was joined of."""

    placed: Placed
    span: Span
    raw: str = ""
    origins: frozenset[Span] = frozenset()

    @property
    def text(self) -> str:
        """Its characters."""
        return self.placed.text

    @property
    def known(self) -> bool:
        """Whether it holds no unknown part."""
        return _UNKNOWN.search(self.text) is None


class Scalar(Struct, frozen=True):
    """A number, a boolean or nothing."""

    value: int | float | bool | None
    span: Span
    at: Placed


class Items(Struct, frozen=True):
    """A list. `origins`: the places of the lists that it was made of."""

    items: tuple[Value, ...]
    span: Span
    origins: frozenset[Span] = frozenset()


class Pairs(Struct, frozen=True):
    """A mapping by text keys; `more`: whether it may hold keys that are not known. `kind`: the class it was made by."""

    pairs: tuple[tuple[Text, Value], ...]
    span: Span
    at: Placed
    more: bool = False
    kind: str = ""

    def get(self, name: str) -> Value | None:
        """The value that a key has last."""
        return next((value for key, value in reversed(self.pairs) if key.text == name), None)


class Unknown(Struct, frozen=True):
    """A value that cannot be told; `many`: it may be several in a list, or none."""

    raw: str
    span: Span
    many: bool = False


Value: TypeAlias = "Text | Scalar | Items | Pairs | Unknown"


class NotKnown(Exception):
    """A value, or a part of it, cannot be told."""


class _Writer(Struct):
    """Text and places, written piece by piece."""

    text: list[str] = field(default_factory=list)
    at: list[int] = field(default_factory=list)

    def add(self, text: str, where: Placed) -> None:
        self.text.append(text)
        first = where.at[0] if len(where.at) else 0
        self.at += [first] * len(text)

    def quoted(self, placed: Placed) -> None:
        if _UNKNOWN.search(placed.text):
            raise NotKnown
        end = placed.at[-1] if len(placed.at) else 0
        self.text.append('"')
        self.at.append(placed.at[0] if len(placed.at) else 0)
        for char, at in zip(placed.text, placed.at, strict=True):
            written = json.dumps(char, ensure_ascii=False)[1:-1]
            self.text.append(written)
            self.at += [at] * len(written)
        self.text.append('"')
        self.at.append(end)


def as_json(value: Value, outer: Placed) -> Placed:
    """A value as compact JSON whose keys and texts stand where they are written. Raises NotKnown."""
    writer = _Writer()
    _write(value, writer, outer, 0)
    return Placed("".join(writer.text), outer.outer, writer.at)


def _write(value: Value, writer: _Writer, near: Placed, depth: int) -> None:
    if depth > DEEPEST or len(writer.at) > LONGEST or isinstance(value, Unknown):
        raise NotKnown
    if isinstance(value, Text):
        writer.quoted(value.placed)
    elif isinstance(value, Scalar):
        writer.add(json.dumps(value.value), value.at)
    elif isinstance(value, Items):
        for number, item in enumerate(value.items):
            writer.add(", " if number else "[", near)
            _write(item, writer, near, depth + 1)
        writer.add("]" if value.items else "[]", near)
    else:
        if value.more:
            raise NotKnown
        for number, (key, item) in enumerate(value.pairs):
            writer.add(", " if number else "{", value.at)
            writer.quoted(key.placed)
            writer.add(": ", key.placed)
            _write(item, writer, key.placed, depth + 1)
        writer.add("}" if value.pairs else "{}", value.at)


def word_of(value: Value) -> Word:
    """A value as one word of argv."""
    if isinstance(value, Text):
        shown = value.raw or value.text
        return (
            Word(value.text, value.span, shown, places=value.placed) if value.known else Word(None, value.span, shown)
        )
    if isinstance(value, Scalar):
        return Word(str(value.value), value.span, str(value.value))
    if isinstance(value, Unknown):
        return Word(None, value.span, value.raw, may_be_many=value.many)
    return Word(None, value.span, "…")


def of_yaml(node: YamlNode, depth: int = 0, budget: list[int] | None = None) -> Value:
    """A YAML node as a value, by the types that YAML gives it. What holds a template's braces is not known."""
    budget = budget if budget is not None else [MOST_NODES]  # anchors can make few lines many nodes
    budget[0] -= 1
    if depth > DEEPEST or budget[0] < 0:
        return Unknown("…", node.span)
    at = node.source.part(node.node.start_mark.index, max(node.node.end_mark.index, node.node.start_mark.index + 1))
    if node.kind == "sequence":
        return Items(tuple(of_yaml(item, depth + 1, budget) for item in node), node.span)
    if node.kind == "mapping":
        pairs = tuple(
            (_text(key), of_yaml(value, depth + 1, budget)) for key, value in node.items() if key.text is not None
        )
        return Pairs(pairs, node.span, at)
    if node.text is not None and ("{{" in node.text or "${" in node.text):
        return Unknown(node.raw, node.span)
    plain = node.plain()
    if plain is None or isinstance(plain, bool | int | float):
        return Scalar(plain, node.span, at)
    return _text(node)


def _text(node: YamlNode) -> Text:
    return Text(node.placed(), node.span, node.raw.strip())


# -- options by name as words


def option_words(engine: str, model: Value | None, options: Pairs) -> Fragment:
    """The launch that takes these options: words, and for TensorRT-LLM the option file that they are."""
    options = Pairs(
        tuple((key, value) for key, value in options.pairs if not (isinstance(value, Scalar) and value.value is None)),
        options.span,
        options.at,
        options.more,
    )
    where = options.span
    if engine == "tensorrt-llm":
        return _with_file(model, options)
    start = {"vllm": ("vllm", "serve"), "sglang": ("python", "-m", "sglang.launch_server")}[engine]
    words = [Word(text, where, text) for text in start]
    if model is not None and engine == "vllm":
        words.append(word_of(model))
    elif model is not None:
        words += [Word("--model-path", model.span, "model_path"), word_of(model)]
    for key, value in options.pairs:
        words += _flag(engine, key, value)
    if options.more:
        words.append(_further(where))
    return Fragment(words=tuple(words), where=where)


def _further(where: Span, raw: str = "further options") -> Word:
    return Word(None, where, raw, may_be_many=True)


def _flag(engine: str, key: Text, value: Value) -> Iterator[Word]:
    """One option by its name, as its flag and value."""
    name = f"--{key.text.replace('_', '-')}"
    flag = Word(name, key.span, key.text, exact=True)
    if isinstance(value, Scalar) and isinstance(value.value, bool):
        if value.value:
            yield flag
        elif engine == "vllm" and key.text in _switched_on():
            yield Word(f"--no-{key.text.replace('_', '-')}", key.span, key.text)
        return
    if isinstance(value, Items):
        if value.items:
            yield flag
            for item in value.items:
                yield _json_word(item) if isinstance(item, Items | Pairs) else word_of(item)
        return
    if isinstance(value, Unknown):
        # Of a value that is not known, a switch would take none: written as one word, it is the flag's own value.
        yield Word(None, key.span, f"{name}={value.raw}", exact=True)
        return
    yield flag
    yield _json_word(value) if isinstance(value, Pairs) else replace(word_of(value), quoted=isinstance(value, Text))


def _json_word(value: Pairs | Items) -> Word:
    try:
        placed = as_json(value, value.at if isinstance(value, Pairs) else _first(value))
    except NotKnown:
        return Word(None, value.span, "{…}")
    return Word(placed.text, value.span, placed.text, places=placed)


def _first(value: Items) -> Placed:
    for item in value.items:
        if isinstance(item, Pairs | Scalar):
            return item.at
        if isinstance(item, Text):
            return item.placed
    raise NotKnown


def _with_file(model: Value | None, options: Pairs) -> Fragment:
    """TensorRT-LLM: keys are those of its option file. Of what is not known, that there is more is told."""
    known, complete = _only_known(options)
    where = options.span
    name = "llm_options.yaml"
    words = [Word("trtllm-serve", where, "trtllm-serve")]
    words += [word_of(model)] if model is not None else []
    words += [Word(text, where, text) for text in ("--extra_llm_api_options", name)]
    words += [] if complete else [_further(where)]
    return Fragment(words=tuple(words), files={name: as_json(known, options.at)}, where=where)


def _only_known(options: Pairs, depth: int = 0) -> tuple[Pairs, bool]:
    """The members that are known, and whether these are all."""
    kept: list[tuple[Text, Value]] = []
    complete = not options.more
    for key, value in options.pairs:
        inner = value
        if isinstance(value, Pairs) and depth < _DEEPEST_PARTS:
            inner, whole = _only_known(value, depth + 1)
            complete = complete and whole
        try:
            as_json(inner, options.at)
            kept.append((key, inner))
        except NotKnown:
            complete = False
    return Pairs(tuple(kept), options.span, options.at, kind=options.kind), complete


@cache
def _switched_on() -> frozenset[str]:
    """The options of vLLM that are on, or the engine's choice, in some release: only for them does `False` say something."""
    from specconf.compat.database import load_database

    rows = (
        row for _, row in load_database("vllm").raw_options if row.get("scope") == "vllm.cli" and row.get("no_names")
    )
    return frozenset(row["path"] for row in rows if row.get("default", None) is not False)


def last_of_each(pairs: Iterable[tuple[Text, Value]]) -> tuple[tuple[Text, Value], ...]:
    """The members as a mapping keeps them: the last of each key, at the place of the first."""
    kept: dict[str, tuple[Text, Value]] = {}
    for key, value in pairs:
        kept[key.text] = (key, value)
    return tuple(kept.values())


def pairs_of(options: Iterable[tuple[Text, Value]], like: Pairs) -> Pairs:
    """Other members in the same place."""
    return Pairs(tuple(options), like.span, like.at, like.more, like.kind)


def plain(value: Value) -> Any:
    """A value as Python's own. Raises NotKnown."""
    if isinstance(value, Text) and value.known:
        return value.text
    if isinstance(value, Scalar):
        return value.value
    if isinstance(value, Items):
        return [plain(item) for item in value.items]
    if isinstance(value, Pairs) and not value.more:
        return {key.text: plain(item) for key, item in value.pairs}
    raise NotKnown
